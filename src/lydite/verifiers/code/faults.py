"""Faults of an assert-source test itself, read off its source: what no candidate can pass, whatever it does.

Covered: names that nothing defines, where they are certain to be evaluated; modules that the sandbox lacks; the entry
point used as a class. Nothing of a candidate is looked at, so that none can bring a fault about. Not covered: whatever
depends on what happens (branches, ``try``, ``with``, functions that are called later): that stays the test's to say.
"""

from __future__ import annotations

import ast
import builtins
import collections
import decimal
import fractions
import json
import sys
from collections.abc import Iterator
from functools import lru_cache

from lydite.sandbox import Limits, Status
from lydite.verifiers.code.box import LostError, run_each
from lydite.verifiers.code.rewrite import defined_names, parsed

_PROBE = """
import importlib.util, json, sys
def lacks(name):
    try:
        return importlib.util.find_spec(name) is None
    except Exception:
        return False
print(json.dumps([name for name in json.loads(sys.stdin.read()) if lacks(name)]))
"""
_GIVEN = {"candidate", "__name__", "__builtins__", "__doc__", "__file__", "__loader__", "__package__", "__spec__"}
_DYNAMIC = {"globals", "exec", "eval", "setattr", "locals", "vars", "__builtins__", "__import__", "builtins", "sys"}
_PLAIN: tuple[object, ...] = (
    *(None, True, 0, 0.0, 0j, "", b"", bytearray(), [], (), {}, set(), frozenset(), range(0)),
    *(collections.deque(), collections.Counter(), collections.OrderedDict(), collections.defaultdict()),
    *(decimal.Decimal(), fractions.Fraction(), iter(()), (item for item in "")),
)
_KNOWN = {name for value in _PLAIN for name in dir(value)} | {"send", "throw", "close", "cr_frame", "cr_await"}
"""Attributes that an answer may have: those of plain values, and of a coroutine."""


@lru_cache(maxsize=4096)
def undefined_name(source: str, entry: str, prompt: str) -> str | None:
    """A name that neither the test nor the prompt's code defines, nor is built in, and that the test is certain to
    come to; ``None`` where there is none, or it cannot be told."""
    own, given = defined_names(source), defined_names(prompt)
    tree = parsed(source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if own is None or given is None or used & _DYNAMIC:
        return None
    known = {*dir(builtins), *_GIVEN, *own, *given, entry.rpartition(".")[2]}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            known.add(node.arg)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            known |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name:
            known.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            known.add(node.rest)
    checks = [node.body for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    for statement in [*_certain(tree.body), *(_certain(checks[-1]) if checks else ())]:
        for name in _evaluated(statement):
            if name not in known:
                return name
    return None


def _certain(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that are run, one after the other, up to one that may end the test or change its course."""
    for node in body:
        if isinstance(node, ast.Raise | ast.Return | ast.If | ast.For | ast.While | ast.Try | ast.With | ast.Match):
            return
        if isinstance(node, ast.Assert | ast.Expr | ast.Assign | ast.AugAssign):
            yield node


def _evaluated(node: ast.AST) -> Iterator[str]:
    """Names that are loaded wherever the node is evaluated at all."""
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):
            yield node.id
        return
    parts: list[ast.AST]
    if isinstance(node, ast.Assert | ast.IfExp):
        parts = [node.test]
    elif isinstance(node, ast.BoolOp):
        parts = [node.values[0]]
    elif isinstance(node, ast.Compare):
        parts = [node.left, node.comparators[0]]
    elif isinstance(node, ast.Lambda):
        return
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        parts = [node.generators[0].iter]
    else:
        parts = [*ast.iter_child_nodes(node)]
    for part in parts:
        yield from _evaluated(part)


def missing_module(source: str, limits: Limits) -> str | None:
    """A module that a test imports, whatever happens, and that the sandbox does not have."""
    wanted: list[str] = []
    for node in parsed(source).body:
        if isinstance(node, ast.Import):
            wanted += [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                return "." * node.level + (node.module or "")
            wanted.append((node.module or "").partition(".")[0])
    asked = tuple(dict.fromkeys(name for name in wanted if name not in sys.stdlib_module_names and name != "tests"))
    return _lacking(asked, limits) if asked else None


@lru_cache(maxsize=1024)
def _lacking(asked: tuple[str, ...], limits: Limits) -> str | None:
    try:
        result = run_each(_PROBE, [json.dumps(asked).encode()], limits)[0]
    except LostError:
        return None
    if result.status is not Status.OK or result.exit_code:
        return None
    missing = json.loads(result.stdout)
    return str(missing[0]) if missing else None


def class_use(source: str, entry: str) -> str | None:
    """How a test uses the entry point as a class, such as ``Stack().push``: of what is returned only plain values
    arrive, so that no candidate could pass. ``None`` where an answer might be a plain value that has all of this."""
    tree = parsed(source)
    name = entry.rpartition(".")[2]
    own = defined_names(source)
    if own is None or name in own or any(isinstance(node, ast.Try) for node in ast.walk(tree)):
        return None  # it may be about the error; or the name is the test's own
    looks = name[:1].isupper() and not name.isupper() and "_" not in name
    made, plainly = _made(tree, name)
    methods = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            of = node.value
            direct = isinstance(of, ast.Call) and isinstance(of.func, ast.Name) and of.func.id == name
            empty = direct and isinstance(of, ast.Call) and not of.args and not of.keywords
            if (direct or (isinstance(of, ast.Name) and of.id in made)) and (
                (node.attr not in _KNOWN and (looks or id(node) in methods))
                or (looks and (empty or (isinstance(of, ast.Name) and of.id in plainly)))
            ):
                return f"{name}(...).{node.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            kinds = node.args[1:]
            if any(isinstance(kind, ast.Name) and kind.id == name for kind in kinds):
                return f"isinstance(..., {name})"
    return None


def _made(tree: ast.Module, name: str) -> tuple[set[str], set[str]]:
    """Variables that hold nothing but results of the entry point; of these, those of calls without arguments."""
    values: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.arg):
            values.setdefault(node.arg, []).append(None)
    stores = collections.Counter(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    )
    made: set[str] = set()
    plainly: set[str] = set()
    for variable, given in values.items():
        calls = [one for one in given if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)]
        if len(calls) == len(given) == stores[variable] and all(
            isinstance(one.func, ast.Name) and one.func.id == name for one in calls
        ):
            made.add(variable)
            if not any(one.args or one.keywords for one in calls):
                plainly.add(variable)
    return made, plainly
