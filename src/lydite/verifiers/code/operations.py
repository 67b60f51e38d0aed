"""What may stand in a test that is read: functions, operators and comparisons, safe on whatever a candidate returned.

Covered: time and memory linear in the answers, sorting apart. Where that cannot be promised for an operand, the
operation raises :class:`UnreadableError`, and the test is run in its own process instead.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from lydite.verifiers.code.values import MalformedError, check_hashes

MAX_BITS = 4096
"""Of a number that a test's own constants make."""
MAX_LENGTH = 20_000
"""Of a text or list that they make."""

Answers = Sequence[tuple[bytes, str, bytes, bytes]]
Value = Callable[[Answers], Any]


class UnreadableError(Exception):
    """The test has to be run."""


def _hashing(make: Callable[[Any], Any]) -> Callable[..., Any]:
    """``set`` and ``frozenset``, but not of members that were made to collide."""

    def made(*given: Any) -> Any:
        if given and type(given[0]) in (list, tuple):
            try:
                check_hashes(list(given[0]))
            except MalformedError:
                raise UnreadableError from None
        return make(*given)

    return made


def _sum(items: Any) -> Any:
    items = list(items)
    if any(type(item) is Fraction for item in items):  # the denominator of their sum grows with each
        raise UnreadableError
    return sum(items)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "all": all,
    "any": any,
    "bool": bool,
    "float": float,
    "frozenset": _hashing(frozenset),
    "int": int,
    "isinstance": isinstance,
    "len": len,
    "list": list,
    "max": max,
    "min": min,
    "round": round,
    "set": _hashing(set),
    "sorted": sorted,
    "sum": _sum,
    "tuple": tuple,
}
TYPES = {kind.__name__: kind for kind in (bool, bytes, complex, dict, float, frozenset, int, list, set, str, tuple)}
COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}
BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Div: operator.truediv,
}
"""Of answers, too."""
OF_CONSTANTS: dict[type, Callable[[Any, Any], Any]] = {
    **BINARY,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def either(parts: list[Value]) -> Value:
    def value(answers: Answers) -> Any:
        said: Any = None
        for part in parts:
            said = part(answers)
            if said:
                break
        return said

    return value


def both(parts: list[Value]) -> Value:
    def value(answers: Answers) -> Any:
        said: Any = None
        for part in parts:
            said = part(answers)
            if not said:
                break
        return said

    return value


def compared(operands: list[Value], comparisons: list[Callable[[Any, Any], Any]]) -> Value:
    def value(answers: Answers) -> Any:
        left, said = operands[0](answers), None
        for operand, comparison in zip(operands[1:], comparisons, strict=True):
            right = operand(answers)
            said = comparison(left, right)
            if not said:
                break
            left = right
        return said

    return value


def bounded(operation: Callable[[Any, Any], Any] | None, one: Any, other: Any) -> Any:
    """An operation on constants, unless its result is large."""
    if operation is None:
        raise UnreadableError
    if operation is operator.pow:
        if type(one) not in (int, float) or type(other) is not int or not 0 <= other <= MAX_BITS:
            raise UnreadableError
        if type(one) is int and one.bit_length() * other > MAX_BITS:
            raise UnreadableError
    elif operation is operator.mul:
        for left, right in ((one, other), (other, one)):
            if isinstance(left, str | bytes | list | tuple) and (
                type(right) is not int or len(left) * right > MAX_LENGTH
            ):
                raise UnreadableError
    elif operation is operator.mod and not (type(one) in (int, float) and type(other) in (int, float)):
        raise UnreadableError
    made = operation(one, other)
    if type(made) is int and made.bit_length() > MAX_BITS:
        raise UnreadableError
    return made
