"""What ``lydite verify`` reads from a line."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, TypeVar

import msgspec

from lydite.codec import well_formed
from lydite.errors import InputError

NULL = msgspec.Raw(b"null")


class Row(msgspec.Struct):
    completion: str | list[dict[str, Any]] | None
    id: msgspec.Raw = NULL
    gold: Any = msgspec.UNSET
    checker: dict[str, Any] | None = None
    prompt: str | list[dict[str, Any]] | None = None


class _Named(msgspec.Struct):
    id: msgspec.Raw = NULL


R = TypeVar("R", bound=Row)
_ROWS = msgspec.json.Decoder(Row)
_NAMES = msgspec.json.Decoder(_Named)


def read(line: bytes) -> Row:
    """A line.

    Raises:
        InputError: it cannot be read, or one of our keys stands twice.
    """
    return read_as(line, _ROWS)


def read_as(line: bytes, rows: msgspec.json.Decoder[R]) -> R:
    """A line with further fields.

    Raises:
        InputError: it cannot be read, or one of our keys stands twice.
    """
    try:
        row = rows.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        row = _read_again(line, str(error), rows)
    # Within a text, quotes are escaped: what is found is a key, or a value that reads like one.
    if line.count(b'"completion"') > 1 or line.count(b'"gold"') > 1 or row.checker is not None:
        twice = _twice(line)
        if twice:
            raise InputError("stands twice in the line", field=twice, remedy="leave one of the two out")
    return row


def _read_again(line: bytes, told: str, rows: msgspec.json.Decoder[R]) -> R:
    try:  # lone surrogates are legal in JSON's escapes, and models' bytes can decode to them
        return rows.decode(well_formed(json.dumps(json.loads(line), ensure_ascii=False)).encode())
    except (ValueError, RecursionError):
        raise InputError(f"cannot be read: {told}", remedy='expected {"completion": …, "gold": …}') from None


_DECISIVE = ("completion", "gold", "checker")
"""Keys of which there may be one: two readers would judge two things."""
_HINTS = tuple(f'"{key}"'.encode() for key in (*_DECISIVE, "type", "config", "answer"))


class _Pairs(list[tuple[str, Any]]):
    """The members of an object."""

    def repeated(self) -> set[str]:
        counts = Counter(key for key, _ in self)
        return {key for key, count in counts.items() if count > 1}


def _twice(line: bytes) -> str:
    """A decisive key that stands twice in the line, or any in one object of its checker; empty where none does. Columns
    that are not ours may say what they like."""
    if not any(line.count(hint) > 1 for hint in _HINTS):
        return ""
    try:
        row = json.loads(line, object_pairs_hook=_Pairs, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(row, _Pairs):
        return ""
    if found := row.repeated().intersection(_DECISIVE):
        return min(found)
    todo: list[tuple[str, Any]] = [("checker", value) for key, value in row if key == "checker"]
    while todo:
        place, value = todo.pop()
        if isinstance(value, _Pairs):
            if within := value.repeated():
                return f"{place}.{min(within)}"
            todo.extend((f"{place}.{key}", inner) for key, inner in value)
        elif isinstance(value, list):
            todo.extend((f"{place}.{index}", inner) for index, inner in enumerate(value))
    return ""


def id_of(line: bytes) -> msgspec.Raw:
    """The id of a line that is unusable otherwise; null where it cannot be told."""
    try:
        return _NAMES.decode(line).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return NULL
