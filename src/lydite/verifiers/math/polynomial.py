"""Polynomials over the rationals in generators that need not be symbols: roots, pi, e^x, logarithms.

A monomial is a sorted tuple of (generator, exponent); exponents are rational and may be negative. A generator is a
(name, data) pair; the first letter of its name says how its powers are reduced:

| letter | generator | its powers |
|---|---|---|
| ``s`` | a symbol, pi | stay |
| ``p`` | a prime number; ``q`` a whole number that was not taken apart | the whole part of the exponent is a number |
| ``i`` | the imaginary unit | i^2 = -1 |
| ``u`` | e^(i pi) | modulo 2; multiples of 1/12 are roots; takes up i |
| ``e`` | e to a monomial | stay |
| ``b`` | what stands under an even root; ``r`` under an odd one | the whole part of the exponent is multiplied out |
| ``f`` | a function's value | stay |

Every step is counted: what would be long is given up, by size and not by the clock.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NoReturn

Generator = tuple[str, Any]
Exponent = int | Fraction
Monomial = tuple[tuple[Generator, Exponent], ...]
Polynomial = dict[Monomial, Fraction]

MAX_TERMS = 200
MAX_BITS = 2048
"""Bits of a coefficient."""
MAX_STEPS = 2500
"""Products of two terms in one normal form."""
MAX_NAME = 600
"""Characters of a generator's name."""
_TRIAL = [n for n in range(2, 1000) if all(n % d for d in range(2, math.isqrt(n) + 1))]

_I: Generator = ("i", None)
_U: Generator = ("u", None)
ONE: Polynomial = {(): Fraction(1)}
IMAGINARY: Polynomial = {((_I, 1),): Fraction(1)}
PI: Polynomial = {((("s\\pi", None), 1),): Fraction(1)}


class GaveUpError(Exception):
    """No normal form within the limits. Within the room only."""


def give_up() -> NoReturn:
    """Leave it to other ways of comparing."""
    raise GaveUpError


