"""Whether two expressions agree where they are looked at: constants once, others at sample points.

Sample points are derived from the symbols' names, of either sign; for roots, absolute values and the like, far from
zero as well. Symbols are real, unless i occurs: where neither side is a real number (the root of x^3 at -2), a point
says nothing against them. With symbols under a factorial, the points are whole numbers.

A difference is one that stays as digits are added. What cancels leaves a residue of rounding, of any size once it is
multiplied, which shrinks instead: 10^40 (x - pi (x / pi)) is 0, whatever is computed.
"""

from __future__ import annotations

import hashlib
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from lydite.verifiers.math import precise
from lydite.verifiers.math.evaluate import Point, number
from lydite.verifiers.math.nodes import Node, TooBigError, UndefinedError
from lydite.verifiers.math.work import pay

POINTS, FAR_POINTS = 4, 2
ROUGH, FINE, FINEST = 60, 120, 500
"""Digits that are computed; of these the last quarter may differ."""
MORE = 40
"""Digits that are added to tell a difference from a residue."""

_ZERO: precise.Number = (precise.ZERO, precise.ZERO)


class Traits(NamedTuple):
    """What decides where an expression is looked at.

    Attributes:
        names: its free symbols.
        whole: only whole numbers make sense for its symbols.
        imaginary: i occurs.
        kinked: other places may tell what a few near zero do not.
    """

    names: frozenset[str]
    whole: bool
    imaginary: bool
    kinked: bool


_WHOLE = frozenset(["binom", "gcd", "lcm"])
_KINKED = frozenset(["abs", "floor", "ceil", "max", "min", "ln", "log"])


@lru_cache(maxsize=2048)
def traits(node: Node) -> Traits:
    names: set[str] = set()
    whole = imaginary = kinked = False
    stack: list[Any] = [node]
    while stack:
        item = stack.pop()
        if type(item) is not Node:
            if type(item) is tuple:
                stack.extend(item)
            continue
        op, args = item
        if op == "num":
            continue
        if op == "sym":
            if args[0][0] != "#":  # the index of a sum
                names.add(args[0])
            continue
        if op == "call":
            whole |= args[0] in _WHOLE
            kinked |= args[0] in _KINKED
        elif op == "const":
            imaginary |= args[0] == "i"
        elif op == "pow":
            kinked |= args[1].op != "num"
        whole |= op in ("fact", "rem", "sum", "prod")
        kinked |= op == "root"
        stack.extend(args)
    return Traits(frozenset(names), whole, imaginary, kinked)


def differ_at_once(a: Node, b: Node) -> bool:
    """Whether a first look is enough: both sides have a value there, and not the same."""
    one, other = traits(a), traits(b)
    names = one.names or other.names
    whole = bool(names) and (one.whole or other.whole)
    x, y = value(a, 0, whole, ROUGH), value(b, 0, whole, ROUGH)
    if x is None or y is None:
        return False
    if names and not (one.imaginary or other.imaginary or _is_real(x) or _is_real(y)):
        return False
    return _told(a, b, 0, whole, ROUGH) == "differ"


def agree(a: Node, b: Node) -> bool:
    """Whether two sides have the same value wherever they are looked at."""
    one, other = traits(a), traits(b)
    names = one.names or other.names
    whole = bool(names) and (one.whole or other.whole)
    real = bool(names) and not (one.imaginary or other.imaginary)
    far = FAR_POINTS if names and not whole and (one.kinked or other.kinked) else 0
    told: list[int] = []
    unreal = clashes = 0
    for index in range(POINTS + far if names else 1):
        try:
            x, y = value(a, index, whole, ROUGH), value(b, index, whole, ROUGH)
        except TooBigError:
            if index < POINTS:
                raise
            continue
        if x is None and y is None:
            continue
        if x is None or y is None:
            return False
        seen = _told(a, b, index, whole, ROUGH)
        if seen == "unknown":
            continue
        same = seen == "same"
        if real and not _is_real(x) and not _is_real(y):
            unreal += 1
            clashes += not same
        elif not same:
            return False
        else:
            told.append(index)
    if not told:
        return unreal > 0 and not clashes
    return all(_agree_at(a, b, index, whole, FINE) for index in told[:2])


