"""Comparisons of the grader's tests, looked at twice: an object that is equal to anything proves nothing.

Covered: comparisons and differences in a test or helper file, or by a method of ``unittest.TestCase``, that hold only
because of what an object says of itself.

- An object of the workspace's that says to be equal to, less than, nought apart from ... a plain value (or one of the
  standard library's or pytest's, as ``approx``) is refused, unless the grader's files name its class: then they mean
  it to be compared. One of a class derived from a plain type has to be equal by that type's own comparison, too.
- Where a class that nobody vouches for compares, the same question is asked among others whose answer is certainly no,
  twice each, in a drawn order. Who says yes to most of those, or answers one question in two ways, is refused.

Classes that the grader's own files define are not doubted, nor is ``unittest.mock.ANY`` where they name it.

Not covered: a class that the grader's files name and that knows what is expected; whether something counts as true;
what ``float(x)``, ``len(x)``, ``x[0]`` and other calls of an object's methods give; comparisons in the standard
library (``list.index``, ``sorted``, a key of a ``dict``), and ``match``.
"""

from __future__ import annotations

import functools
import operator
import os
import sys
import types
import unittest
from collections.abc import Callable, Collection, Iterator
from typing import Any

from .frames import known, sealed

_PLAIN = frozenset(
    {int, float, complex, bool, str, bytes, bytearray, type(None), type, range, list, tuple, dict, set, frozenset}
)
_LEAVES = 2000
"""Pairs of values that are looked at in one comparison of containers."""
_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda item, holder: item in holder,
    "-": operator.sub,
}
_OPPOSITE = {"<": operator.gt, "<=": operator.gt, ">": operator.lt, ">=": operator.lt}
_ORDER = ("__lt__", "__gt__", "__le__", "__ge__")
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
_type, _len, _zip, _isinstance, _id, _sorted, _getattr = type, len, zip, isinstance, id, sorted, getattr
_urandom, _vars, _getframe = os.urandom, vars, sys._getframe


class UnequalError(AssertionError):
    """A comparison that is true of anything."""


class Guard:
    """Compares for the grader's files.

    Args:
        doubted: called with words, when an object is equal to what it cannot be equal to.
        graders: the code of the grader's files by id, which may grow; ``None``: nobody asks who calls.
        spaces: the name spaces of their modules, which may grow.
        named: the names that they use, among them ``ANY`` where that is meant.
    """

    def __init__(
        self,
        doubted: Callable[[str], None],
        graders: dict[int, types.CodeType] | None,
        spaces: list[dict[str, Any]],
        named: Collection[str],
    ) -> None:
        self._doubted, self._graders, self._spaces, self._named = doubted, graders, spaces, frozenset(named)
        self._any = "ANY" in self._named

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """``left name right``, where that is no deceit.

        Raises:
            UnequalError: it is.
        """
        left_type, right_type = _type(left), _type(right)
        if left_type in _PLAIN and right_type in _PLAIN and not _holds(left) and not _holds(right):
            return _OPERATIONS[name](left, right)
        if self._graders is not None and _id(_getframe(1).f_code) not in self._graders:
            self._doubted("what the tests call was called by somebody else")
        told = self.check(name, left, right)
        result = _OPERATIONS[name](left, right)
        if name == "-":
            if _type(result) in _PLAIN:
                self.claimed(name, left, right)
        elif name == "!=":
            if not result:
                self.claimed("==", left, right)
        elif result:
            if told is False:
                self._refuse(name)
            self.claimed(name, left, right)
        return result

    def check(self, name: str, left: Any, right: Any) -> bool | None:
        """Ask what cannot be true. Returns what was said of the question itself, where it was asked.

        Raises:
            UnequalError: the answer was yes.
        """
        found, told = False, None
        if name == "==":
            for one, other in _pairs(left, right):
                for mine, others in ((one, other), (other, one)):
                    if self._foreign(mine, "__eq__"):
                        lies, said = _asked(mine, others, "==")
                        found = found or lies
                        told = False if not said and others is not _NOBODY and one is not other else told
        elif name == "in":
            odd = [object(), object(), object()]
            found = self._foreign(left, "__eq__") and _all_true(lambda one: left in [one], odd)
            if self._foreign(right, "__contains__"):
                lies, told = _asked(right, left, "in")
                found = found or lies or _all_true(lambda one: one in right, odd)
        elif name in _OPPOSITE:
            foreign = False
            for side in (left, right):
                for attribute in _ORDER:
                    foreign = foreign or self._foreign(side, attribute)
            if foreign:
                answers = _answers([(_OPERATIONS[name], left, right), (_OPPOSITE[name], left, right)])
                told = answers[0] is True
                found = None in answers or (answers[0] is True and answers[1] is True)
        if found:
            self._refuse(name)
        return told

    def claimed(self, name: str, left: Any, right: Any) -> None:
        """Refuse what was said to hold, if nothing but an object of the workspace's says so."""
        if name == "-" or name in _OPPOSITE:
            if self._is_strange(left, right, _ORDER if name in _OPPOSITE else ("__sub__", "__rsub__")):
                self._refuse(name)
            return
        if name == "in":
            if _type(right) not in (list, tuple, set, frozenset, dict) or not self._foreign(left, "__eq__"):
                return
            for item in right:
                if item is left or (not self._plain(item)):
                    return
                if self._is_strange(left, item, ("__eq__",)) is False:
                    return
            self._refuse(name)
        for one, other in _pairs(left, right):
            if other is not _NOBODY and self._is_strange(one, other, ("__eq__", "__ne__")):
                self._refuse(name)

    def _refuse(self, name: str) -> None:
        self._doubted(f"an object of a class that says yes to any {name}")
        raise UnequalError(f"an object of this class says yes to any {name}")

    def _is_strange(self, left: Any, right: Any, attributes: tuple[str, ...]) -> bool:
        """Whether one side is the workspace's word on its own behalf, the other a value that it cannot know."""
        for mine, other in ((left, right), (right, left)):
            if not self._plain(other):
                continue
            for attribute in attributes:
                if not self._foreign(mine, attribute) or self._is_known(mine, attribute):
                    continue
                base = _plain_base(_type(mine))
                if base is not None and attribute in ("__eq__", "__ne__"):
                    if not _equal_as(base, mine, other):
                        return True
                elif not self._is_named(_type(mine)):
                    return True
        return False

    def _plain(self, value: Any) -> bool:
        """Whether a value's own comparison can be believed, and is not just identity."""
        kind = _type(value)
        if kind in _PLAIN:
            return True
        for base in _mro(kind):
            if "__eq__" in _dict(base):
                return base is not object and (not self._foreign(value, "__eq__") or self._is_known(value, "__eq__"))
        return False

    def _is_known(self, value: Any, attribute: str) -> bool:
        """Whether it is compared by a function that was there before the workspace."""
        for base in _mro(_type(value)):
            if attribute in _dict(base):
                function = _dict(base)[attribute]
                return _type(function) is _FUNCTION and _id(function.__code__) in known and not _is_any(value)
        return False

    def _is_named(self, kind: Any) -> bool:
        """Whether the grader's files name this class or one that it is derived from."""
        bases = [base for base in _mro(kind) if base is not object and base not in _PLAIN]
        seen: list[Any] = [*self._spaces]
        for space in seen:
            for name in self._named:
                value = space.get(name)
                for base in bases:
                    if value is base:
                        return True
                if _type(value) is types.ModuleType and _len(seen) < _LEAVES:
                    inner = _vars(value)
                    known_already = False
                    for one in seen:
                        known_already = known_already or one is inner
                    if not known_already:
                        seen.append(inner)
        return False

    def _foreign(self, value: Any, attribute: str) -> bool:
        """Whether a class that nobody vouches for decides."""
        kind = _type(value)
        if kind in _PLAIN:
            return False
        if self._any and _is_any(value):
            return False
        for base in _mro(kind):
            if attribute in _dict(base):
                function = _dict(base)[attribute]
                if _type(function) is _FUNCTION:
                    return self._graders is None or _id(function.__code__) not in self._graders
                return _type(function) not in _BUILT_IN or function.__name__ != attribute
        return False


