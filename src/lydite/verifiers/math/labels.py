"""What may stand left of a value in ``x = 5``."""

from __future__ import annotations

from fractions import Fraction

from lydite.verifiers.math.answer import SCALARS, Answer
from lydite.verifiers.math.nodes import Node, NotMathError, contains, num, symbols
from lydite.verifiers.math.parse import parse
from lydite.verifiers.math.quantities import of_node, term
from lydite.verifiers.math.tokens import Token
from lydite.verifiers.math.units import CURRENCIES, parse_unit
from lydite.verifiers.math.words import number_words

_GEOMETRY = frozenset(
    ["angle", "measuredangle", "triangle", "overline", "vec", "overrightarrow", "widehat", "hat", "odot"]
)
_NAMING = frozenset(
    ["Pr", "mathbb", "lim", "int", "iint", "oint", "sum", "prod", "min", "max", "bar", "tilde", "nabla"]
)


def label_of(tokens: list[Token]) -> Node | str | None:
    """What may stand left of a value: a symbol, a point of symbols, f(x), a side AB or angle, or words."""
    currency = any(token.type == "op" and token.value in CURRENCIES for token in tokens)
    if (currency or any(token.type == "word" for token in tokens)) and _is_value(tokens):
        return None  # "3 kg" is no name
    if spoken(tokens) is not None:
        return None
    if any(token.type == "word" for token in tokens):
        return " ".join(str(token.value[1] if token.type == "num" else token.value) for token in tokens).casefold()
    if any(token.type == "cmd" and token.value in _GEOMETRY for token in tokens):
        return " ".join(str(token.value[1] if token.type == "num" else token.value) for token in tokens)
    try:
        node = parse(tokens)
    except NotMathError:
        if not _is_named(tokens):
            raise
        return "what is told"
    if node.op == "sym":
        return node
    if node.op in ("pow", "set") and _is_other_name(node):
        return "what is told"
    if contains(node, "sum", "prod") and Node("const", ("oo",)) in (node.args[2:3] or ()):
        return "what is told"
    if node.op == "div" and all(_is_differential(part) for part in node.args):
        return "derivative"
    side = node.args[1][0] if node.op == "call" and node.args[0] == "abs" else node
    if _is_side(side) or (node.op == "call" and len(node.args[0]) == 1 and not symbols(node)):
        return "".join(str(token.value[1] if token.type == "num" else token.value) for token in tokens)  # AB, f(3)
    if node.op == "tuple" and all(item.op == "sym" for item in node.args[2]):
        return node
    if node.op == "call" and node.args[0] not in ("abs", "binom") and all(item.op == "sym" for item in node.args[1]):
        return node
    if node.op == "mul" and node.args[0].op == "sym" and tokens[1:2] and tokens[1].value == "(":
        return node if node.args[1].op in ("sym", "num", "tuple") else None
    return None


def _is_named(tokens: list[Token]) -> bool:
    """Whether what stands left of a value is a limit, an integral, a probability such as P(X = 3)."""
    first = tokens[0]
    event = first.type == "sym" and first.value in ("P", "E", "N") and len(tokens) > 2 and tokens[1].value in ("(", "[")
    return event or (first.type == "cmd" and first.value in _NAMING)


def _is_other_name(node: Node) -> bool:
    r"""A^{-1}, M^T; \{(x, y)\}"""
    if node.op == "set":
        return len(node.args) == 1 and node.args[0].op == "tuple" and not contains(node, "num")
    base, power = node.args
    turned = power in (Node("sym", ("T",)), Node("num", (Fraction(-1),)), Node("neg", (num(1),)))
    return bool(base.op == "sym" and base.args[0].isupper() and turned)


def _is_differential(node: Node) -> bool:
    """dy, dx"""
    return node.op == "mul" and node.args[0] == Node("sym", ("d",)) and node.args[1].op == "sym"


def _is_side(node: Node) -> bool:
    """Two or more capital letters in a row: a side of a figure."""
    while node.op == "mul":
        if node.args[1].op != "sym" or not node.args[1].args[0].isupper():
            return False
        if node.args[0].op == "sym":
            return bool(node.args[0].args[0].isupper())
        node = node.args[0]
    return False


def _is_value(tokens: list[Token]) -> bool:
    """Whether words among tokens are only the unit of a number."""
    try:
        value = term(tokens, "")
    except NotMathError:
        return False
    return value is not None and value.kind in SCALARS and value.node is not None and not symbols(value.node)


def spoken(tokens: list[Token]) -> Answer | None:
    """A number in words, alone or with a known unit: seven kg. "One side" is a name."""
    if not all(token.type == "word" for token in tokens) or not tokens:
        return None
    said = [str(token.value) for token in tokens]
    for size in range(len(said), max(0, len(said) - 4), -1):
        value = number_words([word.casefold() for word in said[:size]])
        unit = parse_unit(" ".join(said[size:])) if value is not None else None
        if value is not None and unit is not None and not any(name.startswith("of:") for name, _ in unit.dims):
            return of_node(num(value), "", unit if unit.dims else None)
    return None
