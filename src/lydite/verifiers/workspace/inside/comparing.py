"""Have a program's comparisons, and its differences, made by a function of ours."""

from __future__ import annotations

import ast

_NAMES = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
}


def guarded(tree: ast.AST, compare: str) -> None:
    """Change a tree in place.

    Args:
        compare: the name of what is called, with the operator and both sides.
    """
    for node in reversed(list(ast.walk(tree))):  # what is within first
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                setattr(node, field, _changed(value, compare))
            elif isinstance(value, list):
                value[:] = [_changed(one, compare) if isinstance(one, ast.AST) else one for one in value]


def _changed(node: ast.AST, compare: str) -> ast.AST:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        name, left, right = _NAMES.get(type(node.ops[0])), node.left, node.comparators[0]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        name, left, right = "-", node.left, node.right
    else:
        return node
    if name is None:
        return node
    call = ast.Call(ast.Name(compare, ast.Load()), [ast.Constant(name), left, right], [])
    return ast.copy_location(call, node)
