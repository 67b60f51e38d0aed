"""Quotients of polynomials, and their rational powers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from lydite.verifiers.math import polynomial as poly
from lydite.verifiers.math.nodes import UndefinedError
from lydite.verifiers.math.polynomial import ONE, Effort, Generator, Polynomial, give_up


class Quotient(NamedTuple):
    """``top / bottom``; not always in lowest terms, so that equality is a matter of multiplying crosswise."""

    top: Polynomial
    bottom: Polynomial = ONE

    @property
    def constant(self) -> Fraction | None:
        """Its value, where it is a rational number."""
        if not self.top:
            return Fraction(0)
        return self.top.get(()) if len(self.top) == 1 and self.bottom == ONE else None


def add(a: Quotient, b: Quotient, effort: Effort) -> Quotient:
    if a.bottom == b.bottom:
        return Quotient(poly.add(a.top, b.top), a.bottom)
    top = poly.add(poly.multiply(a.top, b.bottom, effort), poly.multiply(b.top, a.bottom, effort))
    return Quotient(top, poly.multiply(a.bottom, b.bottom, effort))


def scale(a: Quotient, factor: Fraction | int) -> Quotient:
    return Quotient(poly.scale(a.top, factor), a.bottom)


def multiply(a: Quotient, b: Quotient, effort: Effort) -> Quotient:
    if b.bottom == a.bottom == ONE:
        return Quotient(poly.multiply(a.top, b.top, effort))
    return over(poly.multiply(a.top, b.top, effort), poly.multiply(a.bottom, b.bottom, effort), effort)


def divide(a: Quotient, b: Quotient, effort: Effort) -> Quotient:
    """Raises UndefinedError where ``b`` is zero."""
    return over(poly.multiply(a.top, b.bottom, effort), poly.multiply(a.bottom, b.top, effort), effort)


def over(top: Polynomial, bottom: Polynomial, effort: Effort) -> Quotient:
    """A quotient in a common shape: a bottom of one term is moved up, except for roots; of several, made primitive."""
    if bottom == ONE:
        return Quotient(top)
    if not bottom:
        raise UndefinedError
    if len(bottom) > 1:
        first = min(bottom, key=poly.order)
        factor = poly.content(bottom) * (1 if bottom[first] > 0 else -1)
        return Quotient(poly.scale(top, 1 / factor), poly.scale(bottom, 1 / factor))
    ((monomial, value),) = bottom.items()
    roots = tuple(item for item in monomial if item[0][0][0] in "br")
    rest = tuple(item for item in monomial if item[0][0][0] not in "br")
    top = poly.multiply(top, poly.monomial_power(rest, value, -1, effort), effort)
    return Quotient(top, {roots: Fraction(1)} if roots else ONE)


def equal(a: Quotient, b: Quotient, effort: Effort) -> bool:
    if a == b:
        return True
    return poly.multiply(a.top, b.bottom, effort) == poly.multiply(b.top, a.bottom, effort)


def name_of(a: Quotient) -> str:
    """A text that is the same for equal quotients in the same shape."""
    told = poly.name_of(a.top)
    return told if a.bottom == ONE else f"({told})/({poly.name_of(a.bottom)})"


def is_positive(base: Generator) -> bool:
    """Whether a generator stands for a positive number."""
    name, data = base
    return name[0] in "pq" or name == "s\\pi" or (name[0] == "e" and data is not None and is_real(data))


def is_real(monomial: poly.Monomial) -> bool:
    """Whether a term is real for real symbols, as far as its generators tell."""
    return all(
        base[0][0] in "spqr" or (base[0][0] == "e" and base[1] is not None and is_real(base[1])) for base, _ in monomial
    )


def power(a: Quotient, exponent: Fraction, effort: Effort) -> Quotient:
    """A rational power. Roots of even degree are principal, those of odd degree real, as in school.

    Raises:
        UndefinedError: zero to a power that is not positive.
    """
    if not a.top:
        if exponent <= 0:
            raise UndefinedError
        return a
    if exponent.denominator == 1:
        n = int(exponent)
        top, bottom = (a.top, a.bottom) if n >= 0 else (a.bottom, a.top)
        return over(poly.power(top, abs(n), effort), poly.power(bottom, abs(n), effort), effort)
    if a.bottom != ONE:
        give_up()
    size = a.top.get((), None) if len(a.top) == 1 else None
    if size is None or size < 0:
        size = poly.content(a.top)
    number = poly.prime_powers(size.numerator, exponent)
    if size.denominator != 1:
        number = poly.multiply(number, poly.prime_powers(size.denominator, -exponent), effort)
    rest = poly.scale(a.top, 1 / size)
    if rest == ONE:
        return Quotient(number)
    root = _odd_root if exponent.denominator % 2 else _even_root
    return multiply(Quotient(number), root(rest, exponent, effort), effort)


def _odd_root(p: Polynomial, exponent: Fraction, effort: Effort) -> Quotient:
    first = min(p, key=poly.order)
    sign = 1
    if p[first] < 0:
        p, sign = poly.scale(p, -1), -1 if exponent.numerator % 2 else 1
    if not all(is_real(monomial) for monomial in p):
        give_up()
    if len(p) > 1:
        return scale(_generated("r", p, exponent, effort), sign)
    result = Quotient(ONE)
    for base, times in first:
        if base[0][0] in "pqe":
            part = poly.monomial_power(((base, times * exponent),), Fraction(1), 1, effort)
            result = multiply(result, Quotient(part), effort)
        else:
            if times.denominator != 1:
                give_up()
            single: Polynomial = {((base, 1),): Fraction(1)}
            result = multiply(result, _generated("r", single, times * exponent, effort), effort)
    return scale(result, sign)


def _even_root(p: Polynomial, exponent: Fraction, effort: Effort) -> Quotient:
    if len(p) > 1:
        single = _denested(p, effort) if exponent.denominator == 2 else None
        if single is not None:
            return power(Quotient(single), Fraction(exponent.numerator), effort)
        return _generated("b", p, exponent, effort)
    ((monomial, value),) = p.items()
    positive = tuple((base, times * exponent) for base, times in monomial if is_positive(base))
    open_ = tuple(item for item in monomial if not is_positive(item[0]))
    result = Quotient(poly.monomial_power(positive, Fraction(1), 1, effort))
    if value < 0 and not open_:
        return multiply(result, Quotient(poly.unity(exponent)), effort)
    if not open_:
        return result
    if value > 0 and len(open_) == 1 and open_[0][1] == 1 and open_[0][0][0][0] in "sf":
        return multiply(result, Quotient({((open_[0][0], exponent),): Fraction(1)}), effort)
    return multiply(result, _generated("b", {open_: value}, exponent, effort), effort)


def _denested(p: Polynomial, effort: Effort) -> Polynomial | None:
    """The root of a + b with a rational and b the root of a rational number, where it is a sum of two such roots."""
    number = p.get(())
    rest = {monomial: value for monomial, value in p.items() if monomial}
    if number is None or number < 0 or len(rest) != 1:
        return None
    ((monomial, value),) = rest.items()
    if not all(base[0][0] == "p" and times == Fraction(1, 2) for base, times in monomial):
        return None
    square = number * number - value * value * math.prod(base[1] for base, _ in monomial)
    if square < 0:
        return None
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top != square.numerator or bottom * bottom != square.denominator:
        return None
    high, low = ((number + sign * Fraction(top, bottom)) / 2 for sign in (1, -1))
    parts = [power(Quotient(poly.constant(part)), Fraction(1, 2), effort).top for part in (high, low)]
    return poly.add(parts[0], poly.scale(parts[1], 1 if value > 0 else -1))


def _generated(kind: str, p: Polynomial, exponent: Fraction, effort: Effort) -> Quotient:
    """``p ** exponent`` with what is under the root as a generator."""
    floor = math.floor(exponent)
    root = poly.generator(kind + poly.name_of(p), poly.frozen(p), exponent - floor) if exponent != floor else ONE
    whole = poly.power(p, abs(floor), effort)
    return over(poly.multiply(root, whole, effort), ONE, effort) if floor >= 0 else over(root, whole, effort)
