"""Task documents as text that people edit: YAML where it says the same, and where in a text a field stands."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import yaml
from yaml.nodes import MappingNode, Node, SequenceNode

from lydite.errors import InputError
from lydite.server.errors import RefusedError
from lydite.server.page.telling import many
from lydite.server.tasks import Problem, documents_of
from lydite.tasksets.documents import parse_task

MOST = 200_000
"""Characters of a text that is edited."""


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks, keys in their order."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def text_of(spec: dict[str, Any]) -> str:
    """A document as text: YAML where that is read back as the same document, else JSON."""
    try:
        text = yaml.dump(_ordered(spec), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)
        if specs_of(text) == [spec]:
            return text
    except (yaml.YAMLError, InputError, RefusedError, RecursionError, ValueError):
        pass
    return json.dumps(_ordered(spec), ensure_ascii=False, indent=2) + "\n"


_ORDER = ("id", "prompt", "env", "max_steps", "setup_files", "setup_commands", "checker", "solution")


def _ordered(spec: dict[str, Any]) -> dict[str, Any]:
    """The same document with its fields in the order in which people write them; kept documents have them by name."""
    ordered = {name: spec[name] for name in _ORDER if name in spec} | spec
    checker = ordered.get("checker")
    if isinstance(checker, dict) and "type" in checker:
        ordered["checker"] = {"type": checker["type"]} | checker
    return ordered


def specs_of(text: str) -> list[dict[str, Any]]:
    """The documents of a text, as they stand in it; a ``task_spec`` without its wrapper.

    Raises:
        InputError: it cannot be read; names the line.
    """
    found = []
    for document in documents_of(text):
        if document.error is not None:
            raise document.error
        found.append(document.value)
    if not all(isinstance(one, dict) for one in found):
        raise InputError("a task is an object", remedy="begin with prompt: …")
    return [_unwrapped(one) for one in found]


def _unwrapped(document: dict[str, Any]) -> dict[str, Any]:
    for names in (("rawTrainingData", "task_spec"), ("task_spec",)):
        inner: Any = document
        for name in names:
            inner = inner.get(name) if isinstance(inner, dict) else None
        if isinstance(inner, dict):
            return inner
    return document


def outcome_of(text: str, problems: list[Problem]) -> str:
    """What came of trying the tasks of a text, in a sentence; empty where the text cannot be read."""
    try:
        specs = specs_of(text)
    except (InputError, RefusedError):
        return ""
    wrong = {one.index for one in problems if one.severity == "error"}
    left = {one.index for one in problems if one.rule == "not_tried"} - wrong
    good = [spec for index, spec in enumerate(specs) if index not in wrong | left]
    solved = sum(map(_solved, good))
    if len(specs) == 1 and len(good) == 1:
        return "It was set up, solved and judged: it holds." if solved else f"It was set up and judged, {_UNSOLVED}."
    parts = [
        f"{solved} set up, solved and judged: {'it holds' if solved == 1 else 'they hold'}" if solved else "",
        f"{len(good) - solved} set up and judged, {_UNSOLVED}" if len(good) > solved else "",
        f"{len(left)} not tried" if left else "",
        f"{len(wrong)} with errors" if wrong else "",
    ]
    return f"{many(len(specs), 'task')} tried: " + "; ".join(filter(None, parts)) + "."


_UNSOLVED = "without a solution that would show whether it can be solved"


def _solved(spec: dict[str, Any]) -> bool:
    try:
        return parse_task(spec).solution is not None
    except InputError:
        return False


def placed(problems: list[Problem], text: str) -> list[Problem]:
    """Problems with the line of their field where the text is one document, and so the field can be found."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return problems
    return [
        msgspec.structs.replace(one, line=_line(root, one.field)) if one.field and one.index == 0 else one
        for one in problems
    ]


def _line(node: Node | None, field: str) -> int | None:
    """The line of a dotted field, or of the nearest thing above it that is there."""
    line = None if node is None else node.start_mark.line
    for part in field.removeprefix("task_spec.").split("."):
        if isinstance(node, MappingNode):
            pair = next((pair for pair in node.value if pair[0].value == part), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line, pair[1]
        elif isinstance(node, SequenceNode) and part.isdecimal() and int(part) < len(node.value):
            node = node.value[int(part)]
            line = node.start_mark.line
        else:
            break
    return None if line is None else line + 1
