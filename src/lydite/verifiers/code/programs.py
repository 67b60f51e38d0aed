"""Program texts for the sandbox, and the modules of ours that its processes find imported.

Each job is a process of its own that lives for a millisecond; compiling our modules in it, or even loading compiled
ones, would take as long again. So the sandbox imports them once (``Sandbox(modules=...)``), as one module named
``grading``: its parts share a name space, and annotations and docstrings, which only take memory, are left out.
"""

from __future__ import annotations

import ast
import marshal
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from lydite.verifiers.code.values import MalformedError, decode, encode

NAME = "grading"
PARTS = ("values", "candidate", "tester", "checking")

Call = tuple[bool, bytes]
"""Arguments by position and by name, in the format of ``marshal`` (true) or ``values`` (false). The first is read ten
times as fast, and only by the candidate's process: nothing that comes from there is read by it."""

TESTER = f"import {NAME}; {NAME}.run_test()\n"
"""A program that runs the test of its standard input."""
CHECKER = f"import {NAME}; {NAME}.run_checker()\n"
"""A program that runs the checker of its standard input."""


def candidate_program(source: str, preamble: bytes = b"", entry: str | None = None) -> str:
    """A program that loads the candidate's source and makes the calls of its standard input."""
    return f"import {NAME}; {NAME}.main({source!r}, {preamble!r}, {entry!r})\n"


def calls_input(calls: Iterable[tuple[str, Call]], watched: bool) -> bytes:
    """The standard input of a candidate's program. ``watched``: what a call changes in its arguments is told."""
    return marshal.dumps((watched, [(name, *call) for name, call in calls]))


@lru_cache(maxsize=8192)
def portable(call: bytes) -> Call:
    """Encoded arguments in the interpreter's own format, where that can hold them."""
    try:
        data = marshal.dumps(decode(call), 2)  # 2: what stands twice comes twice
        if encode(marshal.loads(data)) == call:  # a bytearray would come back as bytes  # noqa: S302
            return True, data
    except (ValueError, MalformedError):  # an iterator, a Fraction ...; a set that a candidate's answer went into
        pass
    return False, call


@lru_cache(maxsize=1)
def grading_module() -> str:
    """The source of the module."""
    body: list[ast.stmt] = []
    for name in PARTS:
        source = (Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8")
        body += _Slim().visit(ast.parse(source)).body
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))


class _Slim(ast.NodeTransformer):
    """Without annotations, docstrings, and imports from modules that stand in the same name space."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | ast.Pass:
        return ast.copy_location(ast.Pass(), node) if isinstance(node.value, ast.Constant) else node

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
        self.generic_visit(node)
        node.returns = None
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function  # noqa: N815

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | None:
        return ast.copy_location(ast.Assign([node.target], node.value), node) if node.value else None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | None:
        return None if node.level or node.module in ("__future__", "typing", "collections.abc") else node
