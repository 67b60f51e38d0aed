r"""Equality of the two commonest kinds of expression, decided exactly and cheaply: polynomials, single square roots.

Polynomials with rational coefficients are compared at one whole point that is so far out that no two of them agree
there: with H a bound on the coefficients of their difference (common denominators cleared) and D one on its degree, the
i-th symbol is (2H + 2)^((D + 1)^i). At such a point the value tells the coefficients, as digits tell a number
(Kronecker's substitution), so one evaluation in whole numbers is a proof, either way.

A rational number times square roots of rational numbers is told by its sign and its square.
"""

from __future__ import annotations

from fractions import Fraction

from lydite.verifiers.math.nodes import Node, symbols

MAX_BITS = 1 << 12
"""Bits of a coefficient, a denominator or a square; more is left to others."""
MAX_POINT = 1 << 14
"""Bits of a value at the point."""
MAX_EXPONENT = 64

_HALF = Fraction(1, 2)


class _OtherError(Exception):
    """Not of this kind, or too large for it."""


def same(a: Node, b: Node, names: bool) -> bool | None:
    """Whether two expressions are the same; ``None`` where one of them is of neither kind.

    Args:
        a: one expression.
        b: the other.
        names: whether symbols occur: polynomials are compared then, and square roots else.
    """
    try:
        return _same_polynomial(a, b) if names else _same_surd(a, b)
    except _OtherError:
        return None


def _same_polynomial(a: Node, b: Node) -> bool:
    one, other = _Bounds(a), _Bounds(b)
    height = one.height * other.denominator + other.height * one.denominator
    degree = max(one.degree, other.degree)
    base = 2 * height + 2
    names = sorted(symbols(a) | symbols(b))
    if base.bit_length() * degree * (degree + 1) ** (len(names) - 1) > MAX_POINT:
        raise _OtherError
    place = {name: base ** ((degree + 1) ** index) for index, name in enumerate(names)}
    return _numerator(a, place)[0] * other.denominator == _numerator(b, place)[0] * one.denominator


class _Bounds:
    """Of a polynomial over a common denominator: bounds on the sum of its coefficients' sizes and on its degree."""

    __slots__ = ("degree", "denominator", "height")

    def __init__(self, node: Node) -> None:
        self.height, self.denominator, self.degree = _bounds(node)


def _bounds(node: Node) -> tuple[int, int, int]:
    op, args = node
    if op == "num":
        value = args[0]
        height, denominator, degree = abs(value.numerator), value.denominator, 0
    elif op == "sym":
        return 1, 1, 1
    elif op == "neg":
        return _bounds(args[0])
    elif op == "add":
        (h, d, n), (k, e, m) = _bounds(args[0]), _bounds(args[1])
        height, denominator, degree = (h + k, d, max(n, m)) if d == e == 1 else (h * e + k * d, d * e, max(n, m))
    elif op == "mul":
        (h, d, n), (k, e, m) = _bounds(args[0]), _bounds(args[1])
        height, denominator, degree = h * k, d * e, n + m
    elif op == "div":
        (h, d, n), number = _bounds(args[0]), _number(args[1])
        height, denominator, degree = h * number.denominator, d * abs(number.numerator), n
    elif op == "pow":
        exponent = _exponent(args[1])
        h, d, n = _bounds(args[0])
        if max(h, d).bit_length() * exponent > MAX_BITS:
            raise _OtherError
        height, denominator, degree = h**exponent, d**exponent, n * exponent
    else:
        raise _OtherError
    if height.bit_length() > MAX_BITS or denominator.bit_length() > MAX_BITS:
        raise _OtherError
    return height, denominator, degree


def _numerator(node: Node, place: dict[str, int]) -> tuple[int, int]:
    """The value at a point over the same denominator as in ``_bounds``, and this denominator."""
    op, args = node
    if op == "num":
        return args[0].numerator, args[0].denominator
    if op == "sym":
        return place[args[0]], 1
    value, below = _numerator(args[0], place)
    if op == "neg":
        return -value, below
    if op == "pow":
        exponent = _exponent(args[1])
        return value**exponent, below**exponent
    if op == "div":
        number = _number(args[1])
        sign = 1 if number.numerator > 0 else -1
        return value * number.denominator * sign, below * abs(number.numerator)
    other, under = _numerator(args[1], place)
    if op == "mul":
        return value * other, below * under
    return (value + other, below) if below == under == 1 else (value * under + other * below, below * under)


def _exponent(node: Node) -> int:
    if node.op != "num" or node.args[0].denominator != 1 or not 0 < node.args[0].numerator <= MAX_EXPONENT:
        raise _OtherError
    return int(node.args[0].numerator)


def _number(node: Node) -> Fraction:
    """A number to divide by."""
    sign = 1
    while node.op == "neg":
        node, sign = node.args[0], -sign
    if node.op != "num" or not node.args[0]:
        raise _OtherError
    value: Fraction = node.args[0]
    return value * sign


def _same_surd(a: Node, b: Node) -> bool:
    return _surd(a) == _surd(b)


def _surd(node: Node) -> tuple[int, Fraction]:
    """Sign and square."""
    op, args = node
    if op == "num":
        value: Fraction = args[0]
        square = value * value
        sign = (value > 0) - (value < 0)
    elif op == "neg":
        inner, square = _surd(args[0])
        return -inner, square
    elif op == "mul" or op == "div":
        (left, x), (right, y) = _surd(args[0]), _surd(args[1])
        if op == "div" and not right:
            raise _OtherError
        sign, square = left * right, x * y if op == "mul" else x / y
    elif op == "root" or op == "pow":
        index = args[1]
        if op == "pow" and index.op == "div" and index.args[0].op == index.args[1].op == "num":
            half = index.args[1].args[0] == 2 * index.args[0].args[0] != 0
        else:
            half = index.op == "num" and index.args[0] == (2 if op == "root" else _HALF)
        if not half or args[0].op != "num" or args[0].args[0] < 0:
            raise _OtherError
        square = args[0].args[0]
        sign = 1 if square else 0
    else:
        raise _OtherError
    if square.numerator.bit_length() + square.denominator.bit_length() > MAX_BITS:
        raise _OtherError
    return sign, square
