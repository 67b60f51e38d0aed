"""One expected value of a checker's configuration, turned into another, by kind of checker.

Each function yields ``(field, was, now, configuration)``: ways to contradict what the task asks for, the best first.
Hidden tests come before shown ones, later ones before earlier ones.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from lydite.codec import canonical

Flip = tuple[str, Any, Any, dict[str, Any]]

_INTEGER = re.compile(r"-?\d+")


def flipped(value: Any) -> Any:
    """Another value of the same type; ``None`` becomes 0."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value + max(1.0, abs(value)) if math.isfinite(value) else 0.0
    if isinstance(value, str):
        numbers = list(_INTEGER.finditer(value))
        if numbers:  # the last one, since that is most often the answer
            start, end = numbers[-1].span()
            return f"{value[:start]}{int(value[start:end]) + 1}{value[end:]}"
        return value + "x" if value.strip() else "x"
    if isinstance(value, list | tuple):
        return type(value)([*value[:-1], flipped(value[-1])] if value else [0])
    if isinstance(value, set):
        return value | {"x"}
    if isinstance(value, dict):
        last = next(reversed(value), None)
        return {**value, last: flipped(value[last])} if last is not None else {"x": 0}
    return 0


def each_flipped(value: Any) -> Iterator[Any]:
    """A value with one number or text in it turned, the last one first."""
    if isinstance(value, list | tuple):
        for at in range(len(value) - 1, -1, -1):
            for new in each_flipped(value[at]):
                yield type(value)([*value[:at], new, *value[at + 1 :]])
    elif isinstance(value, dict):
        for key in reversed(value):
            for new in each_flipped(value[key]):
                yield {**value, key: new}
    else:
        yield flipped(value)


def code(config: dict[str, Any]) -> Iterator[Flip]:
    """An expected value of a call, an output or an assertion."""
    tests = config.get("tests", [])
    shown = {canonical(test) for test in config.get("visible", [])}
    for at in sorted(range(len(tests)), key=lambda at: (canonical(tests[at]) in shown, -at)):
        test, field = tests[at], f"tests.{at}"
        if isinstance(test, str):
            for was, now, source in assertions(test):
                yield field, was, now, config | {"tests": _replaced(tests, at, source)}
        elif "expected" in test and "checker" not in test:
            was, now = test["expected"], flipped(test["expected"])
            if tolerance := test.get("tolerance"):
                now = _further(was, now, 10 * tolerance)
            made = test | {"expected": now}
            yield f"{field}.expected", was, now, config | {"tests": _replaced(tests, at, made)}


def assertions(source: str) -> Iterator[tuple[str, str, str]]:
    """The source of a test with one assertion turned, as (was, now, source): first those that compare with a constant,
    which gets another value, then guards, negated; the last one first."""
    yield from compared(source)
    yield from negated(source)


def compared(source: str) -> Iterator[tuple[str, str, str]]:
    """The same of what an assertion compares with a constant."""
    tree = _parsed(source)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    for node in sorted(found, key=lambda node: -node.lineno):
        was = ast.unparse(node.test)
        for inner in ast.walk(node.test):
            if not isinstance(inner, ast.Compare) or [type(operator) for operator in inner.ops] != [ast.Eq]:
                continue
            kept = inner.comparators
            try:
                new = ast.parse(repr(flipped(ast.literal_eval(kept[0]))), mode="eval").body
            except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                continue
            inner.comparators = [new]
            yield was, ast.unparse(node.test), ast.unparse(tree) + "\n"
            inner.comparators = kept


def negated(source: str) -> Iterator[tuple[str, str, str]]:
    """The same of whole assertions that compare with no constant."""
    tree = _parsed(source)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    for node in sorted(found, key=lambda node: -node.lineno):
        was, kept = ast.unparse(node.test), node.test
        inside = isinstance(kept, ast.UnaryOp) and isinstance(kept.op, ast.Not)
        node.test = kept.operand if isinstance(kept, ast.UnaryOp) and inside else ast.UnaryOp(ast.Not(), kept)
        yield was, ast.unparse(node.test), ast.unparse(tree) + "\n"
        node.test = kept


