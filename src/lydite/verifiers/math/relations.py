"""Whether two equations, inequalities, congruences, ratios or times say the same."""

from __future__ import annotations

from decimal import Decimal

from lydite.verifiers.math import sets
from lydite.verifiers.math.answer import SCALARS, Answer, Rules
from lydite.verifiers.math.evaluate import DIGITS
from lydite.verifiers.math.exact import rational
from lydite.verifiers.math.measures import scalars_agree
from lydite.verifiers.math.nodes import Node, UndefinedError, num, symbols
from lydite.verifiers.math.scalars import POINTS, equal, point
from lydite.verifiers.math.scalars import number as value_of
from lydite.verifiers.math.work import pay

_NEAR = Decimal("1e-30")


def label_of(answer: Answer) -> str | None:
    """The name that an assignment is about; ``None`` for words and points, which say nothing about the value."""
    label = answer.label
    if isinstance(label, Node) and label.op == "sym":
        return str(label.args[0])
    if isinstance(label, Node) and label.op == "call":
        return f"{label.args[0]}("
    return None


def _difference(answer: Answer) -> Node | None:
    """Left minus right of an equation."""
    if answer.kind == "equation":
        return answer.node
    if (
        answer.kind == "assign"
        and isinstance(answer.label, Node)
        and answer.label.op == "sym"
        and answer.node is not None
    ):
        return Node("add", (answer.label, Node("neg", (answer.node,))))
    return None


def same_equation(a: Answer, g: Answer) -> bool:
    """Equations that say the same, up to a constant factor. An equation that still has to be solved for its only
    unknown is not its solution."""
    stated = a.items if a.kind == "equation" else g.items
    other = g if a.kind == "equation" else a
    if stated and other.kind in SCALARS:
        if g.kind == "equation" and symbols(g.node) <= {"x", "y", "z"}:
            return False  # 7 is no answer to the line x + y = 7; that x + y = 7 is one to 7
        return scalars_agree(stated[0], other, Rules())
    if a.kind != g.kind and "assign" in (a.kind, g.kind) and not symbols((a if a.kind == "assign" else g).node):
        return False
    x, y = _difference(a), _difference(g)
    if x is None or y is None or len(symbols(x) | symbols(y)) < 1:
        return False
    if a.kind == g.kind == "assign" and not (symbols(a.node) and symbols(g.node)):
        return False
    return _ratio(x, y) != 0


def _ratio(x: Node, y: Node) -> int:
    """The sign of the constant x / y: 0 where the quotient is not a real constant other than zero."""
    names = sorted(symbols(x) | symbols(y))
    if symbols(x) != symbols(y):
        return 0
    first: Decimal | None = None
    quotient = Node("div", (x, y))
    for index in range(POINTS):
        pay(quotient, index, DIGITS)
        try:
            real, imaginary = value_of(quotient, point(names, index))
        except UndefinedError:
            return 0
        if (
            not real
            or abs(imaginary) > abs(real) * _NEAR
            or (first is not None and abs(real - first) > abs(first) * _NEAR)
        ):
            return 0
        first = real if first is None else first
    return 0 if first is None else 1 if first > 0 else -1


def same_region(a: Answer, g: Answer) -> bool:
    """The same subset of the real line, about the same unknown."""
    try:
        x, y = sets.of_answer(a), sets.of_answer(g)
    except UndefinedError:
        return False
    if x is None or y is None:
        return False
    return x[0] == y[0] and (x[1] is None or y[1] is None or x[1] == y[1])


def same_inequality(a: Answer, g: Answer) -> bool:
    """Inequalities in several symbols: the same up to a positive factor."""
    (ops_a, nodes_a), (ops_g, nodes_g) = a.data, g.data
    if len(ops_a) != 1 or len(ops_g) != 1:
        return False
    if sets.of_answer(a) is not None or sets.of_answer(g) is not None:
        return False  # solved for its unknown: an inequality that still has to be solved is no answer
    flip = {"<": ">", "<=": ">="}
    sides = []
    for operator, (left, right) in ((ops_a[0], nodes_a), (ops_g[0], nodes_g)):
        if operator in flip:
            operator, left, right = flip[operator], right, left
        sides.append((operator, Node("add", (left, Node("neg", (right,))))))
    if sides[0][0] != sides[1][0]:
        return False
    ratio = _ratio(sides[0][1], sides[1][1])
    return ratio > 0 or (ratio < 0 and sides[0][0] == "!=")


