"""The value of a tree at a point, in decimal arithmetic of any precision."""

from __future__ import annotations

import hashlib
from decimal import Context, Decimal, DecimalException, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

from lydite.verifiers.math import precise
from lydite.verifiers.math.exact import exact_function, factorial, span
from lydite.verifiers.math.nodes import Node, TooBigError, UndefinedError

DIGITS = 50
_EMAX = 10**8
MAX_POINT_TERMS = 100
"""Terms of a sum at a point."""

Point = dict[str, Fraction]


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
    if op in ("sum", "prod"):
        return _series(op, args, place)
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
    if op == "pow" and first[0] < 0 and not first[1] and (degree := _odd_degree(args[1])):
        return precise.power(
            precise.root(first, (Decimal(degree), precise.ZERO)), precise.mul(second, (Decimal(degree), precise.ZERO))
        )
    operation = {
        "add": precise.add,
        "mul": precise.mul,
        "div": precise.div,
        "pow": precise.power,
        "root": precise.root,
    }[op]
    return operation(first, second)


def _odd_degree(exponent: Node) -> int:
    """Three for x^(2/3), as in school: the root of a negative number is real. 0 where it is no such root."""
    if exponent.op == "neg":
        return _odd_degree(exponent.args[0])
    if exponent.op == "num":
        value = exponent.args[0]
    elif exponent.op == "div" and all(part.op == "num" for part in exponent.args) and exponent.args[1].args[0]:
        value = exponent.args[0].args[0] / exponent.args[1].args[0]
    else:
        return 0
    degree: int = value.denominator
    return degree if degree > 1 and degree % 2 else 0


def _series(op: str, args: tuple[Any, ...], place: Point) -> precise.Number:
    """A sum or a product, term by term."""
    name, first, last, term = args
    total = (precise.ONE if op == "prod" else precise.ZERO, precise.ZERO)
    combine = precise.mul if op == "prod" else precise.add
    low, high = _whole(_number(first, place)), _whole(_number(last, place))
    for index in span(low, high, term, MAX_POINT_TERMS):
        total = combine(total, _number(term, {**place, name: Fraction(index)}))
    return total


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
