"""Signs in programs and commands: patterns behind cheap words, found with the place where they stand.

Nothing is run or evaluated. What stands in a comment is no sign. A pattern is looked for only where its word occurs, so
that ordinary programs cost a few substring searches; every pattern is bounded, so that the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

MOST = 5
"""Signs that the evidence shows."""
MOST_FOUND = 200
"""Signs after which counting ends."""
WIDTH = 120
"""Characters of a line that the evidence shows."""


class Source(NamedTuple):
    """A piece of text that an attempt wrote to be run. ``where``: ``answer``, a path, or ``call 3``."""

    where: str
    text: str


class Sign(NamedTuple):
    """Something that gives itself away: its name, a word that stands in all of it, and what it looks like."""

    name: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]


def sign(name: str, words: str, pattern: str) -> Sign:
    """A sign; ``words`` apart by spaces, one of which is in whatever matches."""
    return Sign(name, tuple(words.split()), re.compile(pattern, re.MULTILINE))


def find_signs(signs: Iterable[Sign], sources: Iterable[Source]) -> list[dict[str, Any]]:
    """The signs found, in order, as evidence: ``sign``, ``where``, ``line`` (from 1), ``text``."""
    found: list[dict[str, Any]] = []
    for where, text in sources:
        for one in signs:
            if not any(word in text for word in one.words):
                continue
            for match in one.pattern.finditer(text):
                if len(found) >= MOST_FOUND:
                    return found
                if not in_comment(text, match.start()):
                    found.append(
                        {
                            "sign": one.name,
                            "where": where[:WIDTH],
                            "line": text.count("\n", 0, match.start()) + 1,
                            "text": around(text, match.start(), match.end()),
                        }
                    )
                    break  # one of each kind says enough, and keeps this linear
    return found


def in_comment(text: str, at: int) -> bool:
    """Whether a place seems to be in a comment of Python or a shell: a ``#`` before it in its line, at the line's start
    or behind white space, with no open quote."""
    start = text.rfind("\n", max(0, at - 1000), at) + 1
    before = text[max(start, at - 1000) : at]
    mark = before.find("#")
    if mark < 0 or (mark and not before[mark - 1].isspace()):
        return False
    return before.count('"', 0, mark) % 2 == 0 and before.count("'", 0, mark) % 2 == 0


def around(text: str, start: int, end: int) -> str:
    """The line in which something stands, or the part of it around that."""
    first = text.rfind("\n", max(0, start - WIDTH), start) + 1
    if not first:
        first = max(0, start - WIDTH // 2)
    last = text.find("\n", start)
    last = len(text) if last < 0 else last
    return text[first : min(last, first + WIDTH, max(end, start) + WIDTH)].strip()


def evidence(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Evidence of a flag: the first signs, and how many there are."""
    return {"found": len(found), "signs": found[:MOST]}
