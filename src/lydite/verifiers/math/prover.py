"""What runs in the process beside: SymPy on a tree, built by constructors alone.

Nothing here reads text as mathematics: no ``sympify``, ``parse_expr``, ``lambdify`` or ``eval``; names of symbols are
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import sympy as sp  # type: ignore[import-untyped]
from sympy.core.evalf import PrecisionExhausted  # type: ignore[import-untyped]
from sympy.polys.polyerrors import BasePolynomialError  # type: ignore[import-untyped]

POINTS = 3
DIGITS, MAX_DIGITS = 20, 150
"""Digits of a difference that must be right for it to count, and working precision at most."""


class UnknownError(Exception):
    """A form that has no counterpart here."""


def opinion(data: bytes) -> bytes:
    """``equal``, ``different`` or ``open`` for two trees. Looks for a difference before it tries to prove anything."""
    a, b = msgspec.json.decode(data)
    try:
        whole = _contains([a, b], "fact", "rem", "binom")
        one, other = _built(a, whole), _built(b, whole)
        if one == other:
            return b"equal"
        complex_ = _contains([a, b], "i")
        if any(_differ(one, other, place, complex_) for place in _places(one - other, whole)):
            return b"different"
    except (UnknownError, ArithmeticError, TypeError, ValueError, AttributeError, NotImplementedError):
        return b"open"
    return b"equal" if _is_zero(one - other) else b"open"


def _contains(tree: Any, *words: str) -> bool:
    return any(_contains(part, *words) if isinstance(part, list) else part in words for part in tree)


def _built(tree: list[Any], whole: bool) -> Any:
    op, *args = tree
    if op == "num":
        return sp.Rational(int(args[0]), int(args[1]))
    if op == "sym":
        if whole:
            return sp.Symbol(f"s{int(args[0])}", integer=True, positive=True)
        return sp.Symbol(f"s{int(args[0])}", real=True)
    if op == "const":
        if args[0] not in _CONSTANTS:
            raise UnknownError
        return _CONSTANTS[args[0]]
    if op == "call":
        return _call(args[0], [_built(argument, whole) for argument in args[1:]])
    if op not in _OPERATIONS:
        raise UnknownError
    return _OPERATIONS[op](*(_built(argument, whole) for argument in args))


def _power(base: Any, exponent: Any) -> Any:
    if exponent.is_Rational and exponent.q > 1 and exponent.q % 2:
        return sp.Pow(_root(base, sp.Integer(exponent.q)), exponent.p)
    return sp.Pow(base, exponent)


def _root(base: Any, degree: Any) -> Any:
    """Roots of odd degree are real, as in school."""
    if degree.is_Integer and degree > 0 and degree % 2 and not base.is_nonnegative:
        if base.is_negative:
            return -sp.Pow(-base, 1 / degree)
        if base.is_extended_real:
            return sp.sign(base) * sp.Pow(sp.Abs(base), 1 / degree)
    return sp.Pow(base, 1 / degree)


def _call(name: str, values: list[Any]) -> Any:
    if name == "log" and len(values) == 2:
        return sp.log(values[0]) / sp.log(values[1])
    if name in ("max", "min", "binom") and values:
        return _SEVERAL[name](*values)
    if name in _FUNCTIONS and len(values) == 1:
        return _FUNCTIONS[name](values[0])
    if len(name) == 1:
        return sp.Function(f"f{ord(name)}")(*values)
    raise UnknownError


_CONSTANTS = {"pi": sp.pi, "e": sp.E, "i": sp.I}
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b, "neg": lambda a: -a,
    "pow": _power, "root": _root, "percent": lambda a: a / 100, "degree": lambda a: a * sp.pi / 180,
    "fact": sp.factorial, "rem": sp.Mod,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sin": sp.sin, "cos": sp.cos, "tan": sp.tan, "cot": sp.cot, "sec": sp.sec, "csc": sp.csc, "arcsin": sp.asin,
    "arccos": sp.acos, "arctan": sp.atan, "arccot": lambda a: sp.pi / 2 - sp.atan(a), "sinh": sp.sinh,
    "cosh": sp.cosh, "tanh": sp.tanh, "exp": sp.exp, "ln": sp.log, "log": lambda a: sp.log(a) / sp.log(10),
    "abs": sp.Abs, "floor": sp.floor, "ceil": sp.ceiling,
}  # fmt: skip
_SEVERAL: dict[str, Callable[..., Any]] = {"max": sp.Max, "min": sp.Min, "binom": sp.binomial}


def _places(difference: Any, whole: bool) -> Iterator[dict[Any, Any]]:
    """Where to look: once where there is no symbol."""
    names = sorted(difference.free_symbols, key=lambda symbol: symbol.name)
    if not names:
        yield {}
        return
    for index in range(1, POINTS + 1):
        if whole:
            yield {name: sp.Integer(5 * index + 2 * at) for at, name in enumerate(names)}
        else:
            yield {
                name: sp.Rational(7919 * index + 104729 * at + 65537, 39916801) * (-1) ** (index * (at + 1)) * 997
                for at, name in enumerate(names)
            }


def _differ(a: Any, b: Any, place: dict[Any, Any], complex_: bool) -> bool:
    """Whether the sides have different values at a place, beyond the error of computing them."""
    if place and not complex_ and not all(_is_real(side, place) for side in (a, b)):
        return False
    try:
        value = (a - b).evalf(DIGITS, subs=place or None, maxn=MAX_DIGITS, strict=True)
    except PrecisionExhausted:  # zero, as far as one can see
        return False
    return bool(value.is_number and value.is_finite and value != 0 and not value.has(sp.nan, sp.zoo))


def _is_real(side: Any, place: dict[Any, Any]) -> bool:
    return bool(side.evalf(DIGITS, subs=place).is_real)


def _is_zero(difference: Any) -> bool:
    """Whether a difference can be proved to be zero: the cheap ways first."""
    return any(_proves(step, difference) for step in _STEPS)


def _proves(step: Callable[[Any], Any], difference: Any) -> bool:
    try:
        return bool(step(difference) == 0)
    except (ArithmeticError, TypeError, ValueError, AttributeError, NotImplementedError, BasePolynomialError):
        return False


def _annihilated(difference: Any) -> Any:
    """Zero where the minimal polynomial of an algebraic number is x."""
    if difference.free_symbols:
        return difference
    unknown = sp.Dummy("x")
    return 0 if sp.minimal_polynomial(difference, unknown) == unknown else difference


_STEPS: tuple[Callable[[Any], Any], ...] = (
    lambda d: d,
    sp.expand,
    lambda d: sp.expand(sp.sqrtdenest(d)),
    lambda d: sp.expand(sp.logcombine(sp.expand_log(d))),
    _annihilated,
    lambda d: sp.expand(d.rewrite(sp.exp)) if d.free_symbols else d,
    sp.simplify,
)
