"""Which tests a file has, read from its source: for files that cannot be collected before there is an attempt.

Covered: functions and methods called ``test...`` of the file itself, classes called ``Test...`` and those derived from
``TestCase``, ``parametrize`` with literal lists. What is parametrized by something else counts once, and is passed
when all that is collected for it is. Not covered: inherited tests, tests made in loops, fixtures with parameters.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple


class Expected(NamedTuple):
    """A test that has to pass.

    Attributes:
        id: its name in the verdict, and pytest's id where ``exact``.
        base: pytest's id without parameters.
        place: which of the tests of ``base`` it is, in the order of collection; ``None``: all of them together.
        exact: whether only a test of this id will do.
        marked: the function whose end has to be reached, as name:line; empty where that is not known.
    """

    id: str
    base: str
    place: int | None = 0
    exact: bool = True
    marked: str = ""


def count_tests(path: str, source: bytes) -> list[Expected]:
    """The tests of a file, in order."""
    found: list[Expected] = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            found += _expected(f"{path}::{node.name}", node, [])
        elif isinstance(node, ast.ClassDef) and _is_suite(node):
            for method in node.body:
                if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.name.startswith("test"):
                    found += _expected(f"{path}::{node.name}::{method.name}", method, node.decorator_list)
    return found


def _is_suite(node: ast.ClassDef) -> bool:
    if any(_last_name(base).endswith("TestCase") for base in node.bases):
        return True
    made = {method.name for method in node.body if isinstance(method, ast.FunctionDef)}
    return node.name.startswith("Test") and not made & {"__init__", "__new__"}


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _expected(base: str, node: ast.FunctionDef | ast.AsyncFunctionDef, outer: list[ast.expr]) -> Iterator[Expected]:
    decorators = [*node.decorator_list, *outer]
    if any(_mark(decorator) in ("skip", "xfail") for decorator in decorators):
        return
    marked = ""
    if isinstance(node, ast.FunctionDef) and not any(isinstance(one, ast.Yield) for one in ast.walk(node)):
        line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        marked = f"{node.name}:{line}" if all(_mark(decorator) for decorator in decorators) else ""
    sizes = [_cases(decorator) for decorator in decorators if _mark(decorator) == "parametrize"]
    if not sizes:
        yield Expected(base, base, 0, True, marked)
        return
    total: int | None = 1
    for size in sizes:
        total = None if size is None or total is None else total * size
    if total is None:
        yield Expected(f"{base}[*]", base, None, False, marked)
        return
    for place in range(total):
        yield Expected(f"{base}[#{place + 1}]", base, place, False, marked)


def _mark(decorator: ast.expr) -> str:
    """``parametrize`` for ``@pytest.mark.parametrize(...)``; empty for what is no mark."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(target, ast.Attribute) and _last_name(target.value) == "mark":
        return target.attr
    return "skip" if _last_name(target) == "skip" else ""


def _cases(decorator: ast.expr) -> int | None:
    if not isinstance(decorator, ast.Call):
        return None
    values = [*decorator.args[1:2], *(word.value for word in decorator.keywords if word.arg == "argvalues")]
    if len(values) != 1 or not isinstance(values[0], ast.List | ast.Tuple):
        return None
    return None if any(isinstance(item, ast.Starred) for item in values[0].elts) else len(values[0].elts)
