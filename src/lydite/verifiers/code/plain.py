"""Tests that only compare answers: read once, judged without running their source.

Most assertions of HumanEval and MBPP are ``assert f(arguments) == expected``, with constants on both sides. Their calls
can be read off, and what they say of the answers can be worked out here, by an interpreter of the few kinds of
expression below: no process, and no code of the test's or the candidate's. Covered: anything else makes
:func:`read_plain` say no, and the test is run. Whatever is read here gets the verdict that running it would give. Time
and memory stay linear in the answers (sorting apart): nothing here multiplies, repeats or formats what came back.
"""

from __future__ import annotations

import ast
import builtins
import marshal
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from lydite.verifiers.code.compare import told
from lydite.verifiers.code.operations import (
    BINARY,
    COMPARISONS,
    FUNCTIONS,
    OF_CONSTANTS,
    TYPES,
    UNARY,
    Answers,
    UnreadableError,
    Value,
    both,
    bounded,
    compared,
    either,
)
from lydite.verifiers.code.outcome import OK, Outcome
from lydite.verifiers.code.programs import Call
from lydite.verifiers.code.rewrite import defined_names
from lydite.verifiers.code.tester import exception_like
from lydite.verifiers.code.values import decode, encode

MAX_CALLS = 1000
"""Calls of one test."""


@dataclass(frozen=True)
class PlainTest:
    """A test as it was read.

    Attributes:
        calls: arguments of its calls, in order (see ``programs.Call``).
        checks: what is asserted, in order, with the message; ``None``: one that is worked out where it is needed.
        uses: built-in names that it relies on.
    """

    calls: tuple[Call, ...]
    checks: tuple[tuple[Value, str | None], ...]
    uses: frozenset[str]

    def means_the_same(self, prompt: str) -> bool:
        """Whether it does beside a prompt's code, which may define names that it relies on."""
        if not self.uses or not prompt:
            return True
        defined = defined_names(prompt)
        return defined is not None and not self.uses & defined


def judge(test: PlainTest, answers: Answers, stopped: Outcome | None) -> Outcome | None:
    """What becomes of a test with these answers; ``stopped`` where it comes to a call without one. ``None``: it has to
    be run."""
    for check, message in test.checks:
        try:
            if not check(answers):
                return None if message is None else Outcome("wrong", told("AssertionError", message))
        except _StoppedError:
            return stopped or Outcome("error", "ended before it returned")
        except _RaisedError as raised:
            return Outcome("error", told(type(raised.error).__name__, str(raised.error)))
        except UnreadableError:
            return None
        except Exception as error:
            return Outcome("wrong", told(type(error).__name__, str(error)[:300]))
    return OK


def read_plain(tree: ast.Module, entry: str, in_place: bool = False) -> PlainTest | None:
    """A test, where it is made of nothing but the above.

    Args:
        in_place: a call may change what has a name in the test.
    """
    reader = _Reader({entry.rpartition(".")[2], "candidate"}, in_place)
    try:
        reader.module(tree.body)
    except Exception:  # also what its constants raise: whoever runs it will see
        return None
    if not 0 < len(reader.calls) <= MAX_CALLS:
        return None
    return PlainTest(tuple(reader.calls), tuple(reader.checks), frozenset(reader.uses))


class _StoppedError(Exception):
    """There is no answer."""


