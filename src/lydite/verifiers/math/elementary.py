"""Exponentials, logarithms, trigonometric functions and factorials of quotients.

Sines and cosines are sums of exponentials, so that every identity between polynomials in them holds term by term.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from lydite.verifiers.math import polynomial as poly
from lydite.verifiers.math import quotient as quo
from lydite.verifiers.math.nodes import UndefinedError
from lydite.verifiers.math.polynomial import ONE, Effort, Polynomial, give_up
from lydite.verifiers.math.quotient import Quotient

MAX_SHIFT = 20
"""Factors of (n + k)! / n! that are written out."""
MAX_FACTORIAL = 200

_I, _PI, _ONE = Quotient(poly.IMAGINARY), Quotient(poly.PI), Quotient(ONE)
_HALF_TURN = tuple(sorted([*next(iter(poly.IMAGINARY)), *next(iter(poly.PI))]))  # the monomial i pi


def exp(a: Quotient, effort: Effort) -> Quotient:
    """e to a sum: a product with one generator per term."""
    if a.bottom != ONE:
        size = poly.content(a.top) if a.top else Fraction(1)
        return Quotient(poly.generator(f"e{quo.name_of(quo.scale(a, 1 / size))}", None, size))
    result = _ONE
    for monomial, factor in a.top.items():
        if monomial == _HALF_TURN:
            part = Quotient(poly.unity(factor))
        elif len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0][0].startswith("fln("):
            part = quo.power(Quotient(dict(monomial[0][0][1])), factor, effort)
        else:
            part = Quotient(poly.generator(f"e{poly.name_of({monomial: Fraction(1)})}", monomial, factor))
        result = quo.multiply(result, part, effort)
    return result


def log(a: Quotient, effort: Effort) -> Quotient:
    """The natural logarithm: that of the numbers apart from that of the rest."""
    if not a.top:
        raise UndefinedError
    if a.bottom != ONE:
        give_up()
    size = poly.content(a.top)
    rest = poly.scale(a.top, 1 / size)
    total: Polynomial = {}
    for number, sign in ((size.numerator, 1), (size.denominator, -1)):
        for prime, count in poly.factors(number):
            total = poly.add(total, poly.scale(_log_of(poly.constant(prime)), sign * count))
    if rest == ONE:
        return Quotient(total)
    if len(rest) == 1:
        ((monomial, value),) = rest.items()
        if value < 0 and not monomial:
            return Quotient(poly.add(total, poly.multiply(poly.IMAGINARY, poly.PI, effort)))
        if value > 0 and all(quo.is_positive(base) for base, _ in monomial):
            for base, times in monomial:
                inner = {base[1]: Fraction(1)} if base[0][0] == "e" else _log_of({((base, 1),): Fraction(1)})
                if base[0][0] in "pq":
                    inner = _log_of(poly.constant(base[1]))
                total = poly.add(total, poly.scale(inner, Fraction(times)))
            return Quotient(total)
        if (
            value > 0 and len(monomial) == 1 and monomial[0][0][0][0] == "b"
        ):  # half the logarithm of what is under a root
            inner_log = log(Quotient(dict(monomial[0][0][1])), effort)
            return quo.add(Quotient(total), quo.scale(inner_log, Fraction(monomial[0][1])), effort)
    return Quotient(poly.add(total, _log_of(rest)))


def _log_of(p: Polynomial) -> Polynomial:
    return poly.generator(f"fln({poly.name_of(p)})", poly.frozen(p))


def power(base: Quotient, exponent: Quotient, effort: Effort) -> Quotient:
    """Any power: rational ones by roots, others as e^(exponent ln base)."""
    value = exponent.constant
    if value is not None:
        return quo.power(base, value, effort)
    return exp(quo.multiply(exponent, log(base, effort), effort), effort)


def _waves(a: Quotient, effort: Effort, unit: Quotient) -> tuple[Quotient, Quotient]:
    """e^z and e^-z for z = unit * a."""
    turned = quo.multiply(unit, a, effort)
    return exp(turned, effort), exp(quo.scale(turned, -1), effort)


def _cosine(a: Quotient, effort: Effort, unit: Quotient) -> Quotient:
    up, down = _waves(a, effort, unit)
    return quo.scale(quo.add(up, down, effort), Fraction(1, 2))


def _sine(a: Quotient, effort: Effort, unit: Quotient) -> Quotient:
    up, down = _waves(a, effort, unit)
    half = quo.scale(quo.add(up, quo.scale(down, -1), effort), Fraction(1, 2))
    return quo.divide(half, unit, effort)


def _arc(name: str, values: dict[str, Fraction]) -> Callable[[Quotient, Effort], Quotient]:
    """An odd function with known values, as multiples of pi."""

    def function(a: Quotient, effort: Effort) -> Quotient:
        if not a.top:
            return a
        first = min(a.top, key=poly.order)
        sign = 1 if a.top[first] > 0 else -1
        value = a.constant
        if name == "arctan" and value is not None and abs(value) > 1:
            rest = function(Quotient(poly.constant(1 / value)), effort)
            return quo.add(quo.scale(_PI, Fraction(sign, 2)), quo.scale(rest, -1), effort)
        told = quo.name_of(quo.scale(a, sign))
        if told in values:
            return quo.scale(_PI, sign * values[told])
        return Quotient(poly.scale(poly.generator(f"f{name}({told})"), sign))

    return function


def _told(value: Fraction, *roots: int) -> str:
    return poly.name_of(poly.scale(poly.prime_powers(math.prod(roots), Fraction(1, 2)), value))


_arctan = _arc(
    "arctan",
    {
        _told(Fraction(1)): Fraction(1, 4),
        _told(Fraction(1), 3): Fraction(1, 3),
        _told(Fraction(1, 3), 3): Fraction(1, 6),
    },
)
_arcsin = _arc(
    "arcsin",
    {
        _told(Fraction(1)): Fraction(1, 2),
        _told(Fraction(1, 2)): Fraction(1, 6),
        _told(Fraction(1, 2), 2): Fraction(1, 4),
        _told(Fraction(1, 2), 3): Fraction(1, 3),
    },
)


def _complement(function: Callable[[Quotient, Effort], Quotient]) -> Callable[[Quotient, Effort], Quotient]:
    return lambda a, effort: quo.add(quo.scale(_PI, Fraction(1, 2)), quo.scale(function(a, effort), -1), effort)


def absolute(a: Quotient, effort: Effort) -> Quotient:
    """The root of the square: symbols are real."""
    if a.bottom == ONE and any(base == ("i", None) for monomial in a.top for base, _ in monomial):
        return _modulus(a.top, effort)
    if not all(quo.is_real(monomial) for monomial in (*a.top, *a.bottom)):
        give_up()
    if a.bottom != ONE:
        top, bottom = absolute(Quotient(a.top), effort), absolute(Quotient(a.bottom), effort)
        return quo.divide(top, bottom, effort)
    if len(a.top) <= 1 and all(quo.is_positive(base) for monomial in a.top for base, _ in monomial):
        return Quotient({monomial: abs(value) for monomial, value in a.top.items()})
    return quo.power(quo.multiply(a, a, effort), Fraction(1, 2), effort)


def _modulus(p: Polynomial, effort: Effort) -> Quotient:
    """The absolute value of x + i y for real x and y."""
    parts: list[Polynomial] = [{}, {}]
    for monomial, value in p.items():
        rest = tuple(item for item in monomial if item[0] != ("i", None))
        if not quo.is_real(rest):
            give_up()
        parts[len(rest) < len(monomial)][rest] = value
    squares = [poly.multiply(part, part, effort) for part in parts]
    return quo.power(Quotient(poly.add(*squares)), Fraction(1, 2), effort)


def factorial(a: Quotient, effort: Effort) -> Quotient:
    """(n + k)! as n! and the k factors between, for a k that is written out."""
    value = a.constant
    if value is not None and value.denominator == 1 and 0 <= value <= MAX_FACTORIAL:
        return Quotient(poly.constant(math.factorial(int(value))))
    if a.bottom != ONE or value is not None:
        give_up()
    shift = math.floor(a.top.get((), Fraction(0)))
    if abs(shift) > MAX_SHIFT:
        give_up()
    start = Quotient(poly.add(a.top, poly.constant(-shift)))
    result = Quotient(poly.generator(f"ffact({poly.name_of(start.top)})"))
    for step in range(abs(shift)):
        factor = quo.add(start, Quotient(poly.constant(step + 1 if shift > 0 else -step)), effort)
        result = (quo.multiply if shift > 0 else quo.divide)(result, factor, effort)
    return result


def binomial(n: Quotient, k: Quotient, effort: Effort) -> Quotient:
    """n over k: written out for a small k, else by factorials."""
    few = k.constant
    if few is not None and few.denominator == 1 and 0 <= few <= MAX_SHIFT:
        result = _ONE
        for step in range(int(few)):
            factor = quo.scale(quo.add(n, Quotient(poly.constant(-step)), effort), Fraction(1, step + 1))
            result = quo.multiply(result, factor, effort)
        return result
    below = quo.multiply(factorial(k, effort), factorial(quo.add(n, quo.scale(k, -1), effort), effort), effort)
    return quo.divide(factorial(n, effort), below, effort)


def _ratio(
    over: Callable[[Quotient, Effort], Quotient], under: Callable[[Quotient, Effort], Quotient]
) -> Callable[[Quotient, Effort], Quotient]:
    return lambda a, effort: quo.divide(over(a, effort), under(a, effort), effort)


def _one(a: Quotient, effort: Effort) -> Quotient:
    return _ONE


def sin(a: Quotient, effort: Effort) -> Quotient:
    return _sine(a, effort, _I)


def cos(a: Quotient, effort: Effort) -> Quotient:
    return _cosine(a, effort, _I)


def sinh(a: Quotient, effort: Effort) -> Quotient:
    return _sine(a, effort, _ONE)


def cosh(a: Quotient, effort: Effort) -> Quotient:
    return _cosine(a, effort, _ONE)


_TEN = Quotient(poly.constant(10))
FUNCTIONS: dict[str, Callable[[Quotient, Effort], Quotient]] = {
    "sin": sin, "cos": cos, "tan": _ratio(sin, cos), "cot": _ratio(cos, sin), "sec": _ratio(_one, cos),
    "csc": _ratio(_one, sin), "sinh": sinh, "cosh": cosh, "tanh": _ratio(sinh, cosh), "exp": exp, "ln": log,
    "log": lambda a, effort: quo.divide(log(a, effort), log(_TEN, effort), effort), "abs": absolute,
    "arctan": _arctan, "arcsin": _arcsin, "arccos": _complement(_arcsin), "arccot": _complement(_arctan),
}  # fmt: skip
"""Functions of one argument by name. ``log`` is to base 10."""
