"""Products of powers of whole numbers, compared by their prime factors: 4^50000 is 2^100000, neither is computed."""

from __future__ import annotations

from fractions import Fraction

from lydite.verifiers.math.exact import rational
from lydite.verifiers.math.nodes import Node, TooBigError, UndefinedError

MAX_BASE = 10**6
MAX_EXPONENT = 10**12
Factors = dict[int, Fraction]


def same_powers(a: Node, b: Node) -> bool | None:
    """Whether two products of powers are the same number; ``None`` where one of them is no such product."""
    x, y = _factors(a), _factors(b)
    return None if x is None or y is None else x == y


def _factors(node: Node) -> Factors | None:
    """Exponents of the primes (and of -1) in a number."""
    op, args = node
    if op == "num":
        return _of_number(args[0])
    if op == "neg":
        inner = _factors(args[0])
        return None if inner is None else _joined(inner, {-1: Fraction(1)}, 1)
    if op in ("mul", "div"):
        left, right = _factors(args[0]), _factors(args[1])
        return None if left is None or right is None else _joined(left, right, 1 if op == "mul" else -1)
    if op == "pow":
        base, exponent = _factors(args[0]), _exponent(args[1])
        if base is None or exponent is None:
            return None
        return _joined({}, {prime: power * exponent for prime, power in base.items()}, 1)
    return None


def _exponent(node: Node) -> Fraction | None:
    try:
        value = rational(node)
    except (TooBigError, UndefinedError):
        return None
    return value if value is not None and value.denominator == 1 and abs(value) <= MAX_EXPONENT else None


def _of_number(value: Fraction) -> Factors | None:
    if not value or max(abs(value.numerator), value.denominator) > MAX_BASE:
        return None
    found: Factors = {-1: Fraction(1)} if value < 0 else {}
    for number, sign in ((abs(value.numerator), 1), (value.denominator, -1)):
        prime = 2
        while prime * prime <= number:
            while number % prime == 0:
                found[prime] = found.get(prime, Fraction(0)) + sign
                number //= prime
            prime += 1
        if number > 1:
            found[number] = found.get(number, Fraction(0)) + sign
    return _joined({}, found, 1)


def _joined(a: Factors, b: Factors, sign: int) -> Factors:
    total = dict(a)
    for prime, power in b.items():
        total[prime] = total.get(prime, Fraction(0)) + sign * power
    if -1 in total:
        total[-1] %= 2
    return {prime: power for prime, power in total.items() if power}