def agree_finest(a: Node, b: Node) -> bool:
    """Whether two constants agree as far as it is worth looking."""
    return _agree_at(a, b, 0, False, FINEST)


def is_near(a: Node, b: Node, tolerance: Fraction) -> bool:
    """Whether two constants differ by at most ``tolerance``, relative to the second."""
    x, y = value(a, 0, False, ROUGH), value(b, 0, False, ROUGH)
    if x is None or y is None:
        return False
    gap = max(abs(x[0] - y[0]), abs(x[1] - y[1]))
    return gap <= _size(y) * Decimal(tolerance.numerator) / Decimal(tolerance.denominator)


def point(names: list[str], index: int, whole: bool = False) -> Point:
    """The value of each symbol at sample point ``index``: fixed by the names.

    Between 0.1 and 5 (from index ``POINTS`` on, up to 500), negative at index 1 and, for most names, at each odd one.
    """
    values: Point = {}
    for name in names:
        seed = int.from_bytes(hashlib.sha256(f"{index}:{name}".encode()).digest()[:8], "big")
        if whole:
            values[name] = Fraction(3 + index + seed % 9 + (4 if name in ("n", "N") else 0))
        else:
            size = Fraction(seed % 4_900_000_007, 10**9) + Fraction(1, 10)
            size *= 1 if index < POINTS else 100
            values[name] = -size if index == 1 or (index % 2 and (seed >> 40) % 4) else size
    return values


def value(node: Node, index: int, whole: bool, digits: int) -> precise.Number | None:
    """The value at a sample point, ``None`` where there is none.

    Raises:
        TooBigError: it is too large, or the comparison has taken too many steps.
    """
    pay(node, index, digits)
    return _computed(node, index, whole, digits)


@lru_cache(maxsize=2048)
def _computed(node: Node, index: int, whole: bool, digits: int) -> precise.Number | None:
    place = point(sorted(traits(node).names), index, whole)
    try:
        told = number(node, place, digits)
        if told != _ZERO and _size(told).adjusted() < -digits // 2:
            finer = number(node, place, digits + 40)
            if (
                finer == _ZERO or _size(finer).adjusted() < _size(told).adjusted() - 20
            ):  # it shrinks with precision: a residue
                return _ZERO
        return told
    except UndefinedError:
        return None


def _agree_at(a: Node, b: Node, index: int, whole: bool, digits: int) -> bool:
    return _told(a, b, index, whole, digits) != "differ"


def _told(a: Node, b: Node, index: int, whole: bool, digits: int) -> Literal["same", "differ", "unknown"]:
    """What a sample point tells of two sides; unknown where one has no value, or more digits tell other things."""
    gaps: list[precise.Number] = []
    for more in (0, MORE, 2 * MORE):
        x, y = value(a, index, whole, digits + more), value(b, index, whole, digits + more)
        if x is None or y is None:
            return "unknown"
        if _same(x, y, digits + more):
            return "same"
        gaps.append((x[0] - y[0], x[1] - y[1]))
        if more and _size(precise.add(gaps[-2], (-gaps[-1][0], -gaps[-1][1]))) <= _size(gaps[-1]) / 2:
            return "differ"
    shrinks = all(_size(later) <= _size(gap).scaleb(-MORE // 2) for gap, later in pairwise(gaps))
    return "same" if shrinks else "unknown"


def _same(x: precise.Number, y: precise.Number, digits: int) -> bool:
    scale = max(abs(part) for part in (*x, *y))
    if not scale:
        return True
    gap = max(abs(x[0] - y[0]), abs(x[1] - y[1]))
    return gap <= scale.scaleb(-digits * 3 // 4)


def _is_real(x: precise.Number) -> bool:
    return abs(x[1]) <= abs(x[0]).scaleb(-ROUGH * 3 // 4)


def _size(x: precise.Number) -> Decimal:
    return max(abs(x[0]), abs(x[1]))
