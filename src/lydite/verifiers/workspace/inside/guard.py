"""Comparisons of the grader's tests, looked at twice: an object that is equal to anything proves nothing.

Covered: a comparison in a test or helper file, or by a method of ``unittest.TestCase``, that is true only because of
what an object says of itself. Where an operand is of a class that defines its own comparison, the same question is
asked first with values that are certainly other ones; an object that says yes to those too is refused. Classes that
the grader's own files define are not doubted, nor is ``unittest.mock.ANY`` where they name it.

Not covered: an object that knows the questions asked here; ``!=``, which every wrong answer satisfies; and whether
something counts as true.
"""

from __future__ import annotations

import functools
import operator
import sys
import unittest
from collections.abc import Callable, Iterator
from typing import Any

_PLAIN = frozenset(
    {int, float, complex, bool, str, bytes, bytearray, type(None), type, range, list, tuple, dict, set, frozenset}
)
_LEAVES = 2000
"""Pairs of values that are looked at in one comparison of containers."""
_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda item, holder: item in holder,
}
_OPPOSITE = {"<": operator.gt, "<=": operator.gt, ">": operator.lt, ">=": operator.lt}
_METHODS = {
    "==": "Equal AlmostEqual ListEqual TupleEqual DictEqual SetEqual SequenceEqual CountEqual MultiLineEqual",
    "in": "In",
    "<": "Less",
    "<=": "LessEqual",
    ">": "Greater",
    ">=": "GreaterEqual",
}
_mro = type.__dict__["__mro__"].__get__
_dict = type.__dict__["__dict__"].__get__
_type, _len, _zip, _isinstance, _id = type, len, zip, isinstance, id


class UnequalError(AssertionError):
    """A comparison that is true of anything."""


class Guard:
    """Compares for the grader's files.

    Args:
        doubted: called with words, when an object is equal to what it cannot be equal to.
        trusted: the name spaces of the grader's files (their ids), which may grow.
        any_is_meant: whether they name ``ANY``.
    """

    def __init__(self, doubted: Callable[[str], None], trusted: set[int], any_is_meant: bool) -> None:
        self._doubted, self._trusted, self._any = doubted, trusted, any_is_meant

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """``left name right``, where that is no deceit.

        Raises:
            UnequalError: it is.
        """
        left_type, right_type = _type(left), _type(right)
        if left_type not in _PLAIN or right_type not in _PLAIN or _holds(left) or _holds(right):
            self.check(name, left, right)
        return _OPERATIONS[name](left, right)

    def check(self, name: str, left: Any, right: Any) -> None:
        """Ask what cannot be true.

        Raises:
            UnequalError: the answer was yes.
        """
        if name == "==":
            found = False
            for one, other in _pairs(left, right):
                found = found or self._equals_anything(one, other)
        elif name == "in":
            odd = [object(), object(), object()]
            found = self._foreign(left, "__eq__") and _all_true(lambda one: left in [one], odd)
            found = found or (self._foreign(right, "__contains__") and _all_true(lambda one: one in right, odd))
        else:
            attributes = ("__lt__", "__gt__", "__le__", "__ge__")
            foreign = False
            for side in (left, right):
                for attribute in attributes:
                    foreign = foreign or self._foreign(side, attribute)
            found = foreign and _all_true(lambda ask: ask(left, right), [_OPERATIONS[name], _OPPOSITE[name]])
        if found:
            self._doubted(f"an object of a class that says yes to any {name}")
            raise UnequalError(f"an object of this class says yes to any {name}")

    def _equals_anything(self, one: Any, other: Any) -> bool:
        for mine, others in ((one, other), (other, one)):
            if not self._foreign(mine, "__eq__"):
                continue
            if _all_true(lambda odd, mine=mine: mine == odd, [object()]):  # type: ignore[misc]
                return True
            if _all_true(lambda odd, mine=mine: mine == odd, _others(others)):  # type: ignore[misc]
                return True
        return False

    def _foreign(self, value: Any, attribute: str) -> bool:
        """Whether a class that nobody vouches for decides."""
        kind = _type(value)
        if kind in _PLAIN:
            return False
        if self._any and value is getattr(sys.modules.get("unittest.mock"), "ANY", None):
            return False
        for base in _mro(kind):
            if attribute in _dict(base):
                function = _dict(base)[attribute]
                if _type(function) is _FUNCTION:
                    return _id(function.__globals__) not in self._trusted
                return _type(function) not in _BUILT_IN or function.__name__ != attribute
        return False


