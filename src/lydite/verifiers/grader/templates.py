"""Texts with ``{{ item.x.y }}`` and ``{{ sample.output_text }}`` in them.

A place is a name space, then ``.name``, ``.0``, ``[0]`` or ``["name"]`` any number of times; nothing else is
understood, so nothing can be evaluated. Items are filled in once; what a completion holds is put in as it stands and
never looked at for further places.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from lydite.errors import InputError
from lydite.verifiers.grader.sample import FIELDS, Sample, SampleError, as_text

Path = tuple[str | int, ...]

_PLACE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_STEP = re.compile(
    r"\.(?P<name>[A-Za-z_][\w-]*)|(?:\.(?P<dotted>\d{1,9})(?![\w-]))|\[(?P<index>\d{1,9})\]"
    r"|\[(?P<key>\"(?:[^\"\\]|\\.)*\"|'[^'\\]*')\]"
)
_SPACE = re.compile(r"item|sample")
MAX_TEMPLATE = 100_000
"""Characters of a template."""
MAX_ASKED = 20
"""Places of a template that ask for something of the completion: each can be as long as that is."""


class AnyItem:
    """Stands for an item that is not known yet: each of its places is there."""


PLACEHOLDER = "one two three four five"
"""What an item that is not known yet holds: words enough for every metric."""


class Template:
    """A text whose items are filled in.

    Attributes:
        whole: whether it is the completion's text and nothing else.
        asks: whether it asks for anything of the completion.
    """

    def __init__(self, pieces: Sequence[str | Path]) -> None:
        self._pieces = pieces
        self.asks = any(not isinstance(piece, str) for piece in pieces)
        self.whole = list(pieces) == [("output_text",)]
        self.fixed = None if self.asks else "".join(piece for piece in pieces if isinstance(piece, str))

    def text(self, sample: Sample) -> str:
        """The text for a completion.

        Raises:
            SampleError: the completion does not have what is asked for.
        """
        if self.whole:
            return sample.text or ""
        if self.fixed is not None:
            return self.fixed
        return "".join(piece if isinstance(piece, str) else _asked(sample, piece) for piece in self._pieces)


def read_template(text: str, item: Any, field: str) -> Template:
    """A template with the item's values in their places.

    Raises:
        InputError: a place that is not closed, not understood, or not in the item.
    """
    if len(text) > MAX_TEMPLATE:
        raise InputError(f"has more than {MAX_TEMPLATE} characters", field=field, remedy="shorten it")
    pieces: list[str | Path] = []
    at = 0
    while (start := text.find("{{", at)) >= 0:
        place = _PLACE.match(text, start)
        if place is None:
            raise InputError(f"{text[start : start + 40]!r} is not closed", field=field, remedy="end it with }}")
        space, path = _path(place.group(1).strip(), field)
        pieces += [text[at:start], as_text(_found(item, path, field)) if space == "item" else _sample(path, field)]
        at = place.end()
    pieces.append(text[at:])
    if sum(not isinstance(piece, str) for piece in pieces) > MAX_ASKED:
        raise InputError(f"asks for more than {MAX_ASKED} things of the completion", field=field, remedy="shorten it")
    return Template([piece for piece in pieces if piece != ""])


def _path(text: str, field: str) -> tuple[str, Path]:
    shown = "{{ " + text[:60] + " }}"
    space = _SPACE.match(text)
    if space is None:
        remedy = "the name spaces are item and sample, such as {{ item.answer }}, {{ sample.output_text }}"
        raise InputError(f"{shown} is unknown", field=field, remedy=remedy)
    steps: list[str | int] = []
    at = space.end()
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            raise InputError(f"{shown} is not understood", field=field, remedy='write .name, .0, [0] or ["name"]')
        at = step.end()
        if step["name"] is not None:
            steps.append(step["name"])
        elif step["key"] is not None:
            steps.append(_unquoted(step["key"]))
        else:
            steps.append(int(step["dotted"] or step["index"]))
    return space.group(), tuple(steps)


def _unquoted(key: str) -> str:
    if key[0] == "'":
        return key[1:-1]
    try:
        return str(json.loads(key))
    except ValueError:
        return key[1:-1]


def _found(item: Any, path: Path, field: str) -> Any:
    if isinstance(item, AnyItem):
        return PLACEHOLDER
    value = item
    for at, step in enumerate(path):
        try:
            value = _step(value, step)
        except LookupError:
            place = ".".join(map(str, ("item", *path[: at + 1])))
            known = ", ".join(list(value)[:10]) if isinstance(value, dict) else ""
            remedy = f"there is {known}" if known else "the item has no such place"
            raise InputError(f"there is no {place[:80]}", field=field, remedy=remedy) from None
    return value


def _step(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value[str(step)]
    if isinstance(value, list) and isinstance(step, int):
        return value[step]
    raise LookupError(step)


def _sample(path: Path, field: str) -> Path:
    if not path or path[0] not in FIELDS:
        told = ".".join(map(str, ("sample", *path)))[:80]
        remedy = "there is " + ", ".join(f"sample.{name}" for name in FIELDS)
        raise InputError(f"there is no {told}", field=field, remedy=remedy)
    if path[0] == "output_text" and len(path) > 1:
        raise InputError("sample.output_text is a text", field=field, remedy="use sample.output_json for its fields")
    return path


def _asked(sample: Sample, path: Path) -> str:
    value = sample.field(str(path[0]))
    for at, step in enumerate(path[1:], 1):
        try:
            value = _step(value, step)
        except LookupError:
            place = ".".join(map(str, path[: at + 1]))
            raise SampleError("missing_field", f"the completion has no {place[:200]}") from None
    return as_text(value)