class Effort:
    """Steps that one normal form may still take."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MAX_STEPS

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            give_up()


def constant(value: Fraction | int) -> Polynomial:
    return {(): Fraction(value)} if value else {}


def generator(name: str, data: Any = None, exponent: Exponent = 1) -> Polynomial:
    """A generator to a power that needs no reduction."""
    if len(name) > MAX_NAME:
        give_up()
    return {(((name, data), _plain(exponent)),): Fraction(1)}


def _plain(exponent: Exponent) -> Exponent:
    return exponent.numerator if exponent.denominator == 1 else exponent


def add(p: Polynomial, q: Polynomial) -> Polynomial:
    total = dict(p)
    for monomial, value in q.items():
        rest = total.get(monomial, 0) + value
        if rest:
            total[monomial] = rest
        else:
            del total[monomial]
    if len(total) > MAX_TERMS:
        give_up()
    return total


def scale(p: Polynomial, factor: Fraction | int) -> Polynomial:
    if factor == 1:
        return p
    return {monomial: value * factor for monomial, value in p.items()} if factor else {}


def multiply(p: Polynomial, q: Polynomial, effort: Effort) -> Polynomial:
    effort.spend(len(p) * len(q))
    total: Polynomial = {}
    for left, a in p.items():
        for right, b in q.items():
            value = a * b
            if not left or not right:
                product, rest = left or right, None
            else:
                product, number, rest = _product(left, right, effort)
                value *= number
            if value.numerator.bit_length() + value.denominator.bit_length() > MAX_BITS:
                give_up()
            this = {product: value} if rest is None else multiply({product: value}, rest, effort)
            for monomial, part in this.items():
                sum_ = total.get(monomial, 0) + part
                if sum_:
                    total[monomial] = sum_
                else:
                    total.pop(monomial, None)
    if len(total) > MAX_TERMS:
        give_up()
    return total


def _product(left: Monomial, right: Monomial, effort: Effort) -> tuple[Monomial, Fraction | int, Polynomial | None]:
    """A product of monomials: a monomial, a number, and a polynomial where a root was resolved."""
    powers = dict(left)
    for base, exponent in right:
        powers[base] = powers.get(base, 0) + exponent
    if powers.get(_U) and powers.get(_I):
        powers[_U] += Fraction(powers.pop(_I), 2)  # i is a power of e^(i pi), too
    number: Fraction | int = 1
    rest: Polynomial | None = None
    kept: list[tuple[Generator, Exponent]] = []
    for base, exponent in powers.items():
        kind = base[0][0]
        if kind in "pq":
            floor = math.floor(exponent)
            if abs(floor) * base[1].bit_length() > MAX_BITS:
                give_up()
            number *= Fraction(base[1]) ** floor
            exponent -= floor
        elif kind in "iu":
            turns = exponent * (1 if kind == "i" else 2) % 4  # quarters
            if turns >= 2:
                number, turns = -number, turns - 2
            exponent = turns if kind == "i" else Fraction(turns) / 2
            if kind == "u" and 12 % exponent.denominator == 0:
                rest, exponent = _joined(rest, _twelfths(exponent), effort), 0
        elif kind in "br" and exponent >= 1:
            floor = math.floor(exponent)
            rest = _joined(rest, power(dict(base[1]), floor, effort), effort)
            exponent -= floor
        if exponent:
            kept.append((base, _plain(exponent)))
    kept.sort(key=lambda item: item[0][0])
    return tuple(kept), number, rest


def _joined(rest: Polynomial | None, factor: Polynomial, effort: Effort) -> Polynomial:
    return factor if rest is None else multiply(rest, factor, effort)


def monomial_power(monomial: Monomial, value: Fraction, n: int, effort: Effort) -> Polynomial:
    """A term to a whole power, which may be negative."""
    if abs(value) != 1 and abs(n) * (value.numerator.bit_length() + value.denominator.bit_length()) > MAX_BITS:
        give_up()
    kept, number, rest = _product(tuple((base, exponent * n) for base, exponent in monomial), (), effort)
    term = {kept: value**n * number}
    return term if rest is None else multiply(term, rest, effort)


def power(p: Polynomial, n: int, effort: Effort) -> Polynomial:
    """``p ** n`` for a whole n >= 0."""
    if len(p) == 1:
        ((monomial, value),) = p.items()
        return monomial_power(monomial, value, n, effort)
    if n > MAX_TERMS:
        give_up()
    result = ONE
    while n:
        if n & 1:
            result = multiply(result, p, effort)
        n >>= 1
        if n:
            p = multiply(p, p, effort)
    return result


def prime_powers(value: int, exponent: Exponent) -> Polynomial:
    """``value ** exponent`` for a whole value > 0, the root taken apart into primes as far as these are small."""
    if value.bit_length() > MAX_BITS:
        give_up()
    number, kept = Fraction(1), []
    for prime, times in factors(value):
        total = times * Fraction(exponent)
        floor = math.floor(total)
        if abs(floor) * prime.bit_length() > MAX_BITS:
            give_up()
        number *= Fraction(prime) ** floor
        if total != floor:
            sure = prime < _TRIAL[-1] ** 2
            kept.append(((f"{'p' if sure else 'q'}{prime}", prime), total - floor))
    kept.sort(key=lambda item: item[0][0])
    return {tuple(kept): number}


def factors(value: int) -> list[tuple[int, int]]:
    """Prime factors below 1000 with their exponents, and what is left as one factor."""
    found = []
    for prime in _TRIAL:
        times = 0
        while value % prime == 0:
            value //= prime
            times += 1
        if times:
            found.append((prime, times))
        if prime * prime > value:
            break
    if value > 1:
        found = [*found, (value, 1)]
    return found


def unity(turns: Fraction) -> Polynomial:
    """e^(i pi turns)."""
    turns %= 2
    sign = 1
    if turns >= 1:
        sign, turns = -1, turns - 1
    whole = 12 % turns.denominator == 0
    return scale(_twelfths(turns) if whole else generator("u", None, turns), sign)


def _root(value: int) -> Polynomial:
    return prime_powers(value, Fraction(1, 2))


_HALF = Fraction(1, 2)
_COSINES: list[Polynomial] = [
    ONE,
    add(scale(_root(6), _HALF / 2), scale(_root(2), _HALF / 2)),
    scale(_root(3), _HALF),
    scale(_root(2), _HALF),
    constant(_HALF),
    add(scale(_root(6), _HALF / 2), scale(_root(2), -_HALF / 2)),
    {},
]
"""cos(k pi / 12)."""


def _twelfths(turns: Exponent) -> Polynomial:
    """e^(i pi k / 12) for 0 <= k < 12."""
    k = int(turns * 12)
    cosine = _COSINES[k] if k <= 6 else scale(_COSINES[12 - k], -1)
    sine = _COSINES[abs(6 - k)]
    # "i" sorts before "p": the monomials stay sorted.
    return add(cosine, {((_I, 1), *monomial): value for monomial, value in sine.items()})


def content(p: Polynomial) -> Fraction:
    """The positive number by which the coefficients can be divided to be whole and without a common factor."""
    return Fraction(
        math.gcd(*(value.numerator for value in p.values())), math.lcm(*(value.denominator for value in p.values()))
    )


def order(monomial: Monomial) -> list[tuple[str, Exponent]]:
    """What monomials are sorted by."""
    return [(base[0], exponent) for base, exponent in monomial]


def frozen(p: Polynomial) -> tuple[tuple[Monomial, Fraction], ...]:
    """A polynomial as a generator's data."""
    return tuple(sorted(p.items(), key=lambda item: order(item[0])))


def name_of(p: Polynomial) -> str:
    """A text that is the same for equal polynomials, in every process."""
    told = " + ".join(
        f"{value}" + "".join(f" {base[0]}" + ("" if exponent == 1 else f"^{exponent}") for base, exponent in monomial)
        for monomial, value in frozen(p)
    )
    if len(told) > MAX_NAME:
        give_up()
    return told or "0"


def names(p: Polynomial) -> set[str]:
    """Names of the generators."""
    return {base[0] for monomial in p for base, _ in monomial}
