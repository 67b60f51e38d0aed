"""Whether two expressions have the same value.

Rational numbers are compared exactly. Everything else is compared by value at high precision: constants once,
expressions with free symbols at several points derived from the symbols' names. A difference anywhere refutes
equality; agreement at every point, to 45 digits and again to 90, counts as equality. What this cannot see: expressions
that agree at all points of this kind and yet differ (on a region that no point lies in; beyond 45 digits for
constants), and those with symbols under a factorial are compared at whole numbers only.
"""

from __future__ import annotations

import hashlib
from decimal import Context, Decimal, DecimalException, localcontext
from fractions import Fraction
from functools import lru_cache

from lydite.verifiers.math import precise
from lydite.verifiers.math.exact import exact_function, factorial, rational
from lydite.verifiers.math.nodes import Node, TooBigError, UndefinedError, contains, symbols

POINTS = 4
DIGITS = 50
_ROUGH, _FINE = 60, 120
_EMAX = 10**8

Point = dict[str, Fraction]
_ZERO: precise.Number = (precise.ZERO, precise.ZERO)


def equal(a: Node, b: Node, tolerance: Fraction | None = None) -> bool:
    """Whether two scalars are the same number, or the same function of their symbols.

    Args:
        tolerance: relative difference that is forgiven, for constants.

    Raises:
        TooBigError: deciding would cost too much.
    """
    if a == b and not contains((a, b), "div", "pow", "const"):
        return True
    try:
        x, y = rational(a), rational(b)
        if x is not None and y is not None:
            return x == y or (tolerance is not None and abs(x - y) <= tolerance * abs(y))
        if a == b:
            return True
        names = symbols(a) | symbols(b)
        if (x is not None and not symbols(b) and _surely_not(y, b)) or (
            y is not None and not symbols(a) and _surely_not(x, a)
        ):
            return False
        return _agree(a, b, sorted(names), tolerance)
    except UndefinedError:
        return False


def _surely_not(value: Fraction | None, node: Node) -> bool:
    return value is None and node.op in ("tuple", "set", "matrix", "named", "dots", "list")


def _agree(a: Node, b: Node, names: list[str], tolerance: Fraction | None) -> bool:
    whole = bool(names) and (contains((a, b), "fact", "rem") or _has_call((a, b), "binom", "gcd", "lcm"))
    seen = 0
    for index in range(POINTS if names else 1):
        x, y = _value(a, index, whole, _ROUGH), _value(b, index, whole, _ROUGH)
        if x is None and y is None:
            continue
        if x is None or y is None:
            return False
        if tolerance is not None and not names:
            return _close(x, y, tolerance)
        if not _same(x, y, _ROUGH - 15):
            return False
        seen += 1
    if not seen:
        return False
    for index in range(2 if names else 1):  # once more, finer: a difference may hide below the first 45 digits
        x, y = _value(a, index, whole, _FINE), _value(b, index, whole, _FINE)
        if x is not None and y is not None and not _same(x, y, _FINE - 30):
            return False
    return True


def _has_call(node: object, *names: str) -> bool:
    if isinstance(node, Node) and node.op == "call" and node.args[0] in names:
        return True
    return isinstance(node, tuple) and any(_has_call(item, *names) for item in node)


def point(names: list[str], index: int, whole: bool = False) -> Point:
    """The value of each symbol at sample point ``index``: fixed by the names, of either sign, between 0.1 and 5."""
    values: Point = {}
    for name in names:
        seed = int.from_bytes(hashlib.sha256(f"{index}:{name}".encode()).digest()[:8], "big")
        if whole:
            values[name] = Fraction(3 + index + seed % 9 + (4 if name in ("n", "N") else 0))
        else:
            size = Fraction(seed % 4_900_000_007, 10**9) + Fraction(1, 10)
            values[name] = -size if index % 2 and (seed >> 40) % 4 else size
    return values


@lru_cache(maxsize=2048)
def _value(node: Node, index: int, whole: bool, digits: int) -> precise.Number | None:
    """The value at a sample point, ``None`` where there is none; what only rounding keeps from zero is zero."""
    place = point(sorted(symbols(node)), index, whole)
    try:
        value = number(node, place, digits)
        if value != _ZERO and _size(value).adjusted() < -digits // 2:
            finer = number(node, place, digits + 40)
            if _size(finer).adjusted() < _size(value).adjusted() - 20:  # it shrinks with precision: a residue
                return _ZERO
        return value
    except UndefinedError:
        return None


