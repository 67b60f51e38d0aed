"""Numbers in plain notation, with a sign, a dollar or a percent sign: read in one look."""

from __future__ import annotations

import re
from fractions import Fraction

from lydite.verifiers.math.answer import Answer
from lydite.verifiers.math.nodes import num
from lydite.verifiers.math.units import currency

FAST = re.compile(
    r"(-)?(\\?\$)?\s?(-)?(\d{1,15}|\d{1,3}(?:,\d{3}){1,6})(\.\d{1,15})?(?:/(\d{1,15}))?(\s?\\?%)?|(-)?\\[dt]?frac\s?\{(-?\d{1,15})\}\s?\{(\d{1,15})\}"
)
MEASURED = re.compile(r"(\d{1,15}|\d{1,3}(?:,\d{3}){1,4})(\.\d{1,15})? ?\\text\{ ?([A-Za-z]{2,14})\}", re.ASCII)
"""A number with the name of a unit."""


def plain_number(text: str, match: re.Match[str]) -> Answer:
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
