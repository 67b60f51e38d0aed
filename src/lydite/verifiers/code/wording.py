"""What the source of a test speaks of: read off its tree, nothing of it is run."""

from __future__ import annotations

import ast
import builtins

from lydite.verifiers.code.rewrite import parsed


def names(test: str, entry: str) -> bool:
    """Whether a test's source speaks of what it tests at all: by its name, or as the parameter of ``check``."""
    wanted = {entry.rpartition(".")[2], "candidate"}
    for node in parsed(test).body:
        if isinstance(node, ast.FunctionDef) and node.name == "check":
            wanted |= {argument.arg for argument in node.args.args}
    todo: list[ast.AST] = [parsed(test)]
    while todo:  # depth first: a call is soon found
        one = todo.pop()
        if isinstance(one, ast.Name) and one.id in wanted:
            return True
        todo.extend(ast.iter_child_nodes(one))
    return False


def can_fail(test: str) -> bool:
    """Whether a test can find an answer wrong: it asserts, raises or decides, or calls what asserts by its name."""
    for node in ast.walk(parsed(test)):
        if isinstance(node, ast.Assert | ast.Raise | ast.If | ast.While | ast.Compare):
            return True
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if "assert" in name.lower() or "fail" in name.lower():
                return True
    return False


def called(test: str) -> str | None:
    """The first name that a test calls and neither defines, imports nor finds built in."""
    tree = parsed(test)
    own = {"candidate", *dir(builtins)}
    calls: list[ast.Name] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            own |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            calls.append(node.func)
    calls.sort(key=lambda name: (name.lineno, name.col_offset))
    return next((name.id for name in calls if name.id not in own), None)
