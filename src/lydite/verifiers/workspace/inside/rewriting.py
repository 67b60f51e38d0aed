"""What is changed in the grader's test files before they run: marks, comparisons, sentinels.

Covered: a test counts only when its own last line was reached (``reached`` is called there, and before each
``return``), so that no report about it need be believed; comparisons go through the guard; each file has two tests
more, under names that look like the others: one that must fail and one that must pass, to show that failing and passing
still work. Not covered: generators and coroutines as tests; test functions that a file imports instead of defining them
have no mark.

pytest's own rewriting of ``assert`` goes on as it is: this is done to what it has made.
"""

from __future__ import annotations

import ast
import os
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import _pytest.assertion.rewrite as rewrite

from .comparing import guarded, planted
from .frames import sealed

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


_original: Callable[..., None] = rewrite.rewrite_asserts


def install() -> Callable[[Rewriting], None]:
    """Take part in pytest's rewriting. Returns what is told who does, later."""
    parts: list[Rewriting] = []
    compiled: Callable[..., tuple[Any, types.CodeType]] = rewrite._rewrite_test

    def rewrite_asserts(mod: ast.Module, source: bytes, module_path: str | None = None, config: Any = None) -> None:
        for part in parts:
            part.change(mod, source, module_path, config)

    def rewrite_test(path: Any, config: Any) -> tuple[Any, types.CodeType]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # constants are called
            stat, code = compiled(path, config)
        for part in parts:
            code = part.complete(os.path.realpath(path), code)
        return stat, code

    rewrite.rewrite_asserts = sealed(rewrite_asserts)
    rewrite._rewrite_test = sealed(rewrite_test)
    return parts.append


class Rewriting:
    """What is done to the files of one process.

    Args:
        files: real paths of the grader's Python files; no others are touched.
        functions: what the changed code calls, and the constants in their place, drawn at random: to compare, to say
            that a test's end was reached, to say which name space is the grader's (when a file begins), and that it is
            complete (at its end).
        gone: files to remove before they are run, so that nothing reads in them what they expect.
        sentinels: names of tests that must fail and must pass, by real path.
        loaded: told the code of each file before it runs.

    Attributes:
        done: real paths of the files that were loaded through here.
    """

    def __init__(
        self,
        files: frozenset[str],
        functions: dict[str, Callable[..., Any]],
        sentinels: dict[str, tuple[str, str, int]],
        gone: frozenset[str],
        loaded: Callable[[types.CodeType], None],
    ) -> None:
        self.files, self.done, self._loaded = files, set[str](), loaded
        self._compare, self._reached, self._begun, self._complete = functions
        self._functions = functions
        self._sentinels, self._gone = sentinels, gone

    def change(self, mod: ast.Module, source: bytes, module_path: str | None, config: Any) -> None:
        path = os.path.realpath(module_path or "")
        if path not in self.files:
            _original(mod, source, module_path, config)
            return
        self.done.add(path)
        if path in self._gone:
            os.unlink(path)
        if path in self._sentinels:
            _insert(mod, *self._sentinels[path])
        _original(mod, source, module_path, config)
        for body in [mod.body, *(node.body for node in mod.body if isinstance(node, ast.ClassDef))]:
            for node in body:
                if isinstance(node, ast.FunctionDef) and (node.name.startswith("test") or node.name == "runTest"):
                    _mark(node, self._reached)
        guarded(mod, self._compare)
        mod.body.insert(_first(mod.body), _told(self._begun))
        mod.body.append(_told(self._complete))
        ast.fix_missing_locations(mod)

    def complete(self, path: str, code: types.CodeType) -> types.CodeType:
        """A file's code, with what it calls."""
        if path in self.files:
            code = planted(code, self._functions)
            self._loaded(code)
        return code


def _told(name: str) -> ast.Expr:
    own = ast.Call(ast.Name("globals", ast.Load()), [], [])
    return ast.Expr(ast.Call(ast.Constant(name), [own], []))


def _first(body: list[ast.stmt]) -> int:
    """Where the first statement may stand: behind the docstring and imports from the future."""
    for index, node in enumerate(body):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            return index
    return len(body)


def _insert(mod: ast.Module, fails: str, passes: str, place: int) -> None:
    """Put the sentinels among the definitions of a file. ``place``: any number."""
    places = [index for index, node in enumerate(mod.body) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    if not places:
        return
    for name, expected in ((fails, place + 1), (passes, place)):
        index = places[(place >> (8 * (name == passes))) % len(places)] + 1
        value = ast.Assign([ast.Name("value", ast.Store())], ast.Constant(place))
        test = ast.Compare(ast.Name("value", ast.Load()), [ast.Eq()], [ast.Constant(expected)])
        arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        # A class has to be left before the next definition: what is inserted later stands before what was.
        function = ast.FunctionDef(name, arguments, [value, ast.Assert(test, None)], [], None)
        function.type_params = []  # type: ignore[attr-defined]  # Python 3.12
        mod.body.insert(index, ast.copy_location(function, mod.body[index - 1]))
    ast.fix_missing_locations(mod)


def _mark(function: ast.FunctionDef, reached: str) -> None:
    """Have a function say that it was left by its end or by a ``return`` of its own."""
    inside = list(_inside(function.body))
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in inside):
        return

    def call(value: ast.expr) -> ast.Call:
        return ast.Call(ast.Constant(reached), [value], [])

    for node in inside:
        if isinstance(node, ast.Return):
            node.value = ast.copy_location(call(node.value or ast.Constant(None)), node)
    function.body.append(ast.copy_location(ast.Return(call(ast.Constant(None))), function.body[-1]))


def _inside(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """What belongs to a function itself, not to one within."""
    for node in nodes:
        if not isinstance(node, _SCOPES):
            yield node
            yield from _inside(ast.iter_child_nodes(node))
