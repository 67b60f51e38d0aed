r"""Notations that are a whole answer of their own: numerals of a base, durations, minutes of arc, choices of k from n.

Also intervals with outward brackets (``]0, 1[``), which are rewritten to ``(0, 1)``.
"""

from __future__ import annotations

import re
from fractions import Fraction

from lydite.verifiers.math.answer import Answer
from lydite.verifiers.math.nodes import Node, num
from lydite.verifiers.math.units import DEGREE, parse_unit
from lydite.verifiers.math.words import number_words

_WRAP = r"(?:\\(?:text|mathrm|mathtt|texttt|textrm|mathbf|textbf)\s?)?"
_BASED = re.compile(
    rf"\(?{_WRAP}\{{?\(?(?P<digits>[0-9A-Za-z](?:[0-9A-Za-z]|\{{?,\}}?(?=\d{{3}})|\\,|[ ~]){{0,80}})\)?\}}?\)?\s?"
    rf"(?:_\s?{_WRAP}(?:\d|\{{\s?\(?{_WRAP}\{{?\s?(?P<base>\d{{1,2}}|[a-z]{{3,9}})\s?\}}?\)?\s?\}})"
    rf"|\\?[ ,;]?\s?{_WRAP}\{{?\s?\(?\s?(?:in )?base[\s-]{{0,2}}\}}?\s?\$?(?P<named>\d{{1,2}}|[a-z]{{3,9}})"
    r"\$?\s?\)?\s?\}?)"
)
_PREFIXED = re.compile(r"0([xXbBoO])([0-9A-Fa-f]{1,64})")
_PREFIXES = {"x": 16, "b": 2, "o": 8}
_DURATION = re.compile(
    r"(\d{1,6}) ?(?:h|hr|hrs|hour|hours)\.?,?(?: and)? ?(\d{1,4}) ?(?:m|min|mins|minute|minutes)\.?"
    r"(?:,?(?: and)? ?(\d{1,4}) ?(?:s|sec|secs|second|seconds)\.?)?"
    r"|(\d{1,6}) ?(?:m|min|mins|minute|minutes)\.?,?(?: and)? ?(\d{1,4}) ?(?:s|sec|secs|second|seconds)\.?"
)
_ARC = re.compile(
    r"(-?\d{1,6})\s?\^?\s?\{?\\(?:circ|degree)\s?\}?\s?(\d{1,2})\s?(?:'|\^?\s?\{?\\prime\}?)"
    r"\s?(?:(\d{1,2})\s?(?:''|\"|\^?\s?\{?\\prime\s?\\prime\}?))?"
)
_CHOOSE = re.compile(
    r"(?:\{\s?\})?(?:\^|_)?\s?\{?\s?(\d{1,4})\s?\}?\s?(?:\\(?:mathrm|text)\s?\{\s?)?([CP])\}?\s?_\s?\{?\s?(\d{1,4})\s?\}?"
)
_RAISED = re.compile(r"\^\s?\{?\s?(\d{1,9})\s?\}?\s?/\s?_\s?\{?\s?(\d{1,9})\s?\}?")
_MIXED = re.compile(r"(\d{1,9}) and ([a-z][a-z\- ]{3,40})", re.IGNORECASE)
_BRACKETS = re.compile(r"[][()]")
_REPEATING = re.compile(r"(\d*)\.(\d{1,12})(?:\.\.\.)? ?(?:repeating|recurring)", re.IGNORECASE)
_OUT_OF = re.compile(r"(\d{1,9}) (?:out of|in) (?:every )?(\d{1,9})")
_HOUR, _MINUTE = parse_unit("hours"), parse_unit("minutes")


def special(clean: str, plain: str, raw: str) -> Answer | None:
    """The answer in one of these notations, ``None`` where the text is none of them.

    A literal such as ``0x2A`` has the label ``0x``: it answers a gold in that base, and no plain number.

    Args:
        clean: the normalised text.
        plain: the same without TeX dressing.
        raw: what identifies the answer.
    """
    if "_" in clean or "base" in clean:
        if clean[0] in "^_{":
            return _choose(clean, raw) or _raised(clean, raw) or _based(clean, raw)
        return _based(clean, raw) or _choose(clean, raw)
    first = plain[:1]
    if not (first.isdigit() or first == "-"):
        return None
    if first == "0" and (prefixed := _PREFIXED.fullmatch(plain)):
        found = numeral(prefixed.group(2), _PREFIXES[prefixed.group(1).lower()], raw)
        return None if found is None else found._replace(label="0x")
    if "circ" in clean or "degree" in clean:
        return _arc(clean, raw)
    if " out of " in plain or " in " in plain:
        return _out_of(plain, raw)
    if plain[-3:] == "ing":
        return _repeating(plain, raw)
    if " and " in plain:
        return _mixed(plain, raw) or _duration(plain, raw)
    return _duration(plain, raw)


