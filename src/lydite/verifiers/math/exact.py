"""Exact rational values of trees, with caps: what would be large is refused before it is computed."""

from __future__ import annotations

import math
from fractions import Fraction

from lydite.verifiers.math.nodes import Node, TooBigError, UndefinedError, num, substitute

MAX_BITS = 1 << 16
"""Bits of the largest numerator or denominator."""
MAX_FACTORIAL = 3000
MAX_TERMS = 1000
"""Terms of a sum or product; times the nodes of a term at most ten times as much."""


def rational(node: Node) -> Fraction | None:
    """The exact value, or ``None`` when the tree is not a rational number by arithmetic alone.

    Raises:
        TooBigError: the value has more than ``MAX_BITS`` bits.
        UndefinedError: there is no value (division by zero, 0^0).
    """
    op, args = node
    if op == "num":
        return args[0]  # type: ignore[no-any-return]
    if op in (
        "sym",
        "const",
        "call",
        "tuple",
        "set",
        "named",
        "matrix",
        "det",
        "dots",
        "pm",
        "mp",
        "cup",
        "cap",
        "minus",
        "list",
        "mod",
    ):
        return _function(node) if op == "call" else None
    if op == "base":
        return Fraction(args[0])
    if op == "degree":
        return None
    if op in ("sum", "prod"):
        return _series(node)
    values: list[Fraction] = []
    for arg in args:
        value = rational(arg)
        if value is None:
            return None
        values.append(value)
    return _apply(op, values)


def _apply(op: str, values: list[Fraction]) -> Fraction | None:
    a = values[0]
    if op == "neg":
        return -a
    if op == "percent":
        return a / 100
    if op == "fact":
        return Fraction(factorial(a))
    b = values[1]
    if op == "pow":
        return power(a, b)
    if op == "root":
        if b == 0:
            raise UndefinedError
        return power(a, 1 / b)
    if op == "rem":
        if b == 0:
            raise UndefinedError
        return a % b
    if op == "div" and b == 0:
        raise UndefinedError
    _fits(_bits(a) + _bits(b))
    if op == "add":
        return a + b
    if op == "mul":
        return a * b
    if op == "div":
        return a / b
    return None


def _series(node: Node) -> Fraction | None:
    """A sum or a product, term by term."""
    name, first, last, term = node.args
    low, high = rational(first), rational(last)
    if low is None or high is None:
        return None
    total = Fraction(node.op == "prod")
    for value in span(low, high, term):
        this = rational(substitute(term, name, num(value)))
        if this is None:
            return None
        total = total + this if node.op == "sum" else total * this
        _fits(_bits(total))
    return total


def span(low: Fraction, high: Fraction, term: Node, limit: int = MAX_TERMS) -> range:
    """The values of an index, where they are whole numbers and few enough for what stands in the term.

    Raises:
        UndefinedError: the bounds are no whole numbers in order (an empty sum is allowed).
        TooBigError: too many.
    """
    if low.denominator != 1 or high.denominator != 1 or high < low - 1:
        raise UndefinedError
    if high - low >= limit or (high - low + 1) * work(term) > 10 * limit:
        raise TooBigError
    return range(int(low), int(high) + 1)


def work(term: Node) -> int:
    """Nodes that are looked at to evaluate a term once; inner sums count with all of their terms."""
    if term.op in ("sum", "prod"):
        low, high = term.args[1], term.args[2]
        known = low.op == high.op == "num"
        return max(1, int(high.args[0] - low.args[0] + 1) if known else MAX_TERMS) * work(term.args[3])
    parts = [part for arg in term.args for part in (arg if type(arg) is tuple else (arg,)) if isinstance(part, Node)]
    return 1 + sum(work(part) for part in parts)


def _bits(value: Fraction) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length()


def _fits(bits: int) -> None:
    if bits > 2 * MAX_BITS:
        raise TooBigError


