"""The outer structure of an answer: lists, relations, labels."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from lydite.verifiers.math import sets
from lydite.verifiers.math.answer import Answer
from lydite.verifiers.math.chains import chain, is_worked, rate_of, stated
from lydite.verifiers.math.exact import rational
from lydite.verifiers.math.labels import label_of, spoken
from lydite.verifiers.math.nodes import Node, num, substitute, symbols
from lydite.verifiers.math.parse import parse
from lydite.verifiers.math.quantities import depths, term
from lydite.verifiers.math.tokens import Token

_SEPARATORS = frozenset([",", ";", "and", "or"])
_RELATIONS = {
    "=": "=", "<": "<", ">": ">", "le": "<=", "ge": ">=", "<=": "<=", ">=": ">=", "ne": "!=", "!=": "!=",
    "approx": "~", "equiv": "==", "in": "in", "Rightarrow": "=>", "to": "=>", "=>": "=>", "->": "=>",
    "Leftrightarrow": "=>", "cong": "~", ":=": "=",
}  # fmt: skip


def _dress(tokens: list[Token]) -> list[Token]:
    """Without dollar signs that delimit mathematics and without closing punctuation."""
    kept = [
        token for index, token in enumerate(tokens) if token.type != "op" or token.value != "$" or _money(tokens, index)
    ]
    while kept and kept[-1].type == "op" and kept[-1].value in (".", ",", ";", ":"):
        kept.pop()
    return kept


def _money(tokens: list[Token], index: int) -> bool:
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return (
        following is not None
        and (following.type == "num" or following.value == "-")
        and (index == 0 or tokens[index - 1].type != "num")
    )


def structure(tokens: list[Token], raw: str) -> Answer | None:
    """The answer of a text's tokens; ``None`` where they are words.

    Raises:
        NotMathError: neither.
        TooBigError: too large to look at.
    """
    tokens = _dress(tokens)
    if not tokens:
        return None
    for token in tokens:
        if token.type in ("op", "word") and token.value in _SEPARATORS:
            break
    else:
        return _set_builder(tokens, raw) or _segment(tokens, raw)
    segments: list[list[Token]] = [[]]
    joined = ""
    for _, token, depth in depths(tokens):
        word = token.value if token.type == "word" and token.value in ("and", "or") else ""
        if depth == 0 and (word or (token.type == "op" and token.value in (",", ";"))):
            joined = word or joined or ","
            if segments[-1]:
                segments.append([])
        else:
            segments[-1].append(token)
    segments = [segment for segment in segments if segment]
    if not segments:
        return None
    if len(segments) == 1:
        return _set_builder(segments[0], raw) or _segment(segments[0], raw)
    items = tuple(spoken(segment) or _segment(segment, "") for segment in segments)
    if any(item is None for item in items):
        return None
    answers = tuple(item for item in items if item is not None)
    compound = _compound(answers) if joined == "and" else _residue_class(answers) if len(answers) == 2 else None
    if compound is not None:
        return compound._replace(raw=raw)
    dotted = any(item.node is not None and item.node.op == "dots" for item in answers)
    return Answer("sequence" if dotted else "list", raw, items=answers, data=joined)


def _compound(parts: tuple[Answer, ...]) -> Answer | None:
    """One hour and 30 minutes: amounts in ever smaller units, each less than one of the unit before."""
    total = Fraction(0)
    for before, part in pairwise((None, *parts)):
        if part is None or part.unit is None or part.node is None or part.node.op != "num" or not part.unit.dims:
            return None
        if before is not None and before.unit is not None:
            step = before.unit.factor / part.unit.factor
            if before.unit.dims != part.unit.dims or step <= 1 or not 0 <= part.node.args[0] < step:
                return None
        total += part.node.args[0] * part.unit.factor
    first = parts[0].unit
    return None if first is None else parts[0]._replace(node=num(total / first.factor))


def _residue_class(parts: tuple[Answer, ...]) -> Answer | None:
    r"""7k + 3, k \in \mathbb{Z}: the numbers that leave 3 when divided by 7."""
    terms, ring = parts
    node = terms.node
    if ring.kind != "assign" or ring.data != "in" or ring.items[0].node != Node("named", ("Z",)) or node is None:
        return None
    name = ring.label.args[0] if isinstance(ring.label, Node) and ring.label.op == "sym" else ""
    if terms.kind not in ("assign", "expression") or symbols(node) != {name}:
        return None
    values = [rational(substitute(node, name, num(value))) for value in range(3)]
    if any(value is None or value.denominator != 1 for value in values):
        return None
    start, second, third = (int(value) for value in values if value is not None)
    step = second - start
    if third - second != step or abs(step) < 2:
        return None
    residue = Answer("mod", "", num(start % abs(step)), label="mod", data=num(abs(step)))
    return Answer("assign", "", items=(residue,), label=terms.label, data="==") if terms.kind == "assign" else residue


def _segment(tokens: list[Token], raw: str) -> Answer | None:
    for token in tokens:
        if token.type in ("op", "cmd") and token.value in _RELATIONS:
            break
    else:
        return term(tokens, raw)
    parts: list[list[Token]] = [[]]
    operators: list[str] = []
    for _, token, depth in depths(tokens):
        if depth == 0 and token.type in ("op", "cmd") and token.value in _RELATIONS:
            operators.append(_RELATIONS[token.value])
            parts.append([])
        else:
            parts[-1].append(token)
    if not operators:
        return term(tokens, raw)
    if not parts[0] and operators[0] in ("~", "=", "==", "=>") and len(parts) == 2:
        return term(parts[1], raw)  # "= 5", "about 5"
    if any(not part for part in parts) or "=>" in operators:
        return Answer("false", raw)
    if set(operators) <= {"=", "~"}:
        return _equation(parts, operators, raw)
    if operators in (["in"], ["=="]):
        right = term(parts[1], raw)
        return (
            None
            if right is None
            else Answer("assign", raw, items=(right,), label=label_of(parts[0]), data=operators[0])
        )
    nodes = tuple(parse(part) for part in parts)
    return Answer("relation", raw, data=(tuple(operators), nodes))


def _equation(parts: list[list[Token]], operators: list[str], raw: str) -> Answer | None:
    label = label_of(parts[0])
    rest = parts[1:]
    if label is None and len(parts) == 2:
        label = label_of(parts[1])
        rest = parts[:1] if label is not None else rest
    terms = [spoken(part) or term(part, raw) for part in (rest if label is not None else parts)]
    if any(term is None for term in terms):
        return None
    values = [term for term in terms if term is not None]
    if label is not None and len(values) == 1:
        return Answer("assign", raw, values[0].node, values[0].unit, (values[0],), label, "=")
    if len(operators) == len(values) and label is not None:
        operators = operators[1:]
    sides = parts[-len(values) :]
    exact = chain(values, operators, [is_worked(side) for side in sides], raw)
    if exact is None:
        free = any(symbols(value.node) for value in values)
        if label is None and len(values) == 2 and free and values[0].node is not None and values[1].node is not None:
            difference = Node("add", (values[0].node, Node("neg", (values[1].node,))))
            return Answer("equation", raw, difference, items=stated(*values))
        return Answer("false", raw)
    if exact.kind == "false" and len(values) == 2 and (rate := rate_of(*values)) is not None:
        return Answer("assign", raw, rate.node, rate.unit, (rate,), "one", "=")
    if label is None or exact.kind == "false":
        return exact._replace(raw=raw)
    return Answer("assign", raw, exact.node, exact.unit, (exact,), label, "=")


def _set_builder(tokens: list[Token], raw: str) -> Answer | None:
    r"""``\{x : x > 3\}`` says what its condition says; ``\{2k : k \in \mathbb{Z}\}`` is compared by its parts."""
    if not (tokens[0].type == "cmd" and tokens[0].value == "{" and tokens[-1].value == "}"):
        return None
    at = next(
        (index for index, token, depth in depths(tokens)
         if depth == 1 and token.type == "op" and token.value in ("|", ":") and index > 1),
        None,
    )  # fmt: skip
    if at is None:
        return None
    member, condition = structure(tokens[1:at], ""), structure(tokens[at + 1 : -1], "")
    if member is None or condition is None:
        return None
    node = member.label if member.kind == "assign" and member.data == "in" else member.node
    if isinstance(node, Node) and node.op == "sym":
        ring = member.node or (member.items[0].node if member.items else None)
        if member.kind != "assign" or ring == Node("named", ("R",)):
            return condition._replace(raw=raw)
        whole = sets.whole_numbers(condition) if ring in (Node("named", ("Z",)), Node("named", ("N",))) else None
        if whole is not None and not (ring == Node("named", ("N",)) and min(whole, default=1) < 1):
            return Answer("set", raw, Node("set", tuple(num(value) for value in whole)))
    return Answer("builder", raw, items=(member, condition))
