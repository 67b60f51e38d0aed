"""The last formula or number of a text, with what belongs to it."""

from __future__ import annotations

import re
from collections import deque

from lydite.verifiers.math.units import parse_unit

MATH = re.compile(
    r"\$\$([^$]{1,1000})\$\$|\\\(((?:[^\\]|\\[^)]){1,1000}+)\\\)|\\\[((?:[^\\]|\\[^\]]){1,1000}+)\\\]"
    r"|\$([^$\n]{1,500})\$"
)
_PROSE = re.compile(r"[.,;]\s+[A-Za-z]|[A-Za-z]{2} [A-Za-z]{2}")
_NUMBER = re.compile(
    r"(?<![\w.:])(?:\d{1,4}(?:(?:\s:\s|:)\d{1,4}){1,3}(?:\s?[aApP]\.?[mM]\b\.?)?(?![\d:])"
    r"|\d{1,2}\s?[aApP]\.?[mM]\b\.?)"
    r"|[(\[]\s?[-−]?\d[\d./]{0,12}(?:\s?,\s?[-−]?\d[\d./]{0,12}){1,3}\s?[)\]]"
    r"|(?<![\w.])[-−–]?\s?\\?[$€£]?\s?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,3}(?: \d{3})+(?!\d|[/.,]\d)|\d+)"
    r"(?:\.\d+)?|\.\d+)(?:\s?(?:x|×|\*|\\times|\\cdot)\s?10\s?(?:\^|\*\*)\s?\{?[-−]?\d{1,4}\}?)?(?:\s\d+/\d+"
    r"|/\d+)?(?:[eE][-+]?\d+\b)?\s?\\?%?"
)
_LISTED = re.compile(r"(?:[-−]?\d[\d./]{0,20}\s?(?:,\s?(?:and|or)?|and|or)\s){1,24}$|(?:[-−]?\d[\d./]{0,20}\s){2,24}$")
_LISTING = (",", "and", "or", ".", "/", *"0123456789")
"""What stands before the last member of a list of numbers."""
_WORD = re.compile(r"\s?([A-Za-z°]{1,14}(?:/[A-Za-z]{1,8})?(?:\^?[23²³])?)\b(?P<per>\sper\s[a-z]{1,10}\b)?")


def is_prose(text: str) -> bool:
    """Whether a text reads as words rather than as an answer."""
    return _PROSE.search(text) is not None


def inner(math: re.Match[str]) -> str:
    return next(group for group in math.groups() if group is not None).strip()


def final(pattern: re.Pattern[str], text: str, start: int = 0) -> re.Match[str] | None:
    return next(iter(deque(pattern.finditer(text, start), maxlen=1)), None)


_BEFORE = re.compile(r"\$([^$\n]{1,60})\$\s?(?:,\s?(?:and|or)?|and|or)\s?$")


def _joined(text: str, last: re.Match[str]) -> str:
    """The last formula, with those that it ends a list of: $4$ and $6$."""
    said, start = inner(last), last.start()
    parts = [said]
    while len(parts) < 20 and (before := _BEFORE.search(text[max(0, start - 80) : start])) is not None:
        parts.append(before.group(1))
        start -= len(before.group())
    return ", ".join(reversed(parts))


_APART = re.compile(r"\s[a-z]{4,}\s")
"""A word apart: no number reaches over it."""


def _last_number(text: str, start: int) -> re.Match[str] | None:
    """The last number behind a place; looked for in the last words first."""
    for size in (60, 300):
        apart = _APART.search(text, max(start, len(text) - size))
        number = final(_NUMBER, text, apart.start()) if apart is not None else None
        if number is not None:
            return number
    return final(_NUMBER, text, start)


def last_formula(text: str) -> str:
    """The last formula or number, whichever ends later. A number that ends a list is not an answer: the list is."""
    math = final(MATH, text) if "$" in text or "\\" in text else None
    number = _last_number(text, math.end() if math and not is_prose(inner(math)) else 0)
    if number is None:
        return "" if math is None else _joined(text, math)
    said, at = number.group().strip(), number.start()
    if said[0] in "-−–" and at > 0 and (text[at - 1].isalnum() or text[:at].rstrip()[-1:].isdigit()):
        said = said[1:].strip()  # a subtraction or a range, not a sign
    before = text[max(0, at - 60) : at]
    rounded = _ROUNDED.search(before) if before.rstrip().rstrip("$").rstrip().endswith(_ROUNDING) else None
    if rounded is not None:
        return rounded.group(1)
    result = _worked_out(text, at)
    if result is not None:
        said, number = result.group().strip(), result
        at = number.start()
    before = text[max(0, at - 400) : at + len(number.group()) - len(number.group().lstrip())]
    listed = _LISTED.search(before) if before.rstrip()[-3:].endswith(_LISTING) else None
    if listed:
        return listed.group() + said
    word = _WORD.match(text, number.end())
    unit = parse_unit(word.group(1)) if word else None
    known = unit is not None and unit.dims and not any(name.startswith("of:") for name, _ in unit.dims)
    if word is None or unit is None or not known or word.group(1) == "in":
        return said
    if len(word.group(1)) == 1 and word.group(1) not in "mgsLlhNJWV":
        return said
    if word.group("per") and ("$", 1) not in unit.dims:
        rate = parse_unit(word.group(1) + word.group("per"))
        if rate is not None and not any(name.startswith("of:") for name, _ in rate.dims):
            return f"{said} {word.group(1)}{word.group('per')}"  # 30 km per hour
    return f"{said} {word.group(1)}"


_ROUNDED = re.compile(  # 2/3 ≈ 0.667
    r"([-−]?\d[\d./]{0,20}|\$[^$\n]{1,40}\$)\s?(?:[,(]?\s?(?:≈|\\approx)|[,(]?\s?(?:or|which is|i\.e\.,?"
    r"|that is,?)? ?(?:about|approximately|roughly))\s?\$?$"
)
_ROUNDING = ("≈", "\\approx", "about", "approximately", "roughly")
_OPERATION = re.compile(r"\d[\w\s$.,%)]{0,30}[-+*/×÷−x]\s?[($\s]{0,3}[\d.][^=\n]{0,30}$")
_MOVES_ON = re.compile(
    r"[.!?;]\s|,|\b(?:so|thus|hence|therefore|then|leaving|leaves|giving|gives|means?|which|or|but"
    r"|not)\b",
    re.IGNORECASE,
)


def _worked_out(text: str, last: int) -> re.Match[str] | None:
    """The result of the reckoning in the sentence of the last number: "4 + 5 = 9 points in the 40 minutes"."""
    line = text.rfind("\n", 0, last) + 1
    place = text.rfind("=", max(line, last - 200), last)
    if place < 0 or not _OPERATION.search(text[max(line, place - 80) : place]):
        return None
    at = place + 1
    while at < last and text[at] in " (":
        at += 1
    result = _NUMBER.match(text, at)
    if result is None or result.end() > last or _MOVES_ON.search(text[result.end() : last]):
        return None
    return result