def _parsed(source: str) -> ast.Module:
    """The tree; an empty one where it is no program."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def constants(source: str) -> Iterator[tuple[str, str, str]]:
    """A program with one constant of its top level turned, as (was, now, source)."""
    tree = _parsed(source)
    for node in tree.body:
        if isinstance(node, ast.Assign):
            try:
                value = ast.literal_eval(node.value)
            except (ValueError, TypeError, RecursionError, MemoryError):
                continue
            if value in (None, "", [], {}, ()):
                continue  # what an empty collection would hold is not known
            was, kept = ast.unparse(node), node.value
            for new in each_flipped(value):
                node.value = ast.parse(repr(new), mode="eval").body
                yield was, ast.unparse(node), ast.unparse(tree) + "\n"
            node.value = kept


def answer(config: dict[str, Any]) -> Iterator[Flip]:
    """The gold: a number by one, else something put behind it."""
    was = config.get("answer")
    if isinstance(was, list) and was:
        yield "answer", was, (now := [flipped(item) for item in was]), config | {"answer": now}
        return
    text = str(was)
    ways = [flipped(was)] if not isinstance(was, str) or _INTEGER.fullmatch(text.strip()) else []
    ways += [f"({text}) + 1", flipped(text)]
    for now in ways:
        yield "answer", was, now, config | {"answer": now}


def regex(config: dict[str, Any]) -> Iterator[Flip]:
    """A text that must match must not, and where there is one that must not, it must."""
    match, others = list(config.get("must_match") or []), list(config.get("must_not_match") or [])
    for at in range(len(match) - 1, -1, -1):
        turned_match = [*match[:at], *match[at + 1 :], *others[-1:]]
        turned_others = [*others[:-1], match[at]]
        made = {"must_match": turned_match, "must_not_match": turned_others}
        yield "must_match, must_not_match", [match, others], [turned_match, turned_others], config | made


def cases(config: dict[str, Any]) -> Iterator[Flip]:
    """The expected text of a case."""
    given = config.get("cases", [])
    for at in range(len(given) - 1, -1, -1):
        was, now = given[at]["expected"], flipped(given[at]["expected"])
        made = config | {"cases": _replaced(given, at, given[at] | {"expected": now})}
        yield f"cases.{at}.expected", was, now, made


def expected(config: dict[str, Any]) -> Iterator[Flip]:
    """An expected value of a JSON answer."""
    was = config.get("expected")
    if was is not None:
        yield "expected", was, (now := flipped(was)), config | {"expected": now}


def hidden_files(config: dict[str, Any]) -> Iterator[Flip]:
    """An assertion in the test files that only the grader has."""
    files = config.get("files") or {}
    for path, text in sorted(files.items(), reverse=True):
        if path.endswith(".py"):
            for was, now, source in assertions(text):
                yield f"files.{path}", was, now, config | {"files": files | {path: source}}


def script(config: dict[str, Any]) -> Iterator[Flip]:
    """An assertion of the grader's script, or a constant that it gives a name to."""
    source = config.get("script", "")
    for was, now, turned_source in [*compared(source), *constants(source), *negated(source)]:
        yield "script", was, now, config | {"script": turned_source}


FLIPS: dict[str, Callable[[dict[str, Any]], Iterator[Flip]]] = {
    "code": code,
    "math": answer,
    "exact": answer,
    "regex": regex,
    "text_transform": cases,
    "json_schema": expected,
    "pytest": hidden_files,
    "script": script,
}
"""Kinds of checkers that can be turned."""


def _further(was: Any, now: Any, distance: float) -> Any:
    """A number at least so far from what it was."""
    numbers = isinstance(was, int | float) and isinstance(now, int | float)
    return was + distance if numbers and abs(now - was) < distance else now


def _replaced(items: list[Any], at: int, item: Any) -> list[Any]:
    return [*items[:at], item, *items[at + 1 :]]
