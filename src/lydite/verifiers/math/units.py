"""Units: what they measure and how much of it. A word that is no known unit names what is counted."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple


class Unit(NamedTuple):
    """A product of powers.

    Attributes:
        dims: sorted (dimension, exponent) pairs; what is counted has the dimension ``of:word``.
        factor: size in the dimension's base unit.
        zero: where the scale starts, in the base unit; other than 0 for temperatures alone.
    """

    dims: tuple[tuple[str, int], ...]
    factor: Fraction = Fraction(1)
    zero: Fraction = Fraction(0)


NONE = Unit(())
DEGREE = Unit((("angle", 1),))
DOLLAR = Unit((("$", 1),))
TEMPERATURE = (("temperature", 1),)

_BASE: dict[str, tuple[str, int, Fraction]] = {}


def _define(dimension: str, exponent: int, **names: int | float | str | Fraction) -> None:
    for written, factor in names.items():
        _BASE[written] = (dimension, exponent, Fraction(str(factor)))


_define(
    "m", 1, mm="0.001", millimeter="0.001", millimetre="0.001", cm="0.01", centimeter="0.01", centimetre="0.01",
    dm="0.1", m=1, meter=1, metre=1, km=1000, kilometer=1000, kilometre=1000, nm="1e-9", inch="0.0254",
    ft="0.3048", foot="0.3048", feet="0.3048", yd="0.9144", yard="0.9144", mi="1609.344", mile="1609.344",
)  # fmt: skip
_BASE["in"] = _BASE["inch"]
_define(
    "g", 1, mg="0.001", milligram="0.001", g=1, gram=1, kg=1000, kilogram=1000, kilo=1000, tonne=10**6,
    lb="453.59237", pound="453.59237", oz="28.349523125", ounce="28.349523125",
)  # fmt: skip
_define(
    "s",
    1,
    ms="0.001",
    millisecond="0.001",
    s=1,
    sec=1,
    second=1,
    min=60,
    minute=60,
    h=3600,
    hr=3600,
    hour=3600,
    day=86400,
    week=604800,
)
_define("month", 1, month=1, year=12, yr=12, decade=120, century=1200)
_define(
    "m", 3, L="0.001", l="0.001", liter="0.001", litre="0.001", mL="0.000001", ml="0.000001",
    milliliter="0.000001", millilitre="0.000001", cc="0.000001",
)  # fmt: skip
_define("m", 2, hectare=10**4, acre="4046.8564224")
_define("gallon", 1, gallon=1, gal=1, quart="0.25", qt="0.25", pint="0.125", pt="0.125", cup="0.0625")
_define("$", 1, dollar=1, usd=1, buck=1, cent="0.01", penny="0.01", pennie="0.01", dime="0.1", nickel="0.05")
_BASE["¢"] = _BASE["cent"]
_define("€", 1, euro=1, eur=1)
_define("£", 1, gbp=1, pence="0.01")
_define("rupee", 1, rs=1, rupee=1, inr=1, paise="0.01")
_define("yen", 1, yen=1, jpy=1)
_define("yuan", 1, yuan=1, rmb=1, cny=1)
_define("angle", 1, degree=1, deg=1)
_define("radian", 1, radian=1, rad=1)
_define("N", 1, N=1, newton=1, kN=1000)
_define("J", 1, J=1, joule=1, kJ=1000, MJ=10**6)
_define("W", 1, W=1, watt=1, kW=1000, MW=10**6)
_define("V", 1, V=1, volt=1, kV=1000, mV="0.001")
_define("A", 1, A=1, amp=1, ampere=1, mA="0.001")
_define("coulomb", 1, C=1, coulomb=1)
_define("Hz", 1, Hz=1, hertz=1, kHz=1000)
_define("Pa", 1, Pa=1, kPa=1000, pascal=1, MPa=10**6)
_DERIVED: dict[str, tuple[int, tuple[tuple[str, int], ...]]] = {
    "N": (1000, (("g", 1), ("m", 1), ("s", -2))),
    "Pa": (1000, (("g", 1), ("m", -1), ("s", -2))),
    "J": (1000, (("g", 1), ("m", 2), ("s", -2))),
    "W": (1000, (("g", 1), ("m", 2), ("s", -3))),
    "V": (1000, (("g", 1), ("m", 2), ("s", -3), ("A", -1))),
}
"""Units that are products of others, with the factor to grams, metres and seconds."""
_define("temperature", 1, celsius=1, centigrade=1, fahrenheit="5/9", kelvin=1)
_ZEROS = {
    "celsius": Fraction(0),
    "centigrade": Fraction(0),
    "fahrenheit": Fraction(-160, 9),
    "kelvin": Fraction(-27315, 100),
}
_DEGREES = re.compile(
    r"(?:\{\}\s?)?(?:\^\s?)?(?:°|\\(?:circ|degree|textdegree)(?![A-Za-z])|\{\s?(?:°|\\circ)\s?\}|\bdeg(?:rees?)?(?![A-Za-z]))"
    r"[\s~]{0,3}(?:\\[,;! ]\s?)?(?:\\(?:text|mathrm|textrm|mbox|rm)\s?)?"
    r"(?:\{\s{0,3}([A-Za-z]{1,10})\s{0,3}\}|([A-Za-z]{1,10}))(?![A-Za-z])"
)
_SCALES = {"c": "celsius", "f": "fahrenheit"}
_COMPOUND = {
    "mph": "mi/h",
    "kph": "km/h",
    "kmh": "km/h",
    "kmph": "km/h",
    "bpm": "beat/min",
    "rpm": "rev/min",
    "sqft": "ft^2",
}
_SYMBOLS = {
    "€": Unit((("€", 1),)),
    "£": Unit((("£", 1),)),
    "¥": Unit((("yen", 1),)),
    "₹": Unit((("rupee", 1),)),
    "$": DOLLAR,
}
KNOWN = frozenset(name for name in _BASE if name.isalpha() and len(name) > 1) | frozenset(_COMPOUND)
"""Names of units of two letters or more."""
CURRENCIES = frozenset("$€£¥₹")
_ORDINALS = frozenset(["st", "nd", "rd", "th"])
_MUTE = frozenset(["unit", "of", "the", "a", "an", "each", "total", "altogether", "in", "ones", "exactly", "more", "x"])
_PIECE = re.compile(r"[A-Za-z]+|[€£¥₹$¢]|\^\s?\{?(-?\d)\}?|[/·*]|[-\s.,()]+|\d")


def currency(sign: str) -> Unit:
    """The unit of a currency sign."""
    return _SYMBOLS[sign]


def singular(word: str) -> str:
    """A word without its plural ending, roughly."""
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith("ss") else word


def _lookup(word: str) -> tuple[str, int, Fraction] | None:
    for form in (word, singular(word), word.lower(), singular(word.lower())):
        if form in _BASE:
            return _BASE[form]
    return None


def name_temperatures(text: str) -> str:
    r"""A text with ``°C``, ``^\circ\text{F}``, ``degrees C`` and the like written out: celsius, fahrenheit."""
    return _DEGREES.sub(_named, text) if "circ" in text or "deg" in text or "°" in text else text


def _named(match: re.Match[str]) -> str:
    word = match.group(1) or match.group(2)
    name = _SCALES[word.lower()] if word in ("C", "F") else word.lower()
    return f" {name} " if name in _ZEROS else match.group()


# Words behind a number that make it another one, or a bound: what they name is no unit.
_CHANGING = frozenset([
    "factorial", "halves", "thirds", "quarters", "fourths", "fifths", "sixths", "sevenths", "eighths",
    "ninths", "tenths", "hundredths", "thousandths", "least", "most", "than", "twice", "minus", "plus",
    "choose", "mod", "modulo", "negative", "not", "is", "are", "was", "wrong", "incorrect", "false", "or", "maybe",
    "if", "unless", "except", "but",
])  # fmt: skip
# Alone these change it as well; before a noun they are a part of what is counted: half dollars, third graders.
_FRACTIONS = frozenset([
    "half", "third", "quarter", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "double", "triple", "root", "squared", "cubed", "dozen", "hundred", "thousand", "million", "billion",
    "trillion",
])  # fmt: skip


def parse_unit(text: str) -> Unit | None:
    """The unit that a text such as ``km/h``, ``square cm``, ``m/s^2``, ``miles per hour`` or ``red apples`` names.

    ``None`` when the text is no unit. ``units`` and the like are no information: ``NONE``.
    """
    return _known(text) if len(text) <= 40 else _parsed(text)


@lru_cache(maxsize=4096)
def _known(text: str) -> Unit | None:
    return _parsed(text)


def _parsed(text: str) -> Unit | None:
    if len(text) > 120:
        return None
    if not text:
        return NONE
    text = name_temperatures(text)
    dims: dict[str, int] = {}
    factor = Fraction(1)
    sign, boost = 1, 1
    nouns: list[str] = []
    last: tuple[str, int, Fraction, int] | None = None
    at = 0
    while at < len(text):
        match = _PIECE.match(text, at)
        if match is None:
            return None
        piece, at = match.group(), match.end()
        lower = piece.lower()
        if piece[0].isspace() or piece[0] in "-.,()":
            continue
        if piece == "/" or lower == "per" or (lower in ("a", "an", "each", "every") and last is not None):
            sign = -1
            continue
        if piece in "·*":
            continue
        if lower in ("square", "sq", "cubic", "cu"):
            boost = 2 if lower[0] == "s" else 3
            continue
        power = (
            int(match.group(1))
            if match.group(1)
            else {"squared": 2, "cubed": 3}.get(lower, int(piece) if piece in "23" else 0)
        )
        if power:
            if last is None:
                return None
            name, exponent, size, direction = last
            dims[name] += exponent * (power - 1) * direction
            factor *= size ** ((power - 1) * direction)
            last = None
            continue
        if piece.isdigit():
            return None
        if _COMPOUND.get(lower):
            inner = parse_unit(_COMPOUND[lower])
            if inner is not None:
                for name, exponent in inner.dims:
                    dims[name] = dims.get(name, 0) + exponent * sign
                factor *= inner.factor**sign
            continue
        found = ("$" if piece == "$" else piece, 1, Fraction(1)) if piece in CURRENCIES else _lookup(piece)
        if found is None:
            if (
                lower in _CHANGING
                or (lower in _ORDINALS and not nouns)
                or (lower in _FRACTIONS and not nouns and not text[at:].strip(" ."))
            ):
                return None
            if lower not in _MUTE and singular(lower) not in _MUTE:
                nouns.append(singular(lower))
            elif singular(lower) == "unit":
                dims["unit"], last = 0, ("unit", 0, Fraction(1), sign)
            boost = 1
            continue
        name, exponent, size = found
        exponent, size = exponent * boost, size**boost
        dims[name] = dims.get(name, 0) + exponent * sign
        factor *= size**sign
        last, boost = (name, exponent, size, sign), 1
    if boost != 1:
        return None
    if nouns:
        dims["of:" + " ".join(nouns)] = 1
    for name in [name for name in dims if name in _DERIVED]:
        exponent = dims.pop(name)
        grams, parts = _DERIVED[name]
        factor *= Fraction(grams) ** exponent
        for part, times in parts:
            dims[part] = dims.get(part, 0) + times * exponent
    pairs = tuple(sorted((name, exponent) for name, exponent in dims.items() if exponent))
    # Per degree, and a degree per hour, are differences: these have no zero.
    return Unit(
        pairs,
        factor,
        _ZEROS.get(singular(text.strip(" .").lower()), Fraction(0)) if pairs == TEMPERATURE else Fraction(0),
    )


def agree(a: Unit | None, b: Unit | None) -> Fraction | None:
    """The factor from ``a`` to ``b`` where they measure the same; ``None`` where they do not. A missing unit is
    forgiven."""
    if a is None or b is None or not a.dims or not b.dims:
        return Fraction(1)
    if a.dims == b.dims:
        return a.factor / b.factor
    pure_a, nouns_a = _split(a)
    pure_b, nouns_b = _split(b)
    if pure_a == pure_b and (not nouns_a or not nouns_b or nouns_a <= nouns_b or nouns_b <= nouns_a):
        return a.factor / b.factor
    return None


def _split(unit: Unit) -> tuple[tuple[tuple[str, int], ...], set[str]]:
    pure = tuple(item for item in unit.dims if not item[0].startswith("of:"))
    nouns = {word for name, _ in unit.dims if name.startswith("of:") for word in name[3:].split()}
    return pure, nouns
