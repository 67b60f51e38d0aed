"""Subsets of the real line: unions of intervals with exact kinds of end points."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from lydite.verifiers.math.answer import Answer
from lydite.verifiers.math.evaluate import DIGITS
from lydite.verifiers.math.nodes import Node, UndefinedError, symbols
from lydite.verifiers.math.scalars import number
from lydite.verifiers.math.work import pay

Interval = tuple[Decimal, bool, Decimal, bool]  # low, whether it belongs, high, whether it belongs
RealSet = tuple[Interval, ...]

_INF = Decimal("Infinity")
_ROUND = Context(prec=40)
LINE: RealSet = ((-_INF, False, _INF, False),)
MAX_PARTS = 64
_NAMED: dict[str, RealSet] = {
    "R": LINE,
    "R+": ((Decimal(0), False, _INF, False),),
    "R-": ((-_INF, False, Decimal(0), False),),
    "R+0": ((Decimal(0), True, _INF, False),),
    "R-0": ((-_INF, False, Decimal(0), True),),
    "R*": ((-_INF, False, Decimal(0), False), (Decimal(0), False, _INF, False)),
}


def _end(node: Node) -> Decimal | None:
    if node == Node("const", ("oo",)):
        return _INF
    if node == Node("neg", (Node("const", ("oo",)),)):
        return -_INF
    if symbols(node):
        return None
    pay(node, 0, DIGITS)
    try:
        real, imaginary = number(node, {})
    except UndefinedError:
        return None
    return None if imaginary else _ROUND.plus(real)


def _ends(node: Node) -> list[Decimal]:
    """The value of an end, or both of plus-minus; empty where there is none."""
    if node.op == "pm":
        left, right = node.args
        pair = [_end(Node("add", (left, right))), _end(Node("add", (left, Node("neg", (right,)))))]
        return [end for end in pair if end is not None] if None not in pair else []
    end = _end(node)
    return [] if end is None else [end]


def of_node(node: Node) -> RealSet | None:
    """The set of an interval, a finite set, the reals, or unions, intersections and differences of such."""
    op, args = node
    if op == "tuple" and len(args[2]) == 2:
        low, high = _end(args[2][0]), _end(args[2][1])
        if low is None or high is None or low > high:
            return None
        return ((low, args[0] == "[" and low.is_finite(), high, args[1] == "]" and high.is_finite()),)
    if op == "set":
        ends = [_end(item) for item in args]
        return normal([(end, True, end, True) for end in ends if end is not None]) if None not in ends else None
    if op == "named":
        return _NAMED.get(args[0])
    if op in ("cup", "cap", "minus"):
        left, right = of_node(args[0]), of_node(args[1])
        if left is None or right is None:
            return None
        if op == "cup":
            return normal([*left, *right])
        return intersect(left, right if op == "cap" else complement(right))
    return None


def of_answer(answer: Answer) -> tuple[RealSet, str | None] | None:
    """The set that an answer describes, with the name of the unknown where it has one."""
    if answer.kind in ("set", "tuple") and answer.node is not None:
        found = of_node(answer.node)
        return None if found is None else (found, None)
    if answer.kind == "assign" and answer.data == "in" and isinstance(answer.label, Node) and answer.label.op == "sym":
        inner = of_answer(answer.items[0])
        return None if inner is None else (inner[0], answer.label.args[0])
    if answer.kind == "relation":
        return _relation(*answer.data)
    if (
        answer.kind == "assign"
        and isinstance(answer.label, Node)
        and answer.label.op == "sym"
        and answer.node is not None
    ):
        end = _end(answer.node)
        return None if end is None else (((end, True, end, True),), answer.label.args[0])
    if answer.kind == "list" and answer.data in (",", "and", "or"):
        parts = [of_answer(item) for item in answer.items]
        known = [part for part in parts if part is not None]
        names = {name for _, name in known if name}
        if len(known) < len(parts) or len(names) > 1:
            return None
        name = next(iter(names), None)
        union = normal([interval for part, _ in known for interval in part])
        if answer.data == "or" or not any(item.kind == "relation" for item in answer.items):
            return union, name  # intervals in a row are what belongs to any of them
        total = known[0][0]
        for other, _ in known[1:]:
            total = intersect(total, other)
        return (total if total or answer.data == "and" else union), name  # x < -1, x > 3
    return None


def whole_numbers(answer: Answer) -> list[int] | None:
    """The whole numbers in the set that an answer describes, where they are few."""
    found = of_answer(answer)
    if found is None:
        return None
    values: list[int] = []
    for low, low_in, high, high_in in found[0]:
        if not (low.is_finite() and high.is_finite()) or high - low > MAX_PARTS:
            return None
        first = int(low.to_integral_value(ROUND_FLOOR)) + (0 if low_in and low == low.to_integral_value() else 1)
        last = int(high.to_integral_value(ROUND_CEILING)) - (0 if high_in and high == high.to_integral_value() else 1)
        values.extend(range(first, last + 1))
    return values if len(values) <= MAX_PARTS else None


def _relation(operators: tuple[str, ...], nodes: tuple[Node, ...]) -> tuple[RealSet, str | None] | None:
    """A chain such as -1 < x <= 2, x != 3: one bare symbol against numbers."""
    within = _within(operators, nodes)
    if within is not None:
        return within
    unknown = [index for index, node in enumerate(nodes) if node.op == "sym"]
    if len(unknown) != 1:
        return None
    middle = unknown[0]
    name = nodes[middle].args[0]
    total = LINE
    for index, operator in enumerate(operators):
        if middle not in (index, index + 1):
            return None
        other = nodes[index + 1] if middle == index else nodes[index]
        ends = _ends(other)
        if not ends or (len(ends) > 1 and operator != "!="):
            return None
        end = ends[0]
        if middle != index:
            operator = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(operator, operator)
        closed = operator.endswith("=") and end.is_finite()
        if operator in ("<", "<="):
            part: RealSet = ((-_INF, False, end, closed),)
        elif operator in (">", ">="):
            part = ((end, closed, _INF, False),)
        elif operator == "!=":
            part = complement(normal([(value, True, value, True) for value in ends]))
        else:
            return None
        total = intersect(total, part)
    return total, name


def _within(operators: tuple[str, ...], nodes: tuple[Node, ...]) -> tuple[RealSet, str | None] | None:
    """|x - a| <= c and |x - a| > c."""
    if len(nodes) != 2:
        return None
    left, right, operator = nodes[0], nodes[1], operators[0]
    if right.op == "call":
        left, right, operator = right, left, {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(operator, operator)
    if left.op != "call" or left.args[0] != "abs" or operator not in ("<", "<=", ">", ">="):
        return None
    inside, size = left.args[1][0], _end(right)
    middle: Node = Node("num", (Fraction(0),))
    if inside.op == "add" and inside.args[0].op == "sym":
        inside, middle = inside.args[0], Node("neg", (inside.args[1],))
    centre = _end(middle)
    if inside.op != "sym" or size is None or centre is None or not size.is_finite() or size < 0:
        return None
    closed = operator in ("<=", ">")  # of the interval; what lies outside has the other ends
    low, high = _ROUND.subtract(centre, size), _ROUND.add(centre, size)
    inner = normal([(low, closed, high, closed)])
    return (inner if operator in ("<", "<=") else complement(inner)), inside.args[0]


def normal(parts: list[Interval]) -> RealSet:
    """Disjoint intervals in order; neighbours that touch in a point that belongs to either are one."""
    kept = sorted((part for part in parts if _there(part)), key=lambda part: (part[0], not part[1], part[2], part[3]))
    out: list[Interval] = []
    for part in kept[: 2 * MAX_PARTS]:
        if out:
            low, low_in, high, high_in = out[-1]
            if part[0] < high or (part[0] == high and (part[1] or high_in)):
                if part[2] > high or (part[2] == high and part[3]):
                    out[-1] = (low, low_in, part[2], part[3])
                continue
        out.append(part)
    return tuple(out)


def _there(part: Interval) -> bool:
    low, low_in, high, high_in = part
    return low < high or (low == high and low_in and high_in)


def intersect(a: RealSet, b: RealSet) -> RealSet:
    """What both have."""
    parts: list[Interval] = []
    for x in a[:MAX_PARTS]:
        for y in b[:MAX_PARTS]:
            low, low_in = max((x[0], not x[1]), (y[0], not y[1]))
            high, high_in = min((x[2], x[3]), (y[2], y[3]))
            parts.append((low, not low_in, high, high_in))
    return normal(parts)


def complement(a: RealSet) -> RealSet:
    """The rest of the line."""
    parts: list[Interval] = []
    low, low_in = -_INF, False
    for part in a:
        parts.append((low, low_in, part[0], not part[1]))
        low, low_in = part[2], not part[3]
    parts.append((low, low_in, _INF, False))
    return normal([(lo, i and lo.is_finite(), hi, j and hi.is_finite()) for lo, i, hi, j in parts])
