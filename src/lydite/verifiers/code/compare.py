"""Whether what came back is what was expected. In the grader's process, on plain values only."""

from __future__ import annotations

import math
import re
from typing import Any

_NUMBERS = (bool, int, float)
SHOWN = 120
"""Characters of a value that an evidence text shows."""


def equal(value: Any, expected: Any, tolerance: float | None = None) -> bool:
    """Python's ``==`` between a returned value and an expected one from JSON, with two differences: a tuple equals the
    list of its items (JSON has no tuples), and with ``tolerance`` two finite numbers are equal that differ by no more
    (booleans apart). So ``True == 1 == 1.0``; NaN equals nothing.
    """
    if isinstance(expected, list):
        return (
            type(value) in (list, tuple)
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


def _near(value: float, expected: float, tolerance: float) -> bool:
    try:
        return math.isfinite(value) and math.isfinite(expected) and abs(value - expected) <= tolerance
    except OverflowError:  # an int that no float can hold
        return False


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
    if kind in (str, bytes):
        return ascii(value[:SHOWN])
    if kind in (list, tuple, set, frozenset, dict) and not depth:
        return "…"
    if kind is dict:
        return "{" + ", ".join(f"{_shown(k, depth - 1)}: {_shown(value[k], depth - 1)}" for k in list(value)[:40]) + "}"
    if kind in (list, tuple):
        inside = ", ".join(_shown(item, depth - 1) for item in value[:40])
        return f"[{inside}]" if kind is list else f"({inside})"
    if kind in (set, frozenset):
        return "{" + ", ".join(sorted(_shown(item, depth - 1) for item in value)[:40]) + "}"
    return ascii(value)


def told(name: str, message: str) -> str:
    """An exception for people, without addresses, which differ between two runs."""
    text = f"{name}: {message}" if message else name
    return ascii(re.sub(r"0x[0-9a-fA-F]+", "0x…", text[: 2 * SHOWN])).strip("'\"")
