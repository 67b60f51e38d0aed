"""Values with a currency before them or a unit behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from lydite.verifiers.math import matrices, words
from lydite.verifiers.math.answer import SCALARS, Answer
from lydite.verifiers.math.nodes import Node, contains, num, symbols
from lydite.verifiers.math.parse import parse
from lydite.verifiers.math.tokens import Token
from lydite.verifiers.math.units import CURRENCIES, DEGREE, NONE, Unit, currency, parse_unit

_MARKS = frozenset(["'", '"', "¢", *CURRENCIES])
_OPEN = frozenset(["(", "[", "{", "langle", "lfloor", "lceil"])
_PERCENT = re.compile(r"(?:percent|per cent|pct|percentage)s?(?: points?)?(?: (?!of\b)[a-z ]{1,30})?$", re.IGNORECASE)
_CLOSE = frozenset([")", "]", "}", "rangle", "rfloor", "rceil"])


def depths(tokens: list[Token]) -> Iterator[tuple[int, Token, int]]:
    """Each token with its place and the number of brackets around it."""
    depth = 0
    for index, token in enumerate(tokens):
        if (token.type in ("op", "cmd") and token.value in _CLOSE) or (token.type == "env" and not token.value[0]):
            depth -= 1
        yield index, token, depth
        if (token.type in ("op", "cmd") and token.value in _OPEN) or (token.type == "env" and token.value[0]):
            depth += 1


def term(tokens: list[Token], raw: str) -> Answer | None:
    """A value without relations: perhaps with a currency before it or a unit behind it."""
    if not tokens:
        return None
    unit, tokens = _prefix_currency(tokens)
    colons = [index for index, token in enumerate(tokens) if _is_ratio_sign(token, index)]
    if colons:
        colons = [index for index, token, depth in depths(tokens) if depth == 0 and index in colons]
    if colons:
        pieces = _pieces(tokens, colons)
        return Answer("ratio", raw, data=tuple(parse(piece) for piece in pieces))
    at = None
    if any(token.type == "word" or (token.type == "op" and token.value in _MARKS) for token in tokens):
        at = next((index for index, _, depth in depths(tokens) if depth == 0 and _starts_unit(tokens, index)), None)
    if at is None:
        return of_node(parse(tokens), raw, unit)
    if at == 0:
        return None
    return _quantity(tokens, at, raw, unit)


def _starts_unit(tokens: list[Token], index: int) -> bool:
    """A word, a fraction of words, or the marks of feet and inches."""
    token = tokens[index]
    if token.type == "word":
        return True
    if token.value == "frac" and index and index + 2 < len(tokens):
        return tokens[index + 1].value == "{" and tokens[index + 2].type == "word"
    if token.value == "/" and index and index + 1 < len(tokens):
        return tokens[index + 1].type == "word"
    return token.type == "op" and token.value in _MARKS and index > 0 and tokens[index - 1].type == "num"


def _is_ratio_sign(token: Token, index: int) -> bool:
    return index > 0 and ((token.type == "op" and token.value == ":") or (token.type == "word" and token.value == "to"))


def _pieces(tokens: list[Token], at: list[int]) -> list[list[Token]]:
    edges = [-1, *at, len(tokens)]
    return [tokens[a + 1 : b] for a, b in pairwise(edges)]


def _prefix_currency(tokens: list[Token]) -> tuple[Unit | None, list[Token]]:
    sign = 1 if tokens[0].value == "-" and len(tokens) > 1 else 0
    first = tokens[sign]
    if first.type == "op" and first.value in CURRENCIES:
        return currency(first.value), [*tokens[:sign], *tokens[sign + 1 :]]
    if first.type == "word" and len(tokens) > sign + 1:
        after = sign + 1 + (tokens[sign + 1].value == ".")
        if first.value.casefold() == "us" and len(tokens) > after + 1 and tokens[after].value == "$":
            after += 1  # US$25
        if (
            len(tokens) > after
            and tokens[after].type in ("num", "op")
            and first.value.casefold() in ("rs", "usd", "inr", "eur", "gbp", "us")
        ):
            return parse_unit("dollar" if first.value.casefold() == "us" else first.value), [
                *tokens[:sign],
                *tokens[after:],
            ]
    return None, tokens


def of_node(node: Node, raw: str, unit: Unit | None = None) -> Answer:
    op = node.op
    if op == "percent":
        return Answer("percent", raw, node.args[0])
    if op == "neg" and node.args[0].op == "percent":
        return Answer("percent", raw, Node("neg", node.args[0].args))
    if op == "degree" or (op == "neg" and node.args[0].op == "degree"):
        inner = node.args[0] if op == "degree" else Node("neg", node.args[0].args)
        return Answer("quantity", raw, inner, DEGREE)
    if op == "neg" and node.args[0].op in ("mod", "rem"):
        op = node.args[0].op
        node = Node(op, (Node("neg", node.args[0].args[:1]), node.args[0].args[1]))
    if op in ("mod", "rem"):
        return Answer("mod", raw, node.args[0], label=op, data=node.args[1])
    if op == "add" and node.args[1].op == "neg" and node.args[0].op in ("named", "set", "cup"):
        node = Node("minus", (node.args[0], node.args[1].args[0]))  # R - {1}
        op = "minus"
    if contains(node, "matrix") or (op == "pow" and node.args[0].op == "tuple"):
        node = matrices.worked(node)
        op = node.op
    if op in ("call", "mul") and (point := _point(node)) is not None:
        node, op = point, "tuple"
    kind = {"tuple": "tuple", "set": "set", "named": "set", "cup": "set", "cap": "set", "minus": "set",
        "matrix": "matrix", "base": "base",
            "dots": "sequence"}.get(op)  # fmt: skip
    if op == "tuple" and (rows := matrices.of_brackets(node)) is not None:
        return Answer("matrix", raw, rows)
    if op == "list":
        return Answer("list", raw, items=tuple(of_node(item, "") for item in node.args), data=",")
    if kind is None:
        kind = ("integer" if node.args[0].denominator == 1 else "rational") if op == "num" else "expression"
        if unit is not None:
            kind = "quantity"
    return Answer(kind, raw, node, unit)


def _point(node: Node) -> Node | None:
    """P(3, 4): a point with its name."""
    if node.op == "call" and len(node.args[1]) > 1 and len(node.args[0]) == 1 and node.args[0].isupper():
        return Node("tuple", ("(", ")", node.args[1]))
    if node.op != "mul":
        return None
    name, point = node.args
    named = name.op == "sym" and name.args[0][0].isupper() and point.op == "tuple"
    return Node("tuple", point.args) if named else None


def _quantity(tokens: list[Token], at: int, raw: str, unit: Unit | None) -> Answer | None:
    """A number and what follows it: a scale word, a unit, or several of these (5 feet 6 inches)."""
    value = parse(tokens[:at])
    total: Answer | None = None
    while True:
        end = next(
            (index for index in range(at, len(tokens)) if tokens[index].type == "num" and not _is_power(tokens, index)),
            len(tokens),
        )
        tail = tokens[at:end]
        while tail and tail[0].type == "word" and tail[0].value.lower().removesuffix("s") in words.SCALES:
            scale = words.SCALES[tail[0].value.lower().removesuffix("s")]
            value = num(value.args[0] * scale) if value.op == "num" else Node("mul", (value, num(scale)))
            tail = tail[1:]
        this = _with_unit(value, tail, raw, unit)
        if this is None:
            return None
        if total is not None:
            if (
                total.unit is None
                or this.unit is None
                or total.unit.dims != this.unit.dims
                or total.node is None
                or this.node is None
            ):
                return None
            ratio = this.unit.factor / total.unit.factor
            if total.node.op != "num" or this.node.op != "num":
                return None
            this = total._replace(node=num(total.node.args[0] + this.node.args[0] * ratio))
        total = this
        if end >= len(tokens):
            return total
        at = next((index for index in range(end, len(tokens)) if _starts_unit(tokens, index)), -1)
        if at < 0:
            return None
        value = parse(tokens[end:at])


def _is_power(tokens: list[Token], index: int) -> bool:
    before = tokens[index - 1]
    return before.value == "^" or (before.value in ("{", "-") and index > 1 and tokens[index - 2].value in ("^", "{"))


def _with_unit(value: Node, tail: list[Token], raw: str, unit: Unit | None) -> Answer | None:
    spelled = "".join(
        (" " if token.spaced else "") + str(token.value[1] if token.type == "num" else _spell(token)) for token in tail
    )
    name = spelled.strip(" .").replace("}{", "/").replace("{", "").replace("}", "").removeprefix("frac")
    name = {"'": "feet", '"': "inches", "''": "inches"}.get(name, name)
    if _PERCENT.match(name):
        return Answer("percent", raw, value, label=_direction(name))
    found = parse_unit(name)
    if found is None:
        return None
    named = not tail or tail[0].value == "per" or "/" in name
    if not named and any(token.type == "sym" and not token.text and token.value != "a" for token in tail[1:]):
        return None
    if unit is not None and found.dims and name.startswith(("/", "per ")):
        found = Unit(tuple(sorted((*unit.dims, *found.dims))), unit.factor * found.factor)  # $5/hour
    elif unit is not None and (
        not found.dims or found.dims == unit.dims or all(dim[0].startswith("of:") for dim in found.dims)
    ):
        found = unit
    answer = of_node(value, raw)
    if answer.kind == "percent":  # a 30% increase; 30% of a kilogram is another thing
        counted = all(dim[0].startswith("of:") for dim in found.dims)
        return answer._replace(label=_direction(name)) if counted else None
    if answer.kind not in SCALARS or (symbols(value) and any(name.startswith("of:") for name, _ in found.dims)):
        return None  # "a man" is no multiple of a
    if spelled.strip() == "'":
        answer = answer._replace(label="'")
    return answer._replace(unit=None if found == NONE else found, kind=answer.kind if found == NONE else "quantity")


_UP = frozenset(["increase", "rise", "gain", "profit", "growth", "more", "increased", "higher"])
_DOWN = frozenset(
    ["decrease", "decline", "drop", "loss", "reduction", "discount", "less", "decreased", "lower", "fall"]
)


def _direction(name: str) -> str | None:
    """Up or down, where a percentage says it."""
    said = set(name.casefold().split())
    return "up" if said & _UP else "down" if said & _DOWN else None


def _spell(token: Token) -> str:
    return (
        {"cdot": "*", "times": "*", "circ": ""}.get(token.value, token.value)
        if token.type in ("op", "cmd")
        else str(token.value)
    )
