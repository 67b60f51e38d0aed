"""How often a JSON Schema is asked about one value, with all references followed.

Forty definitions, each of which names the one before it twice, ask the last one 2^39 times. A schema of that kind is
told apart by counting, once, before anything is held against it. Counted are the schemas that apply to the same value
(``allOf``, ``if``, ``$ref`` and the like); those of members and items are asked once for each of these, and so bounded
by the value. Where it is not certain which schema a reference means, the largest of those it may mean counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from lydite.errors import InputError

MAX_ASKED = 100_000
"""Schemas that are asked about one value, at most."""
MAX_EDGES = 1_000_000
_ELSEWHERE = 1000
"""What a schema of json-schema.org counts; the library has these."""

_ONE = ("not", "if", "then", "else")
_LISTS = ("allOf", "anyOf", "oneOf")
_MAPS = ("dependentSchemas", "dependencies")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")

Node = dict[str, Any]


def check_expansion(schema: Any) -> None:
    """Refuse a schema that asks for too much.

    Raises:
        InputError: names the place where too much comes together, or that refers to itself.
    """
    if isinstance(schema, dict) and any(key in _REFERENCES for key in _keys(schema)):
        _Counting(schema).run()


def _keys(schema: Any) -> Iterator[str]:
    todo = [schema]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            yield from value
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)


class _Counting:
    """One count. What is counted already is kept by the identity of the schema."""

    def __init__(self, schema: Node) -> None:
        self.schema = schema
        self.roots: dict[int, Node] = {}  # the resource that a schema belongs to
        self.places: dict[int, str] = {}
        self.nodes: list[Node] = []
        self.ids: defaultdict[str, list[Node]] = defaultdict(list)
        self.anchors: defaultdict[str, list[Node]] = defaultdict(list)
        self.recursive: list[Node] = []
        self.edges = 0
        self._collect()

    def run(self) -> None:
        asked: dict[int, int] = {}
        open_: set[int] = set()
        for start in self.nodes:
            todo = [start]
            while todo:
                node = todo[-1]
                if id(node) in asked:
                    todo.pop()
                    continue
                groups = self._applied(node)
                self.edges += 1 + sum(map(len, groups))
                if self.edges > MAX_EDGES:
                    raise self._too_large(node)
                if id(node) not in open_:
                    open_.add(id(node))
                    rest = [inner for group in groups for inner in group if id(inner) not in asked]
                    for inner in rest:
                        if id(inner) in open_:
                            told = "is asked about the same value again by what it refers to"
                            remedy = "a schema may refer to itself for members and items only"
                            raise InputError(told, field=self._field(inner), remedy=remedy)
                    todo.extend(rest)
                    continue
                todo.pop()
                open_.discard(id(node))
                times = 2 if any(name in node for name in _UNEVALUATED) else 1
                most = sum(max((asked[id(inner)] for inner in group), default=_ELSEWHERE) for group in groups)
                asked[id(node)] = 1 + times * most
                if asked[id(node)] > MAX_ASKED:
                    raise self._too_large(node)

    def _too_large(self, node: Node) -> InputError:
        told = f"is too large with its references followed: more than {MAX_ASKED} schemas are asked about one value"
        return InputError(told, field=self._field(node), remedy="refer to a definition once")

    def _field(self, node: Node) -> str:
        return f"schema{self.places.get(id(node), '')}"[:300]

    def _collect(self) -> None:
        todo: list[tuple[Any, Node, str]] = [(self.schema, self.schema, "")]
        self.ids[""].append(self.schema)
        while todo:
            value, root, place = todo.pop()
            if isinstance(value, list):
                todo.extend((inner, root, f"{place}.{index}") for index, inner in enumerate(value))
            elif isinstance(value, dict):
                for name in ("$id", "id"):
                    if isinstance(given := value.get(name), str):
                        uri, _, anchor = given.partition("#")
                        if anchor:
                            self.anchors[unquote(anchor)].append(value)
                        if uri:
                            root = value
                            self.ids[_last(uri)].append(value)
                for name in ("$anchor", "$dynamicAnchor"):
                    if isinstance(given := value.get(name), str):
                        self.anchors[given].append(value)
                if value.get("$recursiveAnchor") is True:
                    self.recursive.append(value)
                self.nodes.append(value)
                self.roots[id(value)], self.places[id(value)] = root, place
                todo.extend((inner, root, f"{place}.{key}"[:400]) for key, inner in value.items())

    def _applied(self, node: Node) -> list[list[Node]]:
        """What else is asked about the same value: one of each group."""
        found: list[Any] = [node.get(name) for name in _ONE]
        for name in _LISTS:
            if isinstance(given := node.get(name), list):
                found.extend(given)
        for name in _MAPS:
            if isinstance(given := node.get(name), dict):
                found.extend(given.values())
        groups = [[inner] for inner in found if isinstance(inner, dict)]
        references = ((name, node.get(name)) for name in _REFERENCES)
        return groups + [self._meant(node, given, name) for name, given in references if isinstance(given, str)]

    def _meant(self, node: Node, reference: str, name: str) -> list[Node]:
        uri, _, fragment = reference.partition("#")
        fragment = unquote(fragment)
        if uri and "json-schema.org/" in uri and _last(uri) not in self.ids:
            return []
        roots = [self.roots[id(node)]]
        if uri:
            roots = self.ids.get(_last(uri)) or [inner for inners in self.ids.values() for inner in inners]
        if name == "$recursiveRef":
            roots = roots + self.recursive
        if not fragment:
            return roots
        if not fragment.startswith("/"):
            return self.anchors.get(fragment, [])
        return [found for root in roots if isinstance(found := _pointed(root, fragment), dict)]


def _last(uri: str) -> str:
    """The end of a path: what two spellings of one address have in common."""
    end = unquote(uri).rpartition("/")[2]
    return "" if end in (".", "..") else end


def _pointed(value: Any, pointer: str) -> Any:
    """What a JSON pointer (RFC 6901) points at; nothing where that is not there."""
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step[:9]) < len(value):
            value = value[int(step[:9])]
        else:
            return None
    return value
