"""Whether what came back is what was expected. In the grader's process, on plain values only."""

from __future__ import annotations

import math
import re
from collections import deque
from decimal import Decimal
from fractions import Fraction
from typing import Any

from lydite.verifiers.code.values import NotPlainError, encode

_NUMBERS = (bool, int, float, Fraction, Decimal)
_LISTS = (list, tuple)
_UNORDERED = (list, tuple, set, frozenset)
SHOWN = 120
"""Characters of a value that an evidence text shows."""


def equal(value: Any, expected: Any, tolerance: float | None = None) -> bool:
    """Python's ``==`` between a returned value and an expected one from JSON, with two differences: a tuple equals the
    list of its items (JSON has no tuples), and with ``tolerance`` two finite numbers are equal that differ by no more
    (booleans apart). So ``True == 1 == 1.0 == Fraction(1) == Decimal(1)``; NaN equals nothing.
    """
    if isinstance(expected, list):
        return (
            type(value) in _LISTS
            and len(value) == len(expected)
            and all(equal(item, wanted, tolerance) for item, wanted in zip(value, expected, strict=True))
        )
    if isinstance(expected, dict):
        return (
            type(value) is dict
            and len(value) == len(expected)
            and all(type(key) is str and key in expected for key in value)
            and all(equal(item, expected[key], tolerance) for key, item in value.items())
        )
    if type(expected) in _NUMBERS:
        if type(value) not in _NUMBERS:
            return False
        if value == expected:
            return True
        return tolerance is not None and bool not in (type(value), type(expected)) and _near(value, expected, tolerance)
    return type(value) is type(expected) and bool(value == expected)


def _near(value: float | Fraction | Decimal, expected: float, tolerance: float) -> bool:
    try:
        number = value if isinstance(value, int | float) else float(value)
        return math.isfinite(number) and math.isfinite(expected) and abs(number - expected) <= tolerance
    except OverflowError:  # an int that no float can hold
        return False


def equal_in_any_order(value: Any, expected: list[Any], tolerance: float | None = None) -> bool:
    """Whether a list, tuple or set has the items of ``expected``, each as often, in whatever order. With a tolerance
    the expected items are numbers. Takes time n log n: what the candidate chose must not make it longer.
    """
    if type(value) not in _UNORDERED or len(value) != len(expected):
        return False
    try:
        if tolerance is not None:
            return equal(sorted(map(_finite, value)), sorted(expected), tolerance)
        return sorted(map(_key, value)) == sorted(map(_key, expected))
    except _NeverEqualError:
        return False


class _NeverEqualError(Exception):
    """Something in a value equals nothing that can be expected."""


def _finite(item: Any) -> int | float:
    try:
        number = item if type(item) in (bool, int) else float(item) if type(item) in _NUMBERS else math.nan
    except OverflowError:
        number = math.nan
    if number != number:
        raise _NeverEqualError
    return number


def _key(item: Any) -> bytes:
    """The same bytes for values that :func:`equal` finds equal, others for others."""
    try:
        return encode(_normal(item))
    except NotPlainError:  # deeper than what was expected
        raise _NeverEqualError from None


def _normal(value: Any) -> Any:
    kind = type(value)
    if kind in _NUMBERS:
        if value != value:
            raise _NeverEqualError
        if kind in (float, Decimal) and (not math.isfinite(value) or abs(value) > 1e300):
            return ("large", str(float(value)))
        exact = Fraction(value)
        return exact.numerator if exact.denominator == 1 else exact
    if kind in _LISTS:
        return [_normal(item) for item in value]
    if kind is dict:
        return ("dict", sorted((encode(key), _normal(item)) for key, item in value.items()))
    return value


def same_output(output: bytes, expected: str) -> bool:
    """Whether a program printed what it should: white space at the end of lines and empty lines at the end do not
    count, all else does."""
    return _lines(output.decode("utf-8", "replace")) == _lines(expected)


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def shown(value: Any) -> str:
    """A value for people: bounded, the same in every process, plain text."""
    text = _shown(value, 3)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _shown(value: Any, depth: int) -> str:
    kind = type(value)
    if kind is int and value.bit_length() > 400:
        return f"an int of {value.bit_length()} bits"
    if kind in (str, bytes, bytearray):
        return ascii(value[:SHOWN])
    if kind is Fraction:
        return f"Fraction({_shown(value.numerator, depth)}, {_shown(value.denominator, depth)})"
    if kind is Decimal:
        return f"Decimal('{str(value)[:SHOWN]}')"
    if kind is range:
        return f"range({', '.join(_shown(part, depth) for part in (value.start, value.stop, value.step))})"
    if hasattr(kind, "__next__"):
        return "an iterator"
    if kind in (list, tuple, set, frozenset, dict, deque) and not depth:
        return "…"
    if kind is dict:
        return "{" + ", ".join(f"{_shown(k, depth - 1)}: {_shown(value[k], depth - 1)}" for k in list(value)[:40]) + "}"
    if kind in (list, tuple, deque):
        inside = ", ".join(_shown(item, depth - 1) for item in list(value)[:40])
        return f"[{inside}]" if kind is list else f"({inside})" if kind is tuple else f"deque([{inside}])"
    if kind in (set, frozenset):
        return "{" + ", ".join(sorted(_shown(item, depth - 1) for item in value)[:40]) + "}"
    return ascii(value)


def told(name: str, message: str) -> str:
    """An exception for people, without addresses, which differ between two runs."""
    text = f"{name}: {message}" if message else name
    return ascii(re.sub(r"0x[0-9a-fA-F]+", "0x…", text[: 2 * SHOWN])).strip("'\"")
