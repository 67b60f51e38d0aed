"""What holds for any number: ``5 + 0 = 5``, ``3 - 3 = 0``, ``4^1 = 4``, ``100% of 5 = 5``, ``2 + 3 = 3 + 2``."""

from __future__ import annotations

from lydite.verifiers.math.nodes import Node, num

MAX_LEVELS = 60
"""Of operations within each other; what has more is taken as it is."""

_ZERO, _ONE = num(0), num(1)


def is_idle(left: Node, right: Node, *, measured: bool) -> bool:
    """Whether two equal sides are the same, or bare numbers, once operations that do nothing are left out.

    Args:
        left: a side.
        right: the other one.
        measured: units or words such as "million" were left out of them: other numbers may be the same value.
    """
    try:
        one, other = _reduced(left, MAX_LEVELS), _reduced(right, MAX_LEVELS)
        return one == other or (not measured and one.op == other.op == "num")
    except RecursionError:
        return False


def _reduced(node: Node, levels: int) -> Node:
    """A tree without operations that do nothing; two numbers that are added or multiplied, the smaller one first."""
    if not levels or node.op not in ("add", "mul", "div", "pow", "neg", "percent"):
        return node
    args = [_reduced(arg, levels - 1) if isinstance(arg, Node) else arg for arg in node.args]
    one, other = args[0], args[-1]
    match node.op:
        case "neg":
            return num(-one.args[0]) if one.op == "num" else one.args[0] if one.op == "neg" else Node("neg", (one,))
        case "percent":
            return num(one.args[0] / 100) if one in (_ZERO, num(100)) else Node("percent", (one,))
        case "add":
            if one == _reduced(Node("neg", (other,)), 1):
                return _ZERO
            return other if one == _ZERO else one if other == _ZERO else _in_order("add", one, other)
        case "mul":
            if _ZERO in (one, other):
                return _ZERO
            return other if one == _ONE else one if other == _ONE else _in_order("mul", one, other)
        case "div":
            if one == other:
                return _ONE
            return one if other == _ONE or one == _ZERO else Node("div", (one, other))
        case _:
            if other == _ZERO:
                return _ONE
            return one if other == _ONE or one in (_ZERO, _ONE) else Node("pow", (one, other))


def _in_order(sign: str, one: Node, other: Node) -> Node:
    swapped = one.op == other.op == "num" and one.args[0] > other.args[0]
    return Node(sign, (other, one) if swapped else (one, other))