class _RaisedError(Exception):
    """The candidate has raised this."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Coroutine:
    """What an asynchronous function returns to a test that does not await it."""


_Coroutine.__name__ = "coroutine"  # as exceptions have it


def _answer(kind: str, raw: bytes) -> Any:
    if kind == "V":
        return decode(raw)
    if kind == "W":
        return _Coroutine()
    if kind == "E":
        _, near, message = decode(raw)
        raise _RaisedError(exception_like(near, message))
    raise _StoppedError


_PLAIN_CONSTANTS = (bool, int, float, complex, str, bytes, type(None))


class _Reader:
    """Reads the statements of a test, in the order in which they are run."""

    def __init__(self, proxies: set[str], in_place: bool) -> None:
        self.proxies, self.in_place = proxies, in_place
        self.calls: list[Call] = []
        self.checks: list[tuple[Value, str | None]] = []
        self.uses: set[str] = set()
        self.constants: dict[str, Value] = {}
        self.imported: set[str] = set()

    def module(self, body: list[ast.stmt]) -> None:
        """All of the source: statements, or a function ``check`` with one parameter that is called once, at the end;
        where it is not called, it will be."""
        function: ast.FunctionDef | None = None
        called = False
        for node in body:
            if called:
                raise UnreadableError
            if isinstance(node, ast.FunctionDef) and node.name == "check" and function is None and not self.calls:
                function = node
            elif function is not None and _calls_check(node, self.proxies):
                called = True
            elif isinstance(node, ast.Import):
                if [(name.name, name.asname) for name in node.names] != [("math", None)]:
                    raise UnreadableError
                self.imported.add("math")
            elif function is None or not isinstance(node, ast.Assert):
                self.statement(node)
            else:
                raise UnreadableError
        if function is not None:
            given = function.args
            if function.decorator_list or self.calls or len(given.args) != 1 or _has_more(given):
                raise UnreadableError
            self.proxies = self.proxies | {given.args[0].arg}
            taken = set(self.constants)  # a local name of the same kind would be another variable from the start
            for node in function.body:
                self.statement(node, taken)

    def statement(self, node: ast.stmt, taken: Collection[str] = ()) -> None:
        """An assertion, a constant with a name (none of those that are taken), or nothing."""
        if isinstance(node, ast.Assert):
            message: str | None = "" if node.msg is None else None
            if isinstance(node.msg, ast.Constant) and type(node.msg.value) is str:
                message = node.msg.value[:300]
            self.checks.append((self.value(node.test), message))
        elif isinstance(node, ast.Assign):
            if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
                raise UnreadableError
            name = node.targets[0].id
            if name in {*self.proxies, *FUNCTIONS, *TYPES, "math", "check", *taken}:
                raise UnreadableError
            self.constants[name] = self.constant(node.value)
        elif not isinstance(node, ast.Pass) and not (isinstance(node, ast.Expr) and _does_nothing(node.value)):
            raise UnreadableError

    def constant(self, node: ast.expr) -> Value:
        """An expression without a call of the candidate."""
        before = len(self.calls)
        value = self.value(node)
        if len(self.calls) != before:
            raise UnreadableError
        return value

    def value(self, node: ast.expr) -> Value:
        """An expression, as a function of the answers."""
        match node:
            case ast.Constant(value=constant) if type(constant) in _PLAIN_CONSTANTS:
                return lambda _: constant
            case ast.Name(id=name) if name in self.constants and not self.in_place:
                return self.constants[name]
            case ast.List(elts=items):
                return self.display(items, list)
            case ast.Tuple(elts=items):
                return self.display(items, tuple)
            case ast.Set(elts=items):
                return self.display(items, set)
            case ast.Dict(keys=keys, values=values):
                if None in keys:
                    raise UnreadableError
                names, values_of = [self.constant(key) for key in keys if key is not None], self.display(values, tuple)
                return lambda answers: dict(zip([name(answers) for name in names], values_of(answers), strict=True))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
                unary, of = UNARY[type(op)], self.value(operand)
                return lambda answers: unary(of(answers))
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(left, op, right)
            case ast.BoolOp(op=op, values=[first, *rest]):
                parts = [self.value(first), *map(self.constant, rest)]
                return either(parts) if isinstance(op, ast.Or) else both(parts)
            case ast.Compare(left=left, ops=ops, comparators=[first, *rest]):
                operands = [self.value(left), self.value(first), *map(self.constant, rest)]
                return compared(operands, [COMPARISONS[type(op)] for op in ops])
            case ast.Subscript(value=of_what, slice=place):
                whole, at = self.value(of_what), self.constant(place)
                return lambda answers: whole(answers)[at(answers)]
            case ast.Call(func=function, args=arguments, keywords=keywords):
                return self.call(function, arguments, keywords)
        raise UnreadableError

    def display(self, items: list[ast.expr], make: Callable[[Any], Any]) -> Value:
        """The items of a list, tuple or set."""
        values = [self.constant(item) if make is set else self.value(item) for item in items]
        return lambda answers: make([value(answers) for value in values])

    def binary(self, left: ast.expr, op: ast.operator, right: ast.expr) -> Value:
        """Arithmetic: little of it with answers, more with the test's own constants, whose size is bounded here."""
        before = len(self.calls)
        one, other = self.value(left), self.value(right)
        if len(self.calls) != before:
            operation = BINARY.get(type(op))
            if operation is None:
                raise UnreadableError
            return lambda answers: operation(one(answers), other(answers))
        try:
            made = bounded(OF_CONSTANTS.get(type(op)), one(()), other(()))
        except Exception:
            raise UnreadableError from None
        return lambda _: made

    def call(self, function: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword]) -> Value:
        """A call of the candidate, or of one of the functions above."""
        if any(isinstance(item, ast.Starred) for item in arguments) or any(item.arg is None for item in keywords):
            raise UnreadableError
        named = {str(item.arg): item.value for item in keywords}
        if isinstance(function, ast.Name) and function.id in self.proxies:
            positional = [self.constant(item)(()) for item in arguments]
            given = (positional, {name: self.constant(item)(()) for name, item in named.items()})
            encode(given)  # not too large, nor too deep
            self.calls.append((True, marshal.dumps(given, 2)))  # 2: what stands twice comes twice
            at = len(self.calls) - 1
            return lambda answers: _answer(answers[at][1], answers[at][2])
        if isinstance(function, ast.Attribute):
            if ast.unparse(function) != "math.isclose" or "math" not in self.imported:
                raise UnreadableError
            self.uses.add("math")
            known: Callable[..., Any] = math.isclose
        elif isinstance(function, ast.Name) and function.id in FUNCTIONS:
            self.uses.add(function.id)
            known = FUNCTIONS[function.id]
        else:
            raise UnreadableError
        if known is isinstance:
            if len(arguments) != 2 or not isinstance(arguments[1], ast.Name) or arguments[1].id not in TYPES or named:
                raise UnreadableError
            what, kind = self.value(arguments[0]), TYPES[arguments[1].id]
            self.uses.add(arguments[1].id)
            return lambda answers: isinstance(what(answers), kind)
        if known is FUNCTIONS["sum"] and (len(arguments) != 1 or named):
            raise UnreadableError  # sums of lists take time that grows with the square
        if known is round and (named or len(arguments) > 1) and not self.is_small(*arguments[1:]):
            raise UnreadableError
        values = [self.value(item) for item in arguments]
        options = {name: self.constant(item) for name, item in named.items()}
        return lambda answers: known(
            *[value(answers) for value in values], **{name: value(answers) for name, value in options.items()}
        )

    def is_small(self, *nodes: ast.expr) -> bool:
        """Whether this is one expression of constants, and its value a small whole number."""
        value = self.constant(nodes[0])(()) if len(nodes) == 1 else None
        return type(value) is int and abs(value) <= 400


def _does_nothing(node: ast.expr) -> bool:
    """Whether an expression that is a statement is a docstring or the like: a constant, or ``print`` without a call."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and hasattr(builtins, node.id))


def _has_more(given: ast.arguments) -> bool:
    """Whether a function takes anything but parameters without defaults, by position or by name."""
    return bool(given.posonlyargs or given.vararg or given.kwonlyargs or given.kwarg or given.defaults)


def _calls_check(node: ast.stmt, proxies: set[str]) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "check"
        and not node.value.keywords
        and len(node.value.args) == 1
        and isinstance(node.value.args[0], ast.Name)
        and node.value.args[0].id in proxies
    )
