"""Answers that a completion marks as such: boxes, ``<answer>`` tags, ``####`` lines, "the answer is". Linear."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from lydite.verifiers.text import boxes

MOST = 200
"""Marked answers that are looked at."""
MAX_ANSWER = 200
"""Characters of an answer that is compared."""

_TAG = re.compile(r"<answer>([^<]{0,400})</answer>")
_HASHES = re.compile(r"^[ \t]{0,20}####[ \t]*([^\n]{1,400})", re.MULTILINE)
_SAID = re.compile(
    r"(?<!/)\banswer(?:\s{1,4}is|\s{0,4}:|\s{1,4}=)[ \t*:]{0,8}\$?"
    r"([-+−]?\d[\d,]{0,40}(?:\.\d{1,40})?(?:/\d{1,40})?(?!\s{0,4}[^\n*+/=×-]{0,30}[*/+×=])|\(?[A-J]\)?(?![\w']))",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+−]?\$?\d[\d,]*(?:\.\d+)?(?:/\d+)?")
_FRACTION = re.compile(r"\\[dt]?frac\{?(\d{1,40})\}?\{?(\d{1,40})\}?")
_NOISE = re.compile(r"\\(?:text|mathrm|mathbf|textbf)\s{0,4}\{|\\[,;:! ]|[\s${}*]|\\(?:left|right)|\.+$")


class Marked(NamedTuple):
    """An answer, where it stands, and what it comes to when compared."""

    start: int
    text: str
    value: str


def marked_answers(text: str) -> list[Marked]:
    """The marked answers, in order of their places."""
    found: list[tuple[int, str, bool]] = []
    if "box" in text:
        found += [(box.start, box.content, False) for box in boxes(text)[:MOST]]
    if "<answer>" in text:
        found += [(match.start(), match[1], False) for match, _ in zip(_TAG.finditer(text), range(MOST), strict=False)]
    if "####" in text:
        found += [
            (match.start(), match[1], True) for match, _ in zip(_HASHES.finditer(text), range(MOST), strict=False)
        ]
    if "nswer" in text or "NSWER" in text:
        found += [(match.start(), match[1], True) for match, _ in zip(_SAID.finditer(text), range(MOST), strict=False)]
    return [Marked(at, said.strip()[:MAX_ANSWER], value_of(said, loose)) for at, said, loose in sorted(found)]


def value_of(said: str, loose: bool = False) -> str:
    """What an answer is compared by: a number as a fraction, other text without its trimmings. ``loose``: what follows
    a number, such as a unit, is left out."""
    said = _FRACTION.sub(r"\1/\2", said[:MAX_ANSWER])
    text = _NOISE.sub("", said.replace("−", "-").replace("\\%", "%").replace("\\$", ""))
    text = text.rpartition("=")[2].rstrip(".").lower()
    number = _NUMBER.match(text)
    if number is not None and (loose or number.end() == len(text)):
        try:
            return str(Fraction(number.group().replace(",", "").replace("$", "")))
        except (ValueError, ZeroDivisionError):
            return text
    return text.strip("()") if len(text) == 3 else text
