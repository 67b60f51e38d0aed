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
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14,
    "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20,
    "thirtieth": 30, "fortieth": 40, "fiftieth": 50, "sixtieth": 60, "seventieth": 70, "eightieth": 80,
    "ninetieth": 90, "hundredth": 100, "thousandth": 1000, "millionth": 10**6,
}  # fmt: skip
_PARTS |= {"halves": 2}
_FIRST = frozenset([*_UNITS, *_TENS, *SCALES, *_PARTS, "a", "an", "minus", "negative", "point"])
MONTHS = {
    name: index + 1
    for index, name in enumerate(
        _split("january february march april may june july august september october november december")
    )
}
MONTHS |= {name[:3]: index for name, index in MONTHS.items()} | {"sept": 9}
_DAYS = {day[:3]: day for day in _split("monday tuesday wednesday thursday friday saturday sunday")}
_DAYS |= {"tues": "tuesday", "wed": "wednesday", "thur": "thursday", "thurs": "thursday"}
_DAYS |= {name[:3]: name for name, index in MONTHS.items() if len(name) > 3} | {"sept": "september"}
_ON = re.compile(r"^(?:on|in) (?:a )?(?=\w+$)")
_SAME = (
    (
        "no solution", "no solutions", "no real solution", "no real solutions", "there is no solution",
        "there are no solutions", "no such solution", "no solution exists", "no solutions exist",
        "no real solution exists", "emptyset", "empty set", "the empty set",
    ),
    ("does not exist", "dne", "doesn't exist", "doesnt exist", "the limit does not exist", "limit does not exist"),
    (
        "infinitely many", "infinitely many solutions", "infinite solutions", "infinite",
        "infinite number of solutions", "infinitely",
    ),
    ("all real numbers", "all reals", "all real values", "every real number", "any real number", "all real x"),
    ("undefined", "not defined"), ("equal", "they are equal", "the same"),
    ("infinity", "infty", "+infty", "+infinity", "positive infinity"),
    ("-infinity", "-infty", "negative infinity", "minus infinity", "- infinity", "- infty"),
)  # fmt: skip
_CANON = {phrase: group[0] for group in _SAME for phrase in group}
NUMBER_SETS = {
    f"{start}{sign}{kind}": name
    for start in ("", "all ", "the ", "all the ")
    for sign, mark in (("positive ", "+"), ("negative ", "-"), ("non negative ", "+0"), ("nonnegative ", "+0"),
                       ("non positive ", "-0"), ("nonpositive ", "-0"), ("nonzero ", "*"), ("non zero ", "*"))
    for kind, name in (("real numbers", "R" + mark), ("reals", "R" + mark))
} | {f"{start}{kind}": name for start in ("", "all ", "the ") for kind, name in
     (("integers", "Z"), ("natural numbers", "N"), ("rational numbers", "Q"), ("complex numbers", "C"))}  # fmt: skip
NO_SOLUTION, ALL_REALS = "no solution", "all real numbers"


def number_words(words: list[str]) -> Fraction | None:
    """The value of a number in words: ``a hundred and five``, ``two thirds``, ``one and a half``, ``two dozen``."""
    if not words or len(words) > 24:
        return None
    if words[0] in ("minus", "negative"):
        value = number_words(words[1:])
        return None if value is None else -value
    if words[0] not in _FIRST:
        return None
    if "point" in words:
        return _decimal(words)
    scale = SCALES.get(words[-1].removesuffix("s"))
    if scale and any(_part(word) for word in words[:-1]):  # half a million, two and a half thousand
        head = words[:-1]
        value = number_words(head[:-1] if head[-1] in ("a", "an") else head)
        return None if value is None else value * scale
    part = _part(words[-1])
    return _whole(words) if part is None else _fraction(words[:-1], words[-1], part)


def _part(word: str) -> int | None:
    return _PARTS.get(word) or _PARTS.get(word.removesuffix("s"))


def _decimal(words: list[str]) -> Fraction | None:
    """two point five, three point one four million"""
    at = words.index("point")
    scale = SCALES.get(words[-1].removesuffix("s"))
    digits = [_UNITS.get(word, 10) for word in (words[at + 1 : -1] if scale else words[at + 1 :])]
    whole = _whole(words[:at]) if at else Fraction(0)
    if whole is None or not digits or max(digits) > 9:
        return None
    return (whole + Fraction(int("".join(map(str, digits))), 10 ** len(digits))) * (scale or 1)


