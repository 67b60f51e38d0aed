"""JSON as RFC 8259 has it, and nothing that two readers could read differently.

Refused, each with a reason of its own: ``not_json`` (the grammar), ``duplicate_key``, ``not_finite`` (NaN, Infinity),
``number_out_of_range`` (no finite double, more than 1000 digits, or not 0 and yet 0 as a double), ``lone_surrogate``
(half of a pair, as an escape), ``byte_order_mark``, ``trailing_text``, ``several_values``, ``too_deep``, ``too_large``.

Numbers are exact: ``int``, or ``Decimal`` where there is a point or an exponent. One pass, no recursion: deep nesting
costs nothing and ends at the same depth on every machine.
"""

from __future__ import annotations

import re
from decimal import Decimal
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]
from math import isinf
from typing import Any

MAX_CHARS = 1_000_000
MAX_DEPTH = 100
MAX_VALUES = 20_000
"""Values in one document, members and items counted: more is no answer."""
MAX_DIGITS = 1000

_SPACE = re.compile(r"[ \t\n\r]*+")
_NUMBER = re.compile(r"-?+(?:0|[1-9][0-9]*+)(\.[0-9]++)?+([eE][-+]?[0-9]++)?+")
_MORE_NUMBER = re.compile(r"[\w.+-]")
_WORD = re.compile(r"-?[A-Za-z]{1,20}")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_ENDLESS = frozenset(["NaN", "Infinity", "-Infinity", "-NaN"])


class StrictJSONError(Exception):
    """The text is not one JSON value. ``reason``: a code, see the module. ``at``: offset in the text."""

    def __init__(self, reason: str, at: int, message: str = "") -> None:
        self.reason, self.at = reason, at
        super().__init__(f"{message or reason} at character {at}")


def loads(text: str) -> Any:
    """The one value that is the whole text.

    Raises:
        StrictJSONError: it is not.
    """
    if len(text) > MAX_CHARS:
        raise StrictJSONError("too_large", MAX_CHARS, "more than a million characters")
    if text.startswith("\ufeff"):
        raise StrictJSONError("byte_order_mark", 0, "a byte order mark")
    value, end = scan(text, 0)
    end = _skip(text, end)
    if end < len(text):
        more = text[end] in '{["' or text[end : end + 1].isdigit()
        raise StrictJSONError("several_values" if more else "trailing_text", end, "text behind the value")
    return value


def scan(text: str, at: int) -> tuple[Any, int]:
    """The value that starts at an offset (white space before it is skipped), and where it ends.

    Raises:
        StrictJSONError: there is none.
    """
    stack: list[tuple[Any, str | None]] = []  # containers around the current one, with the key that waits in each
    current: Any = None  # the open list or object
    key: str | None = None
    count = 0
    while True:
        # A value is expected here.
        at = _skip(text, at)
        char = text[at : at + 1]
        count += 1
        if count > MAX_VALUES:
            raise StrictJSONError("too_large", at, f"more than {MAX_VALUES} values")
        if char == "{" or char == "[":
            if len(stack) + (current is not None) >= MAX_DEPTH:
                raise StrictJSONError("too_deep", at, f"more than {MAX_DEPTH} levels")
            if current is not None:
                stack.append((current, key))
            current, at = ({} if char == "{" else []), _skip(text, at + 1)
            if text[at : at + 1] != ("}" if char == "{" else "]"):
                if char == "{":
                    key, at = _key(text, at, current)
                continue
            value, at = current, at + 1
            current, key = stack.pop() if stack else (None, None)
        else:
            value, at = _scalar(text, at, char)
        # A value has ended: it goes where it belongs, and closes what it closes.
        while True:
            if current is None:
                return value, at
            if isinstance(current, list):
                current.append(value)
            else:
                current[key] = value
            at = _skip(text, at)
            mark = text[at : at + 1]
            if mark == ",":
                at += 1
                if isinstance(current, dict):
                    key, at = _key(text, _skip(text, at), current)
                break
            if mark != ("]" if isinstance(current, list) else "}"):
                raise StrictJSONError("not_json", at, "expected a comma or the end of the list or object")
            value, at = current, at + 1
            current, key = stack.pop() if stack else (None, None)


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def _key(text: str, at: int, members: dict[str, Any]) -> tuple[str, int]:
    if text[at : at + 1] != '"':
        raise StrictJSONError("not_json", at, "expected a key in double quotes")
    key, end = _string(text, at)
    if key in members:
        raise StrictJSONError("duplicate_key", at, f"the key {key[:60]!r} stands twice")
    end = _skip(text, end)
    if text[end : end + 1] != ":":
        raise StrictJSONError("not_json", end, "expected a colon")
    return key, end + 1


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = scanstring(text, at + 1, True)
    except JSONDecodeError as error:
        told = error.msg[:1].lower() + error.msg[1:]
        raise StrictJSONError("not_json", error.pos, told.removesuffix(" at")) from None
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise StrictJSONError("lone_surrogate", at, "half of a surrogate pair") from None
    return value, end


def _scalar(text: str, at: int, char: str) -> tuple[Any, int]:
    if char == '"':
        return _string(text, at)
    number = _NUMBER.match(text, at)
    if number is not None:
        if _MORE_NUMBER.match(text, number.end()):
            raise StrictJSONError("not_json", at, "not a number as JSON writes it")
        return _number(number), number.end()
    word = _WORD.match(text, at)
    if word is not None:
        said = word.group()
        if said in _WORDS:
            return _WORDS[said], word.end()
        if said in _ENDLESS:
            raise StrictJSONError("not_finite", at, f"{said} is no JSON")
    raise StrictJSONError("not_json", at, "expected a value")


def _number(match: re.Match[str]) -> int | Decimal:
    literal = match.group()
    near = float(literal) if len(literal) <= MAX_DIGITS else float("inf")
    if isinf(near) or (near == 0 and any(char in "123456789" for char in re.split("[eE]", literal)[0])):
        raise StrictJSONError("number_out_of_range", match.start(), "a number that no double comes near")
    return Decimal(literal) if match.group(1) or match.group(2) else int(literal)


def exact(value: Any) -> Any:
    """A value of plain JSON as ``loads`` would have read it: a float means the decimal that it is written as."""
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, list):
        return [exact(item) for item in value]
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    return value


def same(a: Any, b: Any) -> bool:
    """Whether two values, read by ``loads`` or ``exact``, are the same JSON.

    By type: ``1`` is not ``true``, nor ``"1"``. JSON has one type of number: ``1`` is ``1.0``. The order of keys does
    not matter, that of items does.
    """
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(item, b[key]) for key, item in a.items())
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, str) or isinstance(b, str):
        return type(a) is type(b) and bool(a == b)
    return isinstance(b, int | Decimal) and bool(a == b)
