"""Matrices written as products, sums and transposes are worked out; brackets within brackets are rows."""

from __future__ import annotations

from collections.abc import Callable

from lydite.verifiers.math.nodes import Node, contains

Rows = tuple[tuple[Node, ...], ...]


def worked(node: Node) -> Node:
    """The matrix itself, where a tree is a matrix times a number, a sum of matrices or a transpose; else the tree."""
    rows = _rows(node)
    return node if rows is None else Node("matrix", rows)


def _rows(node: Node) -> Rows | None:
    op, args = node
    if op == "matrix":
        return None if contains(tuple(args), "matrix") else args
    if op == "neg":
        inner = _rows(args[0])
        return None if inner is None else _each(inner, lambda cell: Node("neg", (cell,)))
    if op in ("mul", "div"):
        left, right = _rows(args[0]), _rows(args[1])
        if left is not None and right is None and not contains(args[1], "matrix"):
            return _each(left, lambda cell: Node(op, (cell, args[1])))
        if right is not None and left is None and op == "mul" and not contains(args[0], "matrix"):
            return _each(right, lambda cell: Node("mul", (args[0], cell)))
        return None
    if op == "add":
        left, right = _rows(args[0]), _rows(args[1])
        if left is None or right is None or [len(row) for row in left] != [len(row) for row in right]:
            return None
        return tuple(
            tuple(Node("add", pair) for pair in zip(*rows, strict=True)) for rows in zip(left, right, strict=True)
        )
    if op == "pow" and args[1] in (Node("sym", ("T",)), Node("sym", ("t",)), Node("sym", ("top",))):
        if args[0].op == "tuple":  # [1, 2, 3]^T is a column
            return tuple((cell,) for cell in args[0].args[2])
        inner = _rows(args[0])
        return None if inner is None else tuple(zip(*inner, strict=True))
    return None


def _each(rows: Rows, change: Callable[[Node], Node]) -> Rows:
    return tuple(tuple(change(cell) for cell in row) for row in rows)


def of_brackets(node: Node) -> Node | None:
    """``[[1, 2], [3, 4]]`` as a matrix."""
    opening, closing, items = node.args
    if opening != "[" or closing != "]" or len(items) < 2:
        return None
    if any(item.op != "tuple" or item.args[:2] != ("[", "]") for item in items):
        return None
    rows: Rows = tuple(item.args[2] for item in items)
    return Node("matrix", rows) if len({len(row) for row in rows}) == 1 else None
