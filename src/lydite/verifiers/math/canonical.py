"""A normal form of expressions, in which the usual identities hold by construction.

Sums, products, quotients and powers; roots of numbers and of expressions; exponentials, logarithms, trigonometric and
hyperbolic functions, absolute values, factorials. Symbols are real. Expressions of the same form are equal. Where the
form is *complete*, those of different forms differ, too: rational functions of symbols, of square and other roots of
whole numbers, of i and of either pi or e, and of exponentials (sines, cosines) of sums with symbols; roots of different
whole numbers are independent (Besicovitch 1940), pi and e are transcendental (Lindemann 1882), and exponentials of
independent functions are independent (Ax 1971).
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from lydite.verifiers.math import elementary
from lydite.verifiers.math import polynomial as poly
from lydite.verifiers.math import quotient as quo
from lydite.verifiers.math.nodes import Node, UndefinedError
from lydite.verifiers.math.polynomial import Effort, GaveUpError, Generator, give_up
from lydite.verifiers.math.quotient import Quotient
from lydite.verifiers.math.work import charge

Decision = Literal["equal", "different", "open"]
_LOG_OF_PRIME = re.compile(r"fln\(\d{1,6}\)")
_LOG_OF_SYMBOL = re.compile(r"fln\(1 s[A-Za-z]+\)")
STEPS_OF_A_TERM = 6
"""What the product of two terms takes, in the steps of ``work``."""

_STRUCTURES = frozenset(["tuple", "set", "named", "cup", "cap", "minus", "matrix", "list", "dots", "pm", "mp", "mod"])
_OPAQUE = frozenset(["floor", "ceil", "max", "min", "gcd", "lcm"])


def decide(a: Node, b: Node) -> tuple[Decision, bool]:
    """Whether two expressions are equal, as far as their normal forms tell, and whether these forms are complete.

    Raises:
        UndefinedError: one of them divides by zero.
        TooLongError: no steps are left.
    """
    forms = []
    for node in (a, b):
        form, steps = normal_form(node)
        charge(steps * STEPS_OF_A_TERM, (node, -1, 0))
        forms.append(form)
    one, other = forms
    if one is None or other is None:
        return "open", False
    complete = _is_complete([one, other])
    effort = Effort()
    try:
        same = quo.equal(one, other, effort)
    except GaveUpError:
        return "open", False
    finally:
        charge((poly.MAX_STEPS - max(0, effort.left)) * STEPS_OF_A_TERM)
    return "equal" if same else "different" if complete else "open", complete


def is_open(node: Node) -> bool:
    """Whether an expression, or one within a structure, has no normal form that decides alone."""
    if node.op == "const":
        return False  # also infinity, which is no number
    if node.op == "num":  # what most golds are; as below, at once
        return _is_large(node.args[0])
    if node.op == "neg":
        return is_open(node.args[0])
    if node.op in _STRUCTURES:
        parts = [part for arg in node.args for part in (arg if type(arg) is tuple else (arg,))]
        return any(is_open(part) for part in parts if isinstance(part, Node))
    try:
        form, _ = normal_form(node)
    except UndefinedError:
        return False
    return form is None or not _is_complete([form])


def _is_large(value: Fraction) -> bool:
    return value.numerator.bit_length() + value.denominator.bit_length() > poly.MAX_BITS


@lru_cache(maxsize=2048)
def normal_form(node: Node) -> tuple[Quotient | None, int]:
    """The normal form, ``None`` where there is none within the limits; and the products of terms that it took.

    Raises:
        UndefinedError: it divides by zero.
    """
    effort = Effort()
    try:
        form: Quotient | None = _of(node, effort)
    except GaveUpError:
        form = None
    return form, poly.MAX_STEPS - max(0, effort.left)


def _of(node: Node, effort: Effort) -> Quotient:
    op, args = node
    effort.spend(1)
    if op == "num":
        value = args[0]
        if _is_large(value):
            give_up()
        return Quotient(poly.constant(value))
    if op == "sym":
        return Quotient(poly.generator("s" + (args[0] if args[0].isalnum() else repr(args[0]))))
    if op == "base":
        return Quotient(poly.constant(args[0]))
    if op == "const":
        return _constant(args[0], effort)
    if op == "call":
        return _call(args[0], [_of(argument, effort) for argument in args[1]], effort)
    if op not in ("add", "mul", "div", "pow", "root", "neg", "percent", "degree", "fact", "rem"):
        give_up()
    first = _of(args[0], effort)
    if op == "neg":
        return quo.scale(first, -1)
    if op == "percent":
        return quo.scale(first, Fraction(1, 100))
    if op == "degree":
        return quo.scale(quo.multiply(first, Quotient(poly.PI), effort), Fraction(1, 180))
    if op == "fact":
        return elementary.factorial(first, effort)
    second = _of(args[1], effort)
    if op == "add":
        return quo.add(first, second, effort)
    if op == "mul":
        return quo.multiply(first, second, effort)
    if op == "div":
        return quo.divide(first, second, effort)
    if op == "pow":
        return elementary.power(first, second, effort)
    if op == "root":
        degree = second.constant
        if not degree:
            give_up()
        return quo.power(first, 1 / degree, effort)
    return _opaque(op, [first, second])


def _constant(name: str, effort: Effort) -> Quotient:
    if name == "pi":
        return Quotient(poly.PI)
    if name == "i":
        return Quotient(poly.IMAGINARY)
    if name == "e":
        return elementary.exp(Quotient(poly.ONE), effort)
    give_up()


def _call(name: str, values: list[Quotient], effort: Effort) -> Quotient:
    if len(values) == 1 and name in elementary.FUNCTIONS:
        return elementary.FUNCTIONS[name](values[0], effort)
    if name == "log" and len(values) == 2:
        return quo.divide(elementary.log(values[0], effort), elementary.log(values[1], effort), effort)
    if name == "binom" and len(values) == 2:
        return elementary.binomial(values[0], values[1], effort)
    if name in _OPAQUE or len(name) == 1:
        return _opaque(name, values)
    give_up()


def _opaque(name: str, values: list[Quotient]) -> Quotient:
    """A function of which nothing is known but that the same arguments give the same value."""
    told = [quo.name_of(value) for value in values]
    if name in ("max", "min", "gcd", "lcm"):
        told.sort()
    return Quotient(poly.generator(f"f{name}({'; '.join(told)})"))


def _is_complete(forms: list[Quotient]) -> bool:
    generators = {base for form in forms for part in form for monomial in part for base, _ in monomial}
    constants = 0
    for base in generators:
        kind = _kind(base)
        if kind == "open":
            return False
        constants += kind == "constant"
    return constants <= 1


def _kind(base: Generator) -> Literal["independent", "constant", "open"]:
    """Whether a generator is independent of the others, or a transcendental constant: of those, one is."""
    name, data = base
    if name == "s\\pi" or _LOG_OF_PRIME.fullmatch(name):
        return "constant"
    if name[0] in "spi" or _LOG_OF_SYMBOL.fullmatch(name):
        return "independent"
    if name[0] != "e" or data is None:
        return "open"
    inner = [_kind(part) for part, _ in data]
    if "open" in inner or {"i", "s\\pi"} <= {part[0] for part, _ in data}:
        return "open"  # e^(i pi n) is periodic: of a whole n, it knows more
    return "independent" if any(part[0][0] == "s" and part[0] != "s\\pi" for part, _ in data) else "constant"
