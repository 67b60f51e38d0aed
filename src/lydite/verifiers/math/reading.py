"""From the text of an answer to the answer."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from lydite.verifiers.math import words
from lydite.verifiers.math.answer import Answer
from lydite.verifiers.math.nodes import Node, NotMathError, TooBigError, num
from lydite.verifiers.math.normalise import normalise, trim
from lydite.verifiers.math.structure import structure
from lydite.verifiers.math.tokens import tokenize
from lydite.verifiers.math.units import Unit, currency, name_temperatures, parse_unit

MAX_CHARS = 4000

_FAST = re.compile(
    r"(-)?(\\?\$)?\s?(-)?(\d{1,15}|\d{1,3}(?:,\d{3}){1,6})(\.\d{1,15})?(?:/(\d{1,15}))?(\s?\\?%)?|(-)?\\[dt]?frac\s?\{(-?\d{1,15})\}\s?\{(\d{1,15})\}"
)
_SPACE = re.compile(r"\s+|\\(?:left|right|displaystyle|,|;|!|quad|qquad)(?![A-Za-z])\s*|~")
_GAP = re.compile(r"(?<=\d)(?:\s|\\[ ,;!]|~)+(?=\d)")  # 4 2 is not 42
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|between|either|unless|except|otherwise|any (?:other )?(?:value"
    r"|number|of)|could be|might|not sure"
    r"|somewhere|something|not)\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"[(\[]?([A-Z])[)\].]?")
_CHOSEN = re.compile(r"(?:[(\[]([A-J])[)\]][.:]?|([A-J])[).:])\s*(?=\S)")
_UNWRAP = re.compile(r"\\(?:text[a-z]{0,6}|math(?:rm|bf|it|sf|tt)|mbox|bf|rm|operatorname)\b\s?|\\[ ,;!]|[{}$~*]")
_TOLD = re.compile(
    r"(?:\\(?:text|textbf|mathrm)\s?\{\s?)?(?:(?:so|thus|hence|therefore),?\s)?(?:the\s|my\s)?(?:final\s|correct\s)?"
    r"answer(?:\sis)?\s?[:=]?\s?\}?\s?(?=\S)",
    re.IGNORECASE,
)


def read(text: str, thousands: bool = True) -> Answer:
    """The answer that a text states. Never raises; a text that says nothing is of kind ``none``.

    Args:
        text: an answer, as extracted.
        thousands: whether ``1,250`` is one number (else a list of two).
    """
    if len(text) > MAX_CHARS:
        return Answer("big", "")
    return _cached(text, thousands) if len(text) <= 200 else _parsed(text, thousands)


@lru_cache(maxsize=8192)
def _cached(text: str, thousands: bool) -> Answer:
    return _parsed(text, thousands)


def _parsed(text: str, thousands: bool) -> Answer:
    if thousands:
        fast = _FAST.fullmatch(text)
        if fast is not None:
            return _plain_number(text, fast)
    clean = trim(name_temperatures(normalise(text)))
    if thousands:
        fast = _FAST.fullmatch(clean)
        if fast is not None:
            return _plain_number(clean, fast)
    raw = _SPACE.sub("", _GAP.sub("_", clean))
    if not any(char.isalnum() or char == "\\" for char in raw) and raw not in ("{}",):
        return Answer("none", raw)
    try:
        return _read(clean, raw, thousands)
    except TooBigError:
        return Answer("big", raw)
    except NotMathError:
        told = _TOLD.match(clean)
        return (
            read(clean[told.end() :], thousands) if told is not None and told.end() < len(clean) else _text(clean, raw)
        )
    except RecursionError:
        return Answer("big", raw)


def _plain_number(text: str, match: re.Match[str]) -> Answer:
    minus, sign, inner, whole, point, below, percent, minus_frac, top, bottom = match.groups()
    if top is not None:
        if int(bottom) == 0:
            return Answer("false", text)
        value = Fraction(int(top), int(bottom))
        return Answer("rational", text, num(-value if minus_frac else value))
    value = Fraction(whole.replace(",", "") + point) if point else Fraction(int(whole.replace(",", "")))
    kind = "decimal" if point else "integer"
    if below is not None:
        if int(below) == 0:
            return Answer("false", text)
        value, kind = value / int(below), "rational"
    if minus or inner:
        value = -value
    if percent:
        return Answer("percent", text, num(value))
    if sign:
        return Answer("quantity", text, num(value), currency("$"))
    return Answer(kind, text, num(value))


def _read(clean: str, raw: str, thousands: bool) -> Answer:
    plain = (
        " ".join(_UNWRAP.sub(" " if "~" in clean else "", clean).split())
        if "\\" in clean or "{" in clean or "$" in clean
        else clean
    )
    plain = plain.strip(" .,")
    single = _CHOICE.fullmatch(plain)
    if single is not None:
        return Answer("choice", raw, Node("sym", (single.group(1),)), data=single.group(1))
    chosen = _CHOSEN.match(plain)
    if chosen is not None and not plain[chosen.end() :].startswith(("=", "-", "+", "/", "^")):
        rest = clean[clean.index(chosen.group(1) or chosen.group(2)) + 1 :].lstrip("}) ].:")
        return Answer(
            "choice",
            raw,
            None,
            items=(read(rest.strip()),) if rest.strip() else (),
            data=chosen.group(1) or chosen.group(2),
        )
    wordy = (
        any(len(word) > 2 and word.isalpha() for word in re.split(r"[\s\-]+", plain))
        if " " in plain or plain.isalpha() or "-" in plain
        else False
    )
    if ":" in plain or plain[-1:] in "mM.":
        time = words.clock(plain)
        if time is not None:
            return Answer("time", raw, data=time)
    if wordy or plain.count("-") == 2:
        day = words.date(plain)
        if day is not None:
            return Answer("date", raw, data=day)
        if len(plain) < 200 and not any(char.isdigit() for char in plain):
            spoken = re.split(r"[\s\-]+", plain.casefold().replace(",", ""))
            value = words.number_words(spoken)
            if value is not None:
                return Answer("integer" if value.denominator == 1 else "rational", raw, num(value))
            counted = _counted(spoken)
            if counted is not None:
                return Answer("quantity", raw, num(counted[0]), counted[1])
        phrase = words.fold(clean)
        if phrase in (words.NO_SOLUTION, words.ALL_REALS):
            return Answer("set", raw, Node("set") if phrase == words.NO_SOLUTION else Node("named", ("R",)))
        if _HEDGE.search(plain):
            return Answer("text", raw, data=phrase, hedged=True)
    answer = structure(tokenize(clean, thousands), raw)
    if answer is None:
        raise NotMathError
    return answer


def _text(clean: str, raw: str) -> Answer:
    folded = words.fold(clean)
    return Answer("text", raw, data=folded) if folded else Answer("none", raw)


def _counted(spoken: list[str]) -> tuple[Fraction, Unit] | None:
    """``seven apples``: a number in words and what it counts."""
    for size in range(min(len(spoken) - 1, 8), 0, -1):
        value = words.number_words(spoken[:size])
        if value is not None:
            unit = parse_unit(" ".join(spoken[size:]))
            return (value, unit) if unit is not None else None
    return None
