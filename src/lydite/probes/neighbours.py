"""Values near given ones: inputs that tests do not have, to tell two programs apart that pass the same tests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

PER_VALUE = 12
"""Neighbours of one value, at most."""


def near(value: Any) -> Iterator[Any]:
    """Values of the same type that are near one, each other than it, in a fixed order; none for types without any."""
    for found in islice(_near(value), PER_VALUE):
        if type(found) is not type(value) or found != value:
            yield found


def near_arguments(arguments: list[Any], keywords: dict[str, Any]) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Calls with one argument changed."""
    for index, value in enumerate(arguments):
        for found in near(value):
            yield [*arguments[:index], found, *arguments[index + 1 :]], dict(keywords)
    for name, value in keywords.items():
        for found in near(value):
            yield list(arguments), {**keywords, name: found}


def near_text(text: str) -> Iterator[str]:
    """Standard inputs near one: its numbers by one up and down, its lines repeated, left out and turned round."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        words = line.split(" ")
        for place, word in enumerate(words):
            if word.lstrip("-").isdecimal() and len(word) < 19:
                for number in (int(word) + 1, int(word) - 1, 0):
                    changed = " ".join([*words[:place], str(number), *words[place + 1 :]])
                    yield "\n".join([*lines[:at], changed, *lines[at + 1 :]]) + "\n"
        if any(character.isalpha() for character in line):
            yield "\n".join([*lines[:at], line[::-1], *lines[at + 1 :]]) + "\n"


def _near(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, value + 2, value * 2, 0, 1, -value, 2, 10, value // 2)
    elif isinstance(value, float):
        if math.isfinite(value):
            yield from (value + 1.0, value - 1.0, value / 2, -value, 0.0, value + 0.5, value * 10)
    elif isinstance(value, str):
        middle = len(value) // 2
        yield from ("", value[:-1], value[1:], value + value[-1:], value[::-1], value[:1])
        yield from (value.swapcase(), value[:middle], value + " " + value, value + "a", " " + value, value + "1")
    elif isinstance(value, list | tuple):
        yield from _near_sequence(value)
    elif isinstance(value, dict):
        yield {}
        for key in islice(value, 3):
            yield {other: item for other, item in value.items() if other != key}
            for found in islice(near(value[key]), 3):
                yield {**value, key: found}
    elif isinstance(value, set | frozenset):
        yield type(value)()
        for item in islice(sorted(value, key=repr), 3):
            yield type(value)(value - {item})


def _near_sequence(value: Any) -> Iterator[Any]:
    kind, items = type(value), list(value)
    yield kind(items[::-1])
    yield kind(items + items[:1])
    yield kind(items[:-1])
    for index in (0, len(items) // 2, len(items) - 1):
        if 0 <= index < len(items):
            for found in islice(near(items[index]), 2):
                yield kind([*items[:index], found, *items[index + 1 :]])
    yield kind() if items else kind([0])
    yield kind(items[:1])
    yield kind(items + items)
