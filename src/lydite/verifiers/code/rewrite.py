"""The source of a test, made ready for its process: compiled here once, since it is the author's and the same for all
candidates. Nothing of it is run here."""

from __future__ import annotations

import ast
import marshal
from functools import lru_cache

_ASSERT = """
try:
    _the_hole.asserting += 1
    if not 0:
        _the_proxy.failed()
except Exception:
    if not _the_proxy.guessing:
        raise
finally:
    _the_hole.asserting -= 1
"""


class _Test(ast.NodeTransformer):
    """``assert X, Y`` becomes a test that is let pass, whatever happens in it, while answers are guessed; a call of a
    name, as a statement of its own, one whose effect on its arguments is seen."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in self.names:
            alone = ast.parse("_the_proxy.alone", mode="eval").body
            call = ast.Call(alone, [call.func, *call.args], call.keywords)
            return ast.copy_location(ast.Expr(ast.copy_location(call, node)), node)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        made = ast.parse(_ASSERT).body[0]
        check = made.body[1]  # type: ignore[attr-defined]
        check.test.operand = node.test
        if node.msg is not None:
            check.body[0].value.args.append(node.msg)
        return ast.copy_location(made, node)


@lru_cache(maxsize=64)
def parsed(source: str) -> ast.Module:
    """The tree of a test, to be read only.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it is no Python source.
    """
    return ast.parse(source, "test.py")


@lru_cache(maxsize=4096)
def compiled_test(source: str, entry: str = "") -> bytes:
    """The code of a test, for the interpreter of this version.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it is no Python source.
    """
    tree = ast.parse(source, "test.py")
    names = {"candidate", entry.rpartition(".")[2], *(node.arg for node in ast.walk(tree) if isinstance(node, ast.arg))}
    tree = ast.fix_missing_locations(_Test(names).visit(tree))
    return marshal.dumps(compile(tree, "test.py", "exec", dont_inherit=True))


@lru_cache(maxsize=1024)
def compiled_checker(source: str) -> bytes:
    """The code of a checker.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it is no Python source.
    """
    return marshal.dumps(compile(source, "checker.py", "exec", dont_inherit=True))


@lru_cache(maxsize=4096)
def compiled_prompt(source: str) -> bytes:
    """The code of a prompt's Python; empty where it is none."""
    try:
        return marshal.dumps(compile(source, "prompt.py", "exec", dont_inherit=True)) if source else b""
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return b""


def preamble_of(source: str, prompt: str) -> bytes:
    """The code of a prompt's Python that a candidate's source needs: none where the source goes on from the prompt, and
    so brings along all that is in it."""
    if source.startswith(prompt) and "\n" in (prompt[-1:], source[len(prompt) : len(prompt) + 1]):
        return b""
    return compiled_prompt(prompt)


@lru_cache(maxsize=4096)
def defined_names(source: str) -> frozenset[str] | None:
    """Names to which a prompt's code may give a meaning of its own; ``None`` where it may be any."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*" or alias.name.partition(".")[0] == "builtins":
                    return None
                if alias.name != "math" or alias.asname:
                    names.add((alias.asname or alias.name).partition(".")[0])
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.Name) and node.id in ("__builtins__", "globals", "exec", "eval", "setattr"):
            return None
    return frozenset(names)