def _same(x: precise.Number, y: precise.Number, digits: int) -> bool:
    scale = max(abs(part) for part in (*x, *y))
    if not scale:
        return True
    gap = max(abs(x[0] - y[0]), abs(x[1] - y[1]))
    return gap <= scale.scaleb(-digits)


def _size(x: precise.Number) -> Decimal:
    return max(abs(x[0]), abs(x[1]))


def _close(x: precise.Number, y: precise.Number, tolerance: Fraction) -> bool:
    gap = max(abs(x[0] - y[0]), abs(x[1] - y[1]))
    return gap <= _size(y) * Decimal(tolerance.numerator) / Decimal(tolerance.denominator)


@lru_cache(maxsize=4)
def _context(digits: int) -> Context:
    return Context(prec=digits, Emax=_EMAX, Emin=-_EMAX)


def number(node: Node, place: Point, digits: int = DIGITS) -> precise.Number:
    """The value of a tree at a point, to about ``digits`` digits.

    Raises:
        UndefinedError: there is none.
        TooBigError: it is too large or too costly.
    """
    with localcontext(_context(digits)):
        try:
            return _number(node, place)
        except (DecimalException, ArithmeticError):
            raise UndefinedError from None


def _of(value: Fraction) -> precise.Number:
    if value.numerator.bit_length() > 1 << 15 or value.denominator.bit_length() > 1 << 15:
        raise TooBigError
    return Decimal(value.numerator) / Decimal(value.denominator), precise.ZERO


def _number(node: Node, place: Point) -> precise.Number:
    op, args = node
    if op == "num":
        return _of(args[0])
    if op == "sym":
        return _of(place[args[0]])
    if op == "base":
        return _of(Fraction(args[0]))
    if op == "const":
        name = args[0]
        if name == "pi":
            return precise.pi(), precise.ZERO
        if name == "e":
            return precise.ONE.exp(), precise.ZERO
        if name == "i":
            return precise.ZERO, precise.ONE
        raise UndefinedError
    if op == "call":
        return _call(args[0], args[1], place)
    if op in ("fact", "rem"):
        values = [_whole(_number(arg, place)) for arg in args]
        if op == "fact":
            return _of(Fraction(factorial(values[0])))
        if values[1] == 0:
            raise UndefinedError
        return _of(values[0] % values[1])
    if op not in ("add", "mul", "div", "pow", "root", "neg", "percent", "degree"):
        raise UndefinedError
    first = _number(args[0], place)
    if op == "neg":
        return -first[0], -first[1]
    if op == "percent":
        return first[0] / 100, first[1] / 100
    if op == "degree":
        return first[0] * precise.pi() / 180, first[1]
    second = _number(args[1], place)
    operation = {
        "add": precise.add,
        "mul": precise.mul,
        "div": precise.div,
        "pow": precise.power,
        "root": precise.root,
    }[op]
    return operation(first, second)


def _whole(value: precise.Number) -> Fraction:
    nearest = value[0].to_integral_value()
    if value[1] or abs(value[0] - nearest) > Decimal("1e-20") or nearest.adjusted() > 12:
        raise UndefinedError
    return Fraction(int(nearest))


def _call(name: str, arguments: tuple[Node, ...], place: Point) -> precise.Number:
    values = [_number(argument, place) for argument in arguments]
    if name == "log" and len(values) == 2:
        return precise.div(precise.log(values[0]), precise.log(values[1]))
    if name in precise.FUNCTIONS and len(values) == 1:
        return precise.FUNCTIONS[name](values[0])
    if name == "abs" and len(values) == 1:
        real, imaginary = values[0]
        return (abs(real) if not imaginary else (real * real + imaginary * imaginary).sqrt()), precise.ZERO
    if name in ("binom", "gcd", "lcm"):
        return _of(exact_function(name, [_whole(value) for value in values]))
    if name in ("floor", "ceil", "max", "min") and not any(value[1] for value in values):
        return _of(exact_function(name, [_exactly(value[0]) for value in values]))
    if len(name) == 1:  # an unknown function: some fixed value of its name and its arguments, rounded
        told = ",".join(f"{value[0]:.20e},{value[1]:.20e}" for value in values)
        seed = int.from_bytes(hashlib.sha256(f"{name}({told})".encode()).digest()[:8], "big")
        return _of(Fraction(seed % 9_999_991, 1_234_567) + 1)
    raise UndefinedError


def _exactly(value: Decimal) -> Fraction:
    if value.adjusted() > 1000 or (value and value.adjusted() < -1000):
        raise TooBigError
    nearest = value.to_integral_value()
    return Fraction(int(nearest)) if abs(value - nearest) < Decimal("1e-25") else Fraction(value)