def same_residue(a: Answer, g: Answer) -> bool:
    """Congruences of the same modulus and residue; a plain number forgives a missing modulus."""
    if a.node is None or g.node is None:
        return False
    if a.kind == g.kind:
        x, y, m, n = rational(a.node), rational(g.node), rational(a.data), rational(g.data)
        if m is None or m != n or m == 0 or x is None or y is None:
            return False
        return (x - y) % m == 0
    residue, plain = (a, g) if a.kind == "mod" else (g, a)
    if plain.kind not in SCALARS or plain.unit is not None or residue.node is None or plain.node is None:
        return False
    if residue.label != "rem":
        return equal(residue.node, plain.node)
    x, m = rational(residue.node), rational(residue.data)  # 12 mod 7 is 5
    return x is not None and m is not None and m > 0 and equal(num(x % m), plain.node)


def same_base(a: Answer, g: Answer) -> bool:
    """The same digits in the same base."""
    if a.node is None or g.node is None:
        return False
    if a.kind == g.kind:
        return a.node.args[:2] == g.node.args[:2]
    if "0x" in (a.label, g.label):
        return False
    if (a.node if a.kind == "base" else g.node).args[1] == 10:
        return a.unit is None and g.unit is None and a.kind in (*SCALARS,) and equal(a.node, g.node)
    # A number without its base is a decimal number. The digits of another base are no answer to a gold that asks for
    # that base.
    return g.kind != "base" and g.kind in SCALARS and g.unit is None and equal(a.node, g.node)


def same_ratio(a: Answer, g: Answer) -> bool:
    """Proportional ratios; equal times."""
    if a.kind == g.kind == "time":
        (h, m, s, half_a), (k, n, t, half_g) = a.data, g.data
        if half_a in ("a", "p") and half_g in ("a", "p"):
            return bool((h, m, s) == (k, n, t))
        stated, bare = (h, k) if half_a else (k, h)
        # Beside 4 p.m. a bare 4 is forgiven; 16 and 0 are hours of 24.
        same = (stated % 12 == bare % 12 if 0 < bare <= 12 else stated == bare) if half_a or half_g else h == k
        return bool(same and (m, s) == (n, t))
    clock, amount = (a, g) if a.kind == "time" else (g, a)
    if clock.kind == "time" and amount.unit is not None:
        return _lasts(clock, amount)
    x, y = _parts(a), _parts(g)
    if x is None or y is None or len(x) != len(y):
        return False
    return (
        all(equal(Node("mul", (x[0], q)), Node("mul", (y[0], p))) for p, q in zip(x[1:], y[1:], strict=True))
        and rational(y[0]) != 0
    )


def _lasts(clock: Answer, amount: Answer) -> bool:
    """2:15 as a time that something takes: hours and minutes, or minutes and seconds."""
    hour, minute, second, half = clock.data
    if half or amount.unit is None or amount.unit.dims != (("s", 1),) or amount.node is None:
        return False
    total = 3600 * hour + 60 * minute + second
    seconds = Node("mul", (amount.node, num(amount.unit.factor)))
    return equal(seconds, num(total)) or (not second and equal(seconds, num(60 * hour + minute)))


def _parts(answer: Answer) -> tuple[Node, ...] | None:
    if answer.kind == "ratio":
        return tuple(answer.data)
    if answer.kind == "time" and not answer.data[3]:
        hour, minute, second, _ = answer.data
        return (num(hour), num(minute)) if not second and minute > 9 else None  # 9:05 is no ratio
    if answer.kind in SCALARS and answer.unit is None and answer.node is not None and not symbols(answer.node):
        return (answer.node, num(1)) if answer.kind != "percent" else None
    return None