def _fraction(head: list[str], last: str, part: int) -> Fraction | None:
    """three quarters, two and a half; "twenty third" is an ordinal number and no fraction."""
    if not head:
        return Fraction(1, part) if last in ("half", "quarter") else None
    one = ("a", "an", "one")
    if "and" in head:
        at = len(head) - 1 - head[::-1].index("and")
        whole, rest = _whole(head[:at]), head[at + 1 :]
        if whole is not None and rest:
            top = Fraction(1) if len(rest) == 1 and rest[0] in one else _whole(rest)
            if top is not None and 0 < top < part:
                return whole + top / part
    top = Fraction(1) if len(head) == 1 and head[0] in one else _whole(head)
    return top / part if top is not None and (top == 1 or last.endswith("s")) else None


def _whole(words: list[str]) -> Fraction | None:
    """A whole number by the grammar of numerals: "four two" is none."""
    total = current = 0
    above = 10**15  # scales come in falling order
    for index, word in enumerate(words):
        last = index == len(words) - 1
        value = _UNITS.get(word) if word in _UNITS else _TENS.get(word)
        scale = SCALES.get(word.removesuffix("s"))
        if value is not None:
            fits = not current % 100 or (value < 10 and current % 100 >= 20 and not current % 10)
            if not fits or (not value and len(words) > 1):
                return None
            current += value
        elif word in ("a", "an") and not index and not last and words[1].removesuffix("s") in SCALES:
            current = 1
        elif word == "and" and index and not last and not current % 100:
            continue
        elif scale == 100 and (0 < current < 100 or not index):
            current = 100 * (current or 1)
        elif scale in (12, 20) and last and (current or word == "dozen"):
            current = scale * (current or 1)
        elif scale and scale >= 1000 and scale < above and (current or not index):
            total, current, above = total + scale * (current or 1), 0, scale
        else:
            return None
    return Fraction(total + current)


_ARTICLE = re.compile(r"^(?:the|a|an) (?=\S)")
_SAID = re.compile(
    r"(?:it is|it's|there (?:is|are|exists?)|the (?:statement|claim|assertion) is"
    r"|(?:the|this) (?:series|sequence|limit|integral))"
    r" (?=\w)"
)
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
    said = _SAID.match(plain)
    if said is not None:
        shorter = _ARTICLE.sub("", plain[said.end() :])
    if plain[:3] in ("on ", "in ") and (day := _ON.sub("", plain)) in _DAYS.values():
        return day
    return _CANON.get(shorter, shorter)


def listed(text: str) -> tuple[str, ...]:
    """Members of a list in words (``red, green and blue``), folded and sorted; empty where it is no list."""
    if "," not in text and ";" not in text and " and " not in text:
        return ()
    parts = [fold(part) for part in _JOINED.split(_TEX_TEXT.sub(" ", text))]
    return tuple(sorted(parts)) if len(parts) > 1 and all(parts) else ()


_JOINED = re.compile(r"\s*[,;]\s*(?:and\b)?|\s+and\s+")
_TEX_TEXT = re.compile(r"\\(?:text[a-z]{0,6}|mathrm|mbox|quad|qquad|,|;| )|[{}$]")
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


_HALVES = (
    ("a.m.", "a"), ("p.m.", "p"), ("a.m", "a"), ("p.m", "p"), ("am", "a"), ("pm", "p"), ("in the morning", "a"),
    ("in the afternoon", "p"), ("in the evening", "p"), ("at night", "p"), ("noon", "p"), ("midday", "p"),
    ("midnight", "m"), ("o'clock", " "),
)  # fmt: skip


def clock(text: str) -> tuple[int, int, int, str] | None:
    """(hour, minute, second, half of the day or nothing) of a time of day. Whole hours need ``am``, ``pm`` or
    o'clock. The half is ``a`` or ``p``; with either the hour is that of 24."""
    plain = " ".join(text.casefold().split())
    half = ""
    for suffix, mark in _HALVES:
        if plain.endswith(suffix):
            plain, half = plain[: -len(suffix)].strip(), mark
            break
    if half and not plain and mark in ("p", "m") and suffix in ("noon", "midday", "midnight"):
        plain = "12"
    if half == "m":
        half = "a" if plain.startswith("12") else ""
    if not half and " : " in plain:
        return None  # a ratio
    if ":" in plain:
        plain = plain.removesuffix("hours").removesuffix("hrs").removesuffix(" h").strip()
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