_FUNCTION = type(lambda: None)
_BUILT_IN = (type(object.__eq__), type(int.__dict__.get("__index__")), type(list.__dict__["append"]))
_NOBODY = object()
_NOTHING = {int: 0, float: 0.0, complex: 0j, str: "", bytes: b""}


def _is_any(value: Any) -> bool:
    return value is _getattr(sys.modules.get("unittest.mock"), "ANY", _NOBODY)


def _plain_base(kind: Any) -> Any:
    for base in _mro(kind):
        if base in _PLAIN:
            return base
    return None


def _equal_as(base: Any, mine: Any, other: Any) -> bool:
    """Whether a value is equal to another one by what it is without its class."""
    nothing = _NOTHING.get(base)
    if nothing is not None:
        return bool(base.__add__(mine, nothing) == other)
    return _type(other) in _PLAIN and (base.__eq__(mine, other) is True or other.__eq__(mine) is True)


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
            stack += [(value, dict.get(other, key, _NOBODY)) for key, value in list(dict.items(one))[:_LEAVES]]
            stack += [(key, _NOBODY) for key in list(dict.keys(one))[:_LEAVES]]
        elif _isinstance(one, (set, frozenset)):
            stack += [(item, _NOBODY) for item in list(one)[:_LEAVES]]
            stack += [(item, _NOBODY) for item in list(other)[:_LEAVES]] if _isinstance(other, (set, frozenset)) else []


def _items(value: Any) -> list[Any]:
    return [*(list if _isinstance(value, list) else tuple).__iter__(value)]


def _asked(mine: Any, other: Any, name: str) -> tuple[bool, bool]:
    """Whether an object lies, and what it says of the other one, asked among questions whose answer is no."""
    operation = _OPERATIONS[name]
    odd = [other, object(), *_others(other)]
    answers = _answers([(operation, mine, one) if name == "==" else (operation, one, mine) for one in odd])
    yes = [answer for answer in answers[2:] if answer]
    lies = None in answers or 2 * _len(yes) > _len(answers) - 2
    return lies or (name == "==" and answers[1] is True), answers[0] is True


def _answers(questions: list[tuple[Any, Any, Any]]) -> list[bool | None]:
    """What is said to each, asked twice, in a drawn order; ``None`` where that is not the same. What raises is no."""
    found: list[bool | None] = [False] * _len(questions)
    asked: set[int] = set()
    for place in _sorted([*range(_len(questions))] * 2, key=lambda _: _urandom(8)):
        operation, left, right = questions[place]
        try:
            answer = True if operation(left, right) else False  # noqa: SIM210  (``bool`` may be another)
        except Exception:
            answer = False
        if place in asked and found[place] is not answer:
            answer = None  # type: ignore[assignment]
        asked.add(place)
        found[place] = answer
    return found


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


def _guarded(method: Callable[..., Any], guards: list[Guard], name: str) -> Any:
    def asked(self: Any, first: Any, second: Any, *rest: Any, **options: Any) -> Any:
        for guard in guards:
            guard.check(name, first, second)
        result = method(self, first, second, *rest, **options)
        for guard in guards:  # it holds
            if "Almost" in method.__name__:
                guard.claimed("-", first, second)
            guard.claimed(name, first, second)
        return result

    return functools.update_wrapper(sealed(asked), method)