def _out_of(plain: str, raw: str) -> Answer | None:
    """2 out of 7"""
    match = _OUT_OF.fullmatch(plain)
    if match is None or int(match.group(2)) == 0:
        return None
    return Answer("rational", raw, num(Fraction(int(match.group(1)), int(match.group(2)))))


def _repeating(plain: str, raw: str) -> Answer | None:
    """0.4 repeating"""
    match = _REPEATING.fullmatch(plain)
    if match is None:
        return None
    whole, period = match.groups()
    return Answer("rational", raw, num(int(whole or 0) + Fraction(int(period), 10 ** len(period) - 1)))


def _raised(clean: str, raw: str) -> Answer | None:
    """^5/_6"""
    match = _RAISED.fullmatch(clean)
    if match is None or int(match.group(2)) == 0:
        return None
    return Answer("rational", raw, num(Fraction(int(match.group(1)), int(match.group(2)))))


def _mixed(plain: str, raw: str) -> Answer | None:
    """5 and a half"""
    match = _MIXED.fullmatch(plain)
    part = number_words(re.split(r"[\s\-]+", match.group(2).casefold())) if match is not None else None
    if match is None or part is None or not 0 < part < 1:
        return None
    return Answer("rational", raw, num(int(match.group(1)) + part))


def numeral(digits: str, base: int, raw: str) -> Answer | None:
    """Digits in a base; ``None`` where the base has no such digits, or letters are a name with an index (``S_12``)."""
    if not 2 <= base <= 36 or len(digits) > 100:
        return None
    if any(char.isalpha() for char in digits) and (base < 11 or (len(digits) < 2 and not digits[0].isdigit())):
        return None
    if not digits[0].isdigit() and not digits.isupper():
        return None
    try:
        value = int(digits, base)
    except ValueError:
        return None
    return Answer("base", raw, Node("base", (value, base, digits.upper())))


def _based(clean: str, raw: str) -> Answer | None:
    match = _BASED.fullmatch(clean)
    if match is None:
        return None
    digits = "".join(char for char in match.group("digits") if char.isalnum())
    told = match.group("base") or match.group("named") or clean.rstrip(" )}")[-1]
    if told.isdigit():
        base = int(told)
    else:
        spoken = number_words([told])
        if spoken is None or spoken.denominator != 1:
            return None
        base = int(spoken)
    return numeral(digits, base, raw)


def _duration(plain: str, raw: str) -> Answer | None:
    match = _DURATION.fullmatch(plain)
    if match is None:
        return None
    hours, minutes, seconds, only_minutes, only_seconds = (int(part or 0) for part in match.groups())
    if match.group(1):
        if minutes > 59 or seconds > 59:
            return None
        return Answer("quantity", raw, num(Fraction(hours * 3600 + minutes * 60 + seconds, 3600)), _HOUR)
    return (
        None if only_seconds > 59 else Answer("quantity", raw, num(only_minutes + Fraction(only_seconds, 60)), _MINUTE)
    )


def _arc(clean: str, raw: str) -> Answer | None:
    match = _ARC.fullmatch(clean)
    if match is None:
        return None
    degrees, minutes, seconds = (int(part or 0) for part in match.groups())
    if minutes > 59 or seconds > 59:
        return None
    parts = Fraction(minutes, 60) + Fraction(seconds, 3600)
    return Answer("quantity", raw, num(degrees - parts if clean.startswith("-") else degrees + parts), DEGREE)


def _choose(clean: str, raw: str) -> Answer | None:
    match = _CHOOSE.fullmatch(clean)
    if match is None:
        return None
    n, k = num(int(match.group(1))), num(int(match.group(3)))
    return Answer("expression", raw, Node("call", ("binom" if match.group(2) == "C" else "perm", (n, k))))


def inward(text: str) -> str:
    """Intervals with brackets that face outward, ``]0, 1[`` and ``[0, 1[``, with round ones: ``(0, 1)``, ``[0, 1)``.

    Where the brackets are balanced as they stand, the text stays as it is.
    """
    depth = 0
    for char in _BRACKETS.findall(text):
        depth += 1 if char in "([" else -1
        if depth < 0:
            break
    if depth == 0 or (text.count("[") + text.count("]")) % 2:
        return text
    out: list[str] = []
    inside = False
    for char in text:
        if char in "[]":
            char = (")" if char == "[" else "]") if inside else ("[" if char == "[" else "(")
            inside = not inside
        out.append(char)
    return "".join(out)