_FUNCTION = type(lambda: None)
_BUILT_IN = (type(object.__eq__), type(int.__dict__.get("__index__")), type(list.__dict__["append"]))


def _holds(value: Any) -> bool:
    """Whether a plain value is a container that is not empty."""
    return _type(value) in (list, tuple, dict, set, frozenset) and _len(value) > 0


def _pairs(left: Any, right: Any) -> Iterator[tuple[Any, Any]]:
    """The values of which a comparison of containers consists, as far as they can be told; the two sides themselves."""
    stack, seen = [(left, right)], 0
    while stack and seen < _LEAVES:
        one, other = stack.pop()
        seen += 1
        yield one, other
        if _isinstance(one, (list, tuple)) and _isinstance(other, (list, tuple)):
            stack += list(_zip(_items(one), _items(other)))[:_LEAVES]
        elif _isinstance(one, dict) and _isinstance(other, dict):
            stack += [(value, dict.get(other, key)) for key, value in list(dict.items(one))[:_LEAVES]]
            stack += [(key, None) for key in list(dict.keys(one))[:_LEAVES]]
        elif _isinstance(one, (set, frozenset)):
            stack += [(item, None) for item in list(one)[:_LEAVES]]
            stack += [(item, None) for item in list(other)[:_LEAVES]] if _isinstance(other, (set, frozenset)) else []


def _items(value: Any) -> list[Any]:
    return [*(list if _isinstance(value, list) else tuple).__iter__(value)]


def _others(value: Any) -> list[Any]:
    """Values that are not this one, several, so that one who counts modulo something is not taken for a liar."""
    kind = _type(value)
    if kind is bool:
        return [not value, 2, -1]
    if kind in (int, float):
        return [value + step for step in (1, 2, 3, 5, -1, -7, 1000, 99991)] if value - value == 0 else [0, 1, 2]
    if kind in (str, bytes):
        more = "x" if kind is str else b"x"
        return [value + more, more + value, value + value + more, value[1:] + more + more]
    if kind in (list, tuple):
        odd = kind([object()])
        return [value + odd, odd + value, odd]
    if kind is dict:
        return [{**value, "\0": object()}, {"\0": object()}]
    if kind in (set, frozenset):
        return [value | {object()}, kind([object()])]
    return [object(), object()]


def _all_true(ask: Callable[[Any], Any], of: list[Any]) -> bool:
    """Whether the answer is yes for each. What raises says no."""
    try:
        for one in of:  # no ``all``: it may be another by now
            if not ask(one):
                return False
    except Exception:
        return False
    return True


def guard_unittest() -> Callable[[Guard], None]:
    """Have ``unittest.TestCase`` ask as well. Returns what is told whom to ask, later."""
    guards: list[Guard] = []
    case: Any = unittest.TestCase
    for name, methods in _METHODS.items():
        for method in methods.split():
            setattr(case, f"assert{method}", _guarded(getattr(case, f"assert{method}"), guards, name))
    return guards.append


def _guarded(method: Callable[..., Any], guards: list[Guard], name: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def asked(self: Any, first: Any, second: Any, *rest: Any, **options: Any) -> Any:
        for guard in guards:
            guard.check(name, first, second)
        return method(self, first, second, *rest, **options)

    return asked
