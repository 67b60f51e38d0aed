"""Formulas of ``multi`` graders: ``0.5 * exact + 0.5 * max(rouge, 0.2)``.

Numbers, names, ``+ - * / ^``, brackets, and ``min max abs floor ceil exp sqrt log`` (natural). ``^`` binds tighter than
a minus before it and to the right, as in mathematics: ``-2^2`` is -4, ``2^3^2`` is 512. Read by the parser below and
never evaluated as a program.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

MAX_CHARS, MAX_TOKENS, MAX_DEPTH = 2000, 300, 30

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<sign>[-+*/^(),]))"
)
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs,
    "ceil": lambda x: float(math.ceil(x)),
    "exp": math.exp,
    "floor": lambda x: float(math.floor(x)),
    "log": math.log,
    "max": lambda *x: max(x),
    "min": lambda *x: min(x),
    "sqrt": math.sqrt,
}
FUNCTIONS = frozenset(_FUNCTIONS)
_MANY = ("min", "max")
_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
_MINUS = 3


class FormulaError(Exception):
    """A formula that cannot be read, or has no value for some numbers."""


class _Node(NamedTuple):
    """``kind``: number, name, a sign, ``neg``, or a function's name."""

    kind: str
    value: float | str = 0.0
    inner: tuple[_Node, ...] = ()


class Formula:
    """A formula that was read. ``names``: those of the scores that it speaks of.

    Raises:
        FormulaError: it cannot be read.
    """

    def __init__(self, text: str) -> None:
        if len(text) > MAX_CHARS:
            raise FormulaError(f"has more than {MAX_CHARS} characters")
        self._tokens = _tokens(text)
        if len(self._tokens) > MAX_TOKENS:
            raise FormulaError(f"has more than {MAX_TOKENS} words and signs")
        self._at = 0
        self._root = self._expression(0, 0)
        if self._at < len(self._tokens):
            raise FormulaError(f"{self._tokens[self._at][1]!r} was not expected")
        self.names = frozenset(_names(self._root))

    def value(self, scores: Mapping[str, float]) -> float:
        """What it comes to.

        Raises:
            FormulaError: a division by zero, a number too large, a root or logarithm that there is not.
        """
        try:
            found = _value(self._root, scores)
        except ZeroDivisionError:
            raise FormulaError("division by zero") from None
        except OverflowError:
            raise FormulaError("a number is too large") from None
        except ValueError:
            raise FormulaError("a root, power or logarithm that there is not") from None
        if not math.isfinite(found):
            raise FormulaError("a number is too large")
        return found

    def _peek(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _take(self, wanted: str) -> None:
        if self._peek() != wanted:
            raise FormulaError(f"{wanted!r} was expected, not {self._peek() or 'the end'!r}")
        self._at += 1

    def _expression(self, level: int, depth: int) -> _Node:
        left = self._operand(depth)
        while (own := _LEVELS.get(self._peek(), -1)) > level:
            sign = self._peek()
            self._at += 1
            left = _Node(sign, inner=(left, self._expression(own - (sign == "^"), depth + 1)))
        return left

    def _operand(self, depth: int) -> _Node:
        if depth > MAX_DEPTH:
            raise FormulaError("is nested too deeply")
        if self._at >= len(self._tokens):
            raise FormulaError("ends too early")
        kind, word = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            return _Node("number", float(word))
        if word == "-":
            return _Node("neg", inner=(self._expression(_MINUS, depth + 1),))
        if word == "+":
            return self._expression(_MINUS, depth + 1)
        if word == "(":
            inner = self._expression(0, depth + 1)
            self._take(")")
            return inner
        if kind != "name":
            raise FormulaError(f"{word!r} was not expected")
        if self._peek() != "(":
            if word in FUNCTIONS:
                raise FormulaError(f"{word} is a function: write {word}(…)")
            return _Node("name", word)
        return self._call(word, depth)

    def _call(self, name: str, depth: int) -> _Node:
        if name not in FUNCTIONS:
            raise FormulaError(f"no function is called {name[:40]!r}; there is {', '.join(sorted(FUNCTIONS))}")
        self._take("(")
        inner = [self._expression(0, depth + 1)]
        while self._peek() == ",":
            self._at += 1
            inner.append(self._expression(0, depth + 1))
        self._take(")")
        if len(inner) > 1 and name not in _MANY:
            raise FormulaError(f"{name} takes one number")
        return _Node(name, inner=tuple(inner))


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        token = _TOKEN.match(text, at)
        if token is None:
            raise FormulaError(f"{text[at:].strip()[:20]!r} is not understood")
        found.append((str(token.lastgroup), token.group(str(token.lastgroup))))
        at = token.end()
    return found


def _names(node: _Node) -> set[str]:
    own = {str(node.value)} if node.kind == "name" else set()
    return own.union(*map(_names, node.inner))


def _value(node: _Node, scores: Mapping[str, float]) -> float:
    if node.kind == "number":
        return float(node.value)
    if node.kind == "name":
        return scores[str(node.value)]
    inner = [_value(one, scores) for one in node.inner]
    if node.kind == "neg":
        return -inner[0]
    if node.kind in _FUNCTIONS:
        return _FUNCTIONS[node.kind](*inner)
    left, right = inner
    if node.kind == "+":
        return left + right
    if node.kind == "-":
        return left - right
    if node.kind == "*":
        return left * right
    return left / right if node.kind == "/" else math.pow(left, right)
