"""What a parsed formula is: a small immutable tree."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple


class NotMathError(Exception):
    """The text is not a formula that this parser reads. Within the room only."""


class TooBigError(Exception):
    """Evaluating would cost more than an answer may. Within the room only."""


class UndefinedError(Exception):
    """The formula has no value: division by zero, 0^0, infinity minus infinity. Within the room only."""


class Node(NamedTuple):
    """One node.

    Attributes:
        op: ``num`` (a Fraction), ``sym`` (a name), ``const`` (pi, e, i, oo), ``add``, ``mul``, ``div``, ``pow``,
            ``neg``, ``pm``, ``mp``, ``fact``, ``root``, ``call`` (function name, arguments), ``percent``, ``degree``,
            ``base`` (value, base, digits), ``mod``, ``rem``, ``tuple`` (open, close, items), ``set``, ``named``,
            ``cup``, ``cap``, ``minus``, ``matrix`` (rows), ``det``, ``list``, ``dots``, ``sum`` and ``prod`` (name of
            the index, first and last value, what is summed up).
        args: operands, or leaves' data.
    """

    op: str
    args: tuple[Any, ...] = ()


def num(value: Fraction | int) -> Node:
    """A number's leaf."""
    return Node("num", (value if type(value) is Fraction else Fraction(value),))


def symbols(node: Any) -> set[str]:
    """Names of the free symbols."""
    found: set[str] = set()
    if isinstance(node, Node) and node.op == "num":
        return found
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, Node):
            if item.op == "sym":
                found.add(item.args[0])
            elif item.op in ("sum", "prod"):  # the index is bound
                found |= symbols(item.args[3]) - {item.args[0]}
                stack.extend(item.args[1:3])
            else:
                stack.extend(item.args)
        elif isinstance(item, tuple):
            stack.extend(item)
    return found


def substitute(node: Node, name: str, value: Node) -> Node:
    """The tree with a value in place of a symbol."""
    if node.op == "sym":
        return value if node.args[0] == name else node
    if node.op == "num":
        return node
    args = tuple(
        substitute(arg, name, value)
        if isinstance(arg, Node)
        else tuple(substitute(item, name, value) if isinstance(item, Node) else item for item in arg)
        if isinstance(arg, tuple)
        else arg
        for arg in node.args
    )
    return Node(node.op, args)


def contains(node: Any, *ops: str) -> bool:
    """Whether any of these operations occurs."""
    if isinstance(node, Node) and node.op == "num":
        return "num" in ops
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, Node):
            if item.op in ops:
                return True
            stack.extend(item.args)
        elif isinstance(item, tuple):
            stack.extend(item)
    return False


def height(node: Node) -> int:
    """Levels of the tree, counted without recursion."""
    levels, layer = 0, [node]
    while layer:
        levels += 1
        below: list[Node] = []
        for item in layer:
            parts: list[Any] = list(item.args)
            while parts:
                part = parts.pop()
                if isinstance(part, Node):
                    below.append(part)
                elif isinstance(part, tuple):
                    parts.extend(part)
        layer = below
    return levels