def factorial(value: Fraction) -> int:
    """n! for a whole n of at most ``MAX_FACTORIAL``."""
    if value.denominator != 1 or value < 0:
        raise UndefinedError
    if value > MAX_FACTORIAL:
        raise TooBigError
    return math.factorial(int(value))


def _double_factorial(value: Fraction) -> int:
    """n!! = n (n - 2) (n - 4) ..."""
    if value.denominator != 1 or value < 0:
        raise UndefinedError
    if value > MAX_FACTORIAL:
        raise TooBigError
    return math.prod(range(int(value), 0, -2))


def binomial(n: Fraction, k: Fraction) -> int:
    """n over k for whole numbers."""
    if n.denominator != 1 or k.denominator != 1 or n < 0:
        raise UndefinedError
    if k < 0 or k > n:
        return 0
    small = min(k, n - k)
    if small * n.numerator.bit_length() > MAX_BITS:
        raise TooBigError
    return math.comb(int(n), int(k))


def power(base: Fraction, exponent: Fraction) -> Fraction | None:
    """``base ** exponent`` where that is rational: whole exponents, and exact roots."""
    if base == 0:
        if exponent <= 0:
            raise UndefinedError
        return Fraction(0)
    if abs(base) == 1 and exponent.denominator == 1:
        return base if exponent.numerator % 2 else Fraction(1)
    if exponent.numerator.bit_length() > 40:
        raise TooBigError
    if exponent.denominator != 1:
        root = _root(base, exponent.denominator)
        if root is None:
            return None
        base, exponent = root, Fraction(exponent.numerator)
    bits = max(base.numerator.bit_length(), base.denominator.bit_length()) - 1
    if bits * abs(exponent.numerator) > MAX_BITS:
        raise TooBigError
    return base ** int(exponent)


def _root(value: Fraction, degree: int) -> Fraction | None:
    if degree > 64:
        return None
    if value < 0:
        if degree % 2 == 0:
            return None
        inner = _root(-value, degree)
        return None if inner is None else -inner
    top, bottom = _whole_root(value.numerator, degree), _whole_root(value.denominator, degree)
    return None if top is None or bottom is None else Fraction(top, bottom)


def _whole_root(value: int, degree: int) -> int | None:
    if degree == 2:
        root = math.isqrt(value)
    else:
        if value.bit_length() > 4096:
            return None
        low, high = 0, 1 << (value.bit_length() // degree + 1)
        while low < high:
            middle = (low + high + 1) // 2
            if middle**degree <= value:
                low = middle
            else:
                high = middle - 1
        root = low
    return root if root**degree == value else None


def _function(node: Node) -> Fraction | None:
    name, arguments = node.args
    if name not in ("binom", "abs", "floor", "ceil", "gcd", "lcm", "max", "min", "dfact", "perm"):
        return None
    values: list[Fraction] = []
    for argument in arguments:
        value = rational(argument)
        if value is None:
            return None
        values.append(value)
    return exact_function(name, values)


def exact_function(name: str, values: list[Fraction]) -> Fraction:
    """Functions that keep rationals rational."""
    if name == "binom" and len(values) == 2:
        return Fraction(binomial(*values))
    if name == "perm" and len(values) == 2 and values[1] <= values[0]:
        return Fraction(binomial(*values) * factorial(values[1]))
    if name == "dfact" and len(values) == 1:
        return Fraction(_double_factorial(values[0]))
    if name in ("abs", "floor", "ceil") and len(values) == 1:
        value = values[0]
        return abs(value) if name == "abs" else Fraction(math.floor(value) if name == "floor" else math.ceil(value))
    if name in ("max", "min") and values:
        return max(values) if name == "max" else min(values)
    if name in ("gcd", "lcm") and values and all(value.denominator == 1 for value in values):
        whole = [int(value) for value in values]
        _fits(sum(value.bit_length() for value in whole))
        return Fraction(math.gcd(*whole) if name == "gcd" else math.lcm(*whole))
    raise UndefinedError
