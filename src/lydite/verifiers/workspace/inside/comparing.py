"""Have a program's comparisons, and its differences, made by a function of ours.

The function stands among the constants of the compiled code, not under a name, where anybody could put another in its
place for as long as it is needed.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Mapping
from typing import Any

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
        compare: the constant in place of what is called, with the operator and both sides.
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
    call = ast.Call(ast.Constant(compare), [ast.Constant(name), left, right], [])
    return ast.copy_location(call, node)


def planted(code: types.CodeType, functions: Mapping[str, Callable[..., Any]]) -> types.CodeType:
    """Code with functions for the constants that stand in their place."""
    constants: list[Any] = []
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            one = planted(one, functions)
        elif type(one) is str and one in functions:
            one = functions[one]
        constants.append(one)
    return code.replace(co_consts=tuple(constants))
