"""YAML as data, and only as data.

What is covered: the safe constructor alone, narrowed to what JSON can say (null, bool, int, float, text, list, object);
any other tag, ``!!python/…`` among them, is an error. Scalars follow the core schema of YAML 1.2, because the rules of
1.1 silently change a gold: ``yes`` becomes true, ``1:30`` becomes 90, ``010`` becomes 8, ``2024-01-01`` becomes a date.
Repeated keys are an error. What aliases unfold to is bounded by the check that every document goes through afterwards.

What is not covered: speed. This is the pure Python loader, whose recursion Python limits; large sets belong in JSON
lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

import yaml
from yaml.constructor import ConstructorError
from yaml.nodes import MappingNode, ScalarNode, SequenceNode

_TAG = "tag:yaml.org,2002:"


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: Any = {}  # noqa: RUF012 - the stub of the base class has it so
    yaml_constructors: ClassVar[Any] = {}

    def mapping(self, node: Any) -> Iterator[dict[Any, Any]]:
        """A mapping in two steps, so that it can hold itself (which the check of plain values then refuses)."""
        if isinstance(node, MappingNode):
            seen: set[str] = set()
            for key, _ in node.value:
                if isinstance(key, ScalarNode):
                    if key.value in seen:
                        raise ConstructorError(None, None, f"the key {key.value!r:.60} stands twice", key.start_mark)
                    seen.add(key.value)
        data: dict[Any, Any] = {}
        yield data
        data.update(self.construct_mapping(node, deep=False))

    def scalar(self, node: Any) -> Any:
        """Null, boolean or number, as its tag says."""
        kind, text = node.tag.removeprefix(_TAG), self.construct_scalar(node)
        try:
            return _SCALARS[kind](text)
        except (KeyError, ValueError, OverflowError):
            raise ConstructorError(None, None, f"{text!r:.60} is not of type {kind}", node.start_mark) from None


def _int(text: str) -> int:
    bare = text.lstrip("+-")
    base = 16 if bare.startswith("0x") else 8 if bare.startswith("0o") else 10
    return int(text, base)


_SCALARS: dict[str, Any] = {
    "null": lambda text: {"": None, "~": None, "null": None, "Null": None, "NULL": None}[text],
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
    "int": _int,
    "float": lambda text: float(re.sub(r"^([-+]?)\.(inf|nan)$", r"\1\2", text.lower())),
}

for _kind, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", "-+."),
    ("merge", r"<<", "<"),
):
    _first_chars: list[str] = [*_first, ""] if _kind == "null" else list(_first)
    _Loader.add_implicit_resolver(_TAG + _kind, re.compile(f"^(?:{_pattern})$"), _first_chars)
for _kind in _SCALARS:
    _Loader.yaml_constructors[_TAG + _kind] = _Loader.scalar
_Loader.yaml_constructors |= {
    _TAG + "str": _Loader.construct_yaml_str,
    _TAG + "seq": _Loader.construct_yaml_seq,
    _TAG + "map": _Loader.mapping,
    None: _Loader.construct_undefined,
}


def iter_yaml(text: str) -> Iterator[tuple[int, Any]]:
    """(1-based line, value) of every document of a stream; a document that is a list gives its items.

    Raises:
        yaml.YAMLError: with a mark where there is a place to name.
        RecursionError: nested too deeply.
    """
    loader = _Loader(text)
    try:
        while loader.check_node():
            node: Any = loader.get_node()
            for item in node.value if isinstance(node, SequenceNode) else [node]:
                if isinstance(item, ScalarNode) and item.tag == _TAG + "null" and item is node:
                    continue  # an empty document, such as the end of a stream after `---`
                yield item.start_mark.line + 1, loader.construct_document(item)
    finally:
        loader.dispose()
