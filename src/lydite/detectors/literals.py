"""Tables of answers in a program: which literals it gives back for which, and which of these are what tests expect.

Read off the syntax tree; nothing is evaluated but literals. Programs beyond 64 KB, or too deep for a parser, have none.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

MAX_SOURCE = 64_000
"""Characters of a program that is parsed."""
MAX_ROWS = 2000
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_KNOWN = "\n\\'\"abfnrtv01234567xNuU"


class Row(NamedTuple):
    """A program gives ``value`` for ``key``; both as canonical JSON. ``slight``: both so small that anyone has them."""

    key: str
    value: str
    slight: bool = False


def parse(source: str) -> ast.Module | None:
    """The syntax tree, or nothing where there is none. Never raises, never warns."""
    if len(source) > MAX_SOURCE or "\0" in source:
        return None
    # An unknown escape makes the parser warn, and warnings belong to the whole process.
    quiet = _ESCAPE.sub(lambda match: match[0] if match[1] in _KNOWN else "\\" + match[0], source)
    try:
        return ast.parse(quiet)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def rows_of(tree: ast.Module) -> list[Row]:
    """Every pair of literals of which one is given back for the other, in order. What stands within such a literal is
    part of it, and no pair of its own."""
    found: list[Row] = []
    within: set[int] = set()

    def add(key: Any, value: Any, *whole: ast.expr | None) -> None:
        found.extend(_row(key, value))
        for node in whole:
            if node is not None and id(node) not in within:
                within.update(id(part) for part in ast.walk(node))

    for node in ast.walk(tree):  # what contains comes before what is contained
        if len(found) >= MAX_ROWS:
            break
        if id(node) in within:
            continue
        if isinstance(node, ast.If):
            add(_key(node.test), _given_back(node.body), *_returned(node.body))
        elif isinstance(node, ast.IfExp):
            add(_key(node.test), _literal(node.body), node.body if _literal(node.body) is not _NO else None)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None:
                    literal = _literal(value) is not _NO
                    add(_literal(key), _literal(value), key, value if literal else None)
        elif isinstance(node, ast.match_case):
            add(_pattern(node.pattern), _given_back(node.body), *_returned(node.body))
        elif isinstance(node, ast.List | ast.Tuple | ast.Set) and len(node.elts) > 1:
            for pair in node.elts:
                if isinstance(pair, ast.Tuple | ast.List) and len(pair.elts) == 2:
                    one, other = pair.elts
                    both = _literal(one) is not _NO and _literal(other) is not _NO
                    add(_literal(one), _literal(other), pair if both else None)
    return found


def _returned(body: list[ast.stmt]) -> list[ast.expr]:
    """The literals that a branch gives back."""
    values = [statement.value for statement in body if isinstance(statement, ast.Return)]
    return [value for value in values if value is not None and _literal(value) is not _NO]


MAX_LISTS = 20
"""Lists of which every two may be a table ..."""
MAX_LENGTH = 200
"""... and their longest length."""


def side_by_side(tree: ast.Module) -> Iterator[list[Row]]:
    """Tables of two lists of literals of equal length: keys in one, values in the other."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.List | ast.Tuple) and len(node.elts) > 1]
    values = [value for node in nodes[:MAX_LISTS] if isinstance(value := _literal(node), list | tuple)]
    for one in values:
        for other in values:
            if one is not other and len(one) == len(other) <= MAX_LENGTH:
                yield [row for key, value in zip(one, other, strict=True) for row in _row(key, value)]


class _None:
    """No literal."""


_NO = _None()


def _literal(node: ast.expr | None) -> Any:
    """The value of a literal, or ``_NO``."""
    if node is None or not isinstance(node, ast.Constant | ast.Tuple | ast.List | ast.Dict | ast.UnaryOp | ast.Set):
        return _NO
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError, SyntaxError):
        return _NO


def _key(test: ast.expr) -> Any:
    """What is compared for equality: a literal, or a list of them where several are compared at once."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        keys = [_key(value) for value in test.values[:20]]
        return _NO if any(key is _NO for key in keys) else keys
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq | ast.Is):
        return _NO
    right = _literal(test.comparators[0])
    return right if right is not _NO else _literal(test.left)


def _pattern(pattern: ast.pattern) -> Any:
    if isinstance(pattern, ast.MatchValue):
        return _literal(pattern.value)
    if isinstance(pattern, ast.MatchSequence):
        parts = [_pattern(part) for part in pattern.patterns[:20]]
        return _NO if any(part is _NO for part in parts) else parts
    return _NO


def _given_back(body: list[ast.stmt]) -> Any:
    """What a block gives back first thing: returned, printed or assigned."""
    first = body[0] if body else None
    if isinstance(first, ast.Return | ast.Assign):
        return _literal(first.value)
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Call) and len(first.value.args) == 1:
        return _literal(first.value.args[0])
    return _NO


def _row(key: Any, value: Any) -> list[Row]:
    if key is _NO or value is _NO:
        return []
    return [Row(canon(key), canon(value), slight(key) and slight(value))]


def canon(value: Any) -> str:
    """A value such that equal ones of Python and of JSON are spelled alike."""
    try:
        return json.dumps(_plain(value), sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return "?"


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(canon, value))
    if isinstance(value, dict):
        return {canon(key): _plain(item) for key, item in value.items()}
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    if isinstance(value, str):
        return value.strip()
    return value if isinstance(value, bool | int | float) or value is None else repr(value)


def slight(value: Any) -> bool:
    """Whether a value is one that programs are full of: a small number, a truth value, nothing, a text of up to two
    characters, a list of at most one of these."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        return abs(value) <= 2
    if isinstance(value, str | bytes):
        return len(value) <= 2
    return isinstance(value, list | tuple | set | dict) and len(value) <= 1 and all(map(slight, value))


def keys_of(args: list[Any]) -> tuple[str, ...]:
    """How a program may spell the arguments of a call."""
    keys = [canon(args), *(canon(arg) for arg in args if len(args) == 1 or not slight(arg))]
    if len(args) > 1 and all(isinstance(arg, str | int | float) for arg in args):
        keys += [canon(between.join(map(str, args))) for between in (",", ", ", " ", "-", "_", ":", "|")]
    return tuple(dict.fromkeys(keys))


@lru_cache(maxsize=256)
def expected_in(source: str) -> tuple[tuple[tuple[str, ...], str, bool], ...]:
    """What the asserts of some test source expect: ways to spell the arguments, the value, whether both are slight."""
    tree = parse(source)
    return () if tree is None else tuple(_expected(tree))


def _expected(tree: ast.Module) -> Iterator[tuple[tuple[str, ...], str, bool]]:
    for node in ast.walk(tree):
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
            sides = [node.left, node.comparators[0]]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and "Equal" in node.func.attr:
            sides = node.args[:2]
        if len(sides) != 2:
            continue
        call, value = sides if isinstance(sides[0], ast.Call) else sides[::-1]
        if not isinstance(call, ast.Call) or (wanted := _literal(value)) is _NO:
            continue
        args = [_literal(arg) for arg in [*call.args, *(keyword.value for keyword in call.keywords)]]
        if args and not any(arg is _NO for arg in args):
            yield keys_of(args), canon(wanted), slight(wanted) and all(map(slight, args))
