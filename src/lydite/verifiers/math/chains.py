"""Values that are said to be the same: 2500 g = 2.5 kg, 2 + 3 = 5, 2/7 = 0.29 roughly."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from lydite.verifiers.math.answer import SCALARS, Answer, Rules
from lydite.verifiers.math.measures import measured, scalars_agree
from lydite.verifiers.math.nodes import Node, contains, num, symbols
from lydite.verifiers.math.scalars import equal
from lydite.verifiers.math.tokens import Token
from lydite.verifiers.math.units import agree

_EXACT = Rules()
_BARE = Rules(units="ignore")  # 2500 g / 1000 = 2.5 kg: the working is right, its unit is loose
_ROUGH = Rules(tolerance=Fraction(1, 4))
_ROUNDED = Fraction(1, 20)


def stated(left: Answer, right: Answer) -> tuple[Answer, ...]:
    """The value in m + n = 42, which says what a sum of unknowns is; 3x - y + 13 = 0 says nothing of the kind."""
    names = symbols(left.node)
    if left.node is None or len(names) < 2 or right.kind not in SCALARS or right.node in (None, num(0)):
        return ()
    bare = not contains(left.node, "num") or not names <= {"x", "y", "z"}
    return (right,) if bare and not symbols(right.node) else ()


def rate_of(left: Answer, right: Answer) -> Answer | None:
    """The price in 1 book = $5: how much of something else there is to one of a thing."""
    one = left.node == num(1) and left.unit is not None and left.unit.dims
    other = right.unit is not None and right.unit.dims and agree(left.unit, right.unit) is None
    return right if one and other else None


def chain(values: list[Answer], operators: list[str], worked: list[bool], raw: str) -> Answer | None:
    """The last of values that are all the same; ``None`` where they are not, or where symbols keep it open.

    A side in another unit (2500 g = 2.5 kg) is kept in ``items``: the chain says both.
    """
    plain = [measured(value) for value in values]
    if (
        any(value.unit is not None or value.kind == "percent" for value in plain)
        and all(value.kind in SCALARS and value.node is not None and not symbols(value.node) for value in plain)
        and (any(value.unit is not None for value in values) or _links(plain, operators, worked) is not None)
    ):
        last = _links(plain, operators, worked)
        if last is None:
            return Answer("false", raw)
        others = tuple(
            value for value, work in zip(plain, worked, strict=True) if value.unit != plain[last].unit and not work
        )
        return plain[last]._replace(items=others)
    exact = values[0]
    for operator, before, value in zip(operators, values, values[1:], strict=False):
        if operator == "~":
            if before.node is None or value.node is None or not _near(before.node, value.node):
                return None
            continue
        if before.node is None or value.node is None or not equal(before.node, value.node):
            return None
        exact = value
    return exact


def _near(x: Node, y: Node) -> bool:
    """Whether numbers are roughly the same; what has symbols is taken on trust."""
    if symbols(x) or symbols(y):
        return True
    whole = x.op == y.op == "num" and x.args[0].denominator == y.args[0].denominator == 1  # 9 ~ 10 is a range
    return equal(x, y, None if whole else _ROUNDED)


def _links(plain: list[Answer], operators: list[str], worked: list[bool]) -> int | None:
    """Which value a chain of values with units ends in; ``None`` where two neighbours differ."""
    last = 0
    for index, operator in enumerate(operators):
        before, value = plain[index], plain[index + 1]
        same = scalars_agree(before, value, _EXACT) or (worked[index] and scalars_agree(before, value, _BARE))
        if same:
            last = index + 1
        elif operator != "~" or not scalars_agree(before, value, _ROUGH):
            return None
    return last


def is_worked(tokens: list[Token]) -> bool:
    """Whether a side goes on to reckon behind a unit: 2500 g / 1000."""
    unit = False
    for token, following in pairwise(tokens):
        unit = unit or token.type in ("word", "sym")
        if unit and token.value in ("+", "-", "*", "/", "times", "cdot", "div") and following.type == "num":
            return True
    return False
