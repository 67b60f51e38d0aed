"""Answers in words: numbers, dates, and phrases that mean the same."""

from __future__ import annotations

import re
from fractions import Fraction

_split = str.split  # tables of words stay readable

_UNITS = {
    word: value
    for value, word in enumerate(
        _split(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
            " fifteen sixteen seventeen eighteen"
            " nineteen"
        )
    )
}
_TENS = {
    word: 10 * (index + 2) for index, word in enumerate(_split("twenty thirty forty fifty sixty seventy eighty ninety"))
}
SCALES = {
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
    "score": 20,
}
_PARTS = {
    "half": 2, "halve": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "twelfth": 12, "hundredth": 100, "thousandth": 1000,
}  # fmt: skip
MONTHS = {
    name: index + 1
    for index, name in enumerate(
        _split("january february march april may june july august september october november december")
    )
}
MONTHS |= {name[:3]: index for name, index in MONTHS.items()} | {"sept": 9}
_DAYS = {day[:3]: day for day in _split("monday tuesday wednesday thursday friday saturday sunday")}
_DAYS |= {"tues": "tuesday", "wed": "wednesday", "thur": "thursday", "thurs": "thursday"}
_SAME = (
    (
        "no solution", "no solutions", "no real solution", "no real solutions", "there is no solution",
        "there are no solutions", "no such solution", "emptyset", "empty set", "the empty set",
    ),
    ("does not exist", "dne", "doesn't exist", "doesnt exist", "the limit does not exist", "limit does not exist"),
    (
        "infinitely many", "infinitely many solutions", "infinite solutions", "infinite",
        "infinite number of solutions", "infinitely",
    ),
    ("all real numbers", "all reals", "all real values", "every real number", "any real number", "all real x"),
    ("undefined", "not defined"), ("equal", "they are equal", "the same"),
    ("infinity", "infty", "+infty", "+infinity", "positive infinity"),
    ("-infinity", "-infty", "negative infinity"),
)  # fmt: skip
_CANON = {phrase: group[0] for group in _SAME for phrase in group}
NO_SOLUTION, ALL_REALS = "no solution", "all real numbers"


def number_words(words: list[str]) -> Fraction | None:
    """The value of a number in words: ``a hundred and five``, ``two thirds``, ``one and a half``, ``two dozen``."""
    if not words or len(words) > 24:
        return None
    sign = 1
    if words[0] in ("minus", "negative"):
        sign, words = -1, words[1:]
    total = current = Fraction(0)
    seen = False
    for index, word in enumerate(words):
        last = index == len(words) - 1
        part = _PARTS.get(word.removesuffix("s"))
        if word in _UNITS:
            current += _UNITS[word]
            seen = True
        elif word in _TENS:
            current += _TENS[word]
            seen = True
        elif word in ("a", "an") and not seen and not last:
            current, seen = Fraction(1), True
        elif word in ("a", "an") and seen and not last and words[index - 1] == "and":
            total, current = total + current, Fraction(1)
        elif word == "and" and seen and not last:
            following = words[index + 1 :]
            if _PARTS.get(following[-1].removesuffix("s")) and len(following) == 2:
                fraction = number_words(following)
                return None if fraction is None else sign * (total + current + fraction)
        elif word.removesuffix("s") in SCALES and (seen or not index):
            scale = SCALES[word.removesuffix("s")]
            current = current if seen else Fraction(1)
            seen = True
            if scale in (100, 12, 20):
                current *= scale
            else:
                total, current = total + current * scale, Fraction(0)
        elif part and last and (seen or word in ("half", "quarter")):
            return sign * (total + (current if seen else 1)) / part
        elif word == "once":
            return None
        else:
            return None
    return sign * (total + current) if seen else None


_ARTICLE = re.compile(r"^(?:the|a|an) (?=\S)")
_SPACES = re.compile(r"[\s\-_~]+")
_DROPPED = re.compile(
    r"\\(?:text|textbf|mathrm|mathbf|textit|textrm|left|right|displaystyle|operatorname|boxed)\b|\\[ ,;!]"
    r"|[{}$*\"'`()\\.,;:!?]"
)


def fold(text: str) -> str:
    """Text for comparing as text: no TeX, no punctuation, no case; phrases that mean the same become one."""
    plain = _SPACES.sub(" ", _DROPPED.sub(" ", text)).strip().casefold()
    plain = _CANON.get(plain, plain)
    plain = _DAYS.get(plain, plain)
    shorter = _ARTICLE.sub("", plain)
    return _CANON.get(shorter, shorter)


_DATE = (
    re.compile(r"(?P<month>[a-z]{3,9})\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>\d{4}))?"),
    re.compile(r"(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?(?: of)? (?P<month>[a-z]{3,9})\.?(?:,? (?P<year>\d{4}))?"),
    re.compile(r"(?P<month>[a-z]{3,9})\.?,? (?P<year>\d{4})"),
)
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")


def date(text: str) -> tuple[int | None, int, int | None] | None:
    """(year, month, day) of a date with a month's name, or an ISO date."""
    plain = " ".join(text.casefold().replace(",", " ").split())
    iso = _ISO.fullmatch(plain)
    if iso and 1 <= int(iso.group(2)) <= 12:
        return int(iso.group(1)), int(iso.group(2)), int(iso.group(3))
    for pattern in _DATE:
        match = pattern.fullmatch(plain)
        if match and match.group("month") in MONTHS:
            parts = match.groupdict()
            year, day = parts.get("year"), parts.get("day")
            return int(year) if year else None, MONTHS[parts["month"]], int(day) if day else None
    return None


def clock(text: str) -> tuple[int, int, int, str] | None:
    """(hour, minute, second, half of the day or nothing) of a time of day. Whole hours need ``am``, ``pm`` or
    o'clock."""
    plain = " ".join(text.casefold().split())
    half = ""
    for suffix, mark in (
        ("a.m.", "a"),
        ("p.m.", "p"),
        ("a.m", "a"),
        ("p.m", "p"),
        ("am", "a"),
        ("pm", "p"),
        ("noon", "p"),
        ("o'clock", " "),
    ):
        if plain.endswith(suffix):
            plain, half = plain[: -len(suffix)].strip(), mark
            break
    parts = plain.replace(" : ", ":").split(":")
    if (
        not 1 <= len(parts) <= 3
        or not all(part.isdigit() and len(part) <= 2 for part in parts)
        or (len(parts) == 1 and not half)
    ):
        return None
    if any(len(part) != 2 for part in parts[1:]):
        return None
    hour, minute, second = (int(parts[index]) if index < len(parts) else 0 for index in range(3))
    if hour > 24 or minute > 59 or second > 59:
        return None
    if half in ("a", "p") and hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    return hour, minute, second, half.strip()
