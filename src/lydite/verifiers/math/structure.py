"""The outer structure of an answer: lists, relations, labels."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from lydite.verifiers.math import sets
from lydite.verifiers.math.answer import SCALARS, Answer, Rules
from lydite.verifiers.math.measures import measured, scalars_agree
from lydite.verifiers.math.nodes import Node, NotMathError, num, symbols
from lydite.verifiers.math.parse import parse
from lydite.verifiers.math.quantities import depths, of_node, term
from lydite.verifiers.math.scalars import equal
from lydite.verifiers.math.tokens import Token
from lydite.verifiers.math.units import CURRENCIES, agree, parse_unit
from lydite.verifiers.math.words import number_words

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
    items = tuple(_spoken(segment) or _segment(segment, "") for segment in segments)
    if any(item is None for item in items):
        return None
    answers = tuple(item for item in items if item is not None)
    compound = _compound(answers) if joined == "and" else None
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
            None if right is None else Answer("assign", raw, items=(right,), label=_label(parts[0]), data=operators[0])
        )
    nodes = tuple(parse(part) for part in parts)
    return Answer("relation", raw, data=(tuple(operators), nodes))


_GEOMETRY = frozenset(
    ["angle", "measuredangle", "triangle", "overline", "vec", "overrightarrow", "widehat", "hat", "odot"]
)


def _label(tokens: list[Token]) -> Node | str | None:
    """What may stand left of a value: a symbol, a point of symbols, f(x), a side AB or angle, or words."""
    currency = any(token.type == "op" and token.value in CURRENCIES for token in tokens)
    if (currency or any(token.type == "word" for token in tokens)) and _is_value(tokens):
        return None  # "3 kg" is no name
    if _spoken(tokens) is not None:
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


_NAMING = frozenset(
    ["Pr", "mathbb", "lim", "int", "iint", "oint", "sum", "prod", "min", "max", "bar", "tilde", "nabla"]
)


def _is_named(tokens: list[Token]) -> bool:
    """Whether what stands left of a value is a limit, an integral, a probability such as P(X = 3)."""
    first = tokens[0]
    event = first.type == "sym" and first.value in ("P", "E", "N") and len(tokens) > 2 and tokens[1].value in ("(", "[")
    return event or (first.type == "cmd" and first.value in _NAMING)


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


def _equation(parts: list[list[Token]], operators: list[str], raw: str) -> Answer | None:
    label = _label(parts[0])
    rest = parts[1:]
    if label is None and len(parts) == 2:
        label = _label(parts[1])
        rest = parts[:1] if label is not None else rest
    terms = [_spoken(part) or term(part, raw) for part in (rest if label is not None else parts)]
    if any(term is None for term in terms):
        return None
    values = [term for term in terms if term is not None]
    if label is not None and len(values) == 1:
        return Answer("assign", raw, values[0].node, values[0].unit, (values[0],), label, "=")
    if len(operators) == len(values) and label is not None:
        operators = operators[1:]
    sides = parts[-len(values) :]
    exact = _chain(values, operators, [_is_worked(side) for side in sides], raw)
    if exact is None:
        free = any(symbols(value.node) for value in values)
        if label is None and len(values) == 2 and free and values[0].node is not None and values[1].node is not None:
            difference = Node("add", (values[0].node, Node("neg", (values[1].node,))))
            return Answer("equation", raw, difference, items=_stated(*values))
        return Answer("false", raw)
    if exact.kind == "false" and len(values) == 2 and (rate := _rate(*values)) is not None:
        return Answer("assign", raw, rate.node, rate.unit, (rate,), "one", "=")
    if label is None or exact.kind == "false":
        return exact._replace(raw=raw)
    return Answer("assign", raw, exact.node, exact.unit, (exact,), label, "=")


def _stated(left: Answer, right: Answer) -> tuple[Answer, ...]:
    """The value in m + n = 42, which says what a sum of unknowns is; in x + y = 42 it is a part of an equation."""
    names = symbols(left.node)
    if len(names) > 1 and not names <= {"x", "y", "z"} and right.kind in SCALARS and not symbols(right.node):
        return (right,)
    return ()


def _rate(left: Answer, right: Answer) -> Answer | None:
    """The price in 1 book = $5: how much of something else there is to one of a thing."""
    one = left.node == num(1) and left.unit is not None and left.unit.dims
    other = right.unit is not None and right.unit.dims and agree(left.unit, right.unit) is None
    return right if one and other else None


def _chain(values: list[Answer], operators: list[str], worked: list[bool], raw: str) -> Answer | None:
    """The last of values that are all the same; ``None`` where they are not, or where symbols keep it open.

    A side in another unit (2500 g = 2.5 kg) is kept in ``items``: the chain says both.
    """
    plain = [measured(value) for value in values]
    if (
        any(value.unit is not None or value.kind == "percent" for value in plain)
        and all(value.kind in SCALARS and value.node is not None and not symbols(value.node) for value in plain)
        and (any(value.unit is not None for value in values) or _links(plain, operators, worked) is not None)
    ):
        last = _links(plain, operators, worked)
        if last is None:
            return Answer("false", raw)
        others = tuple(
            value for value, work in zip(plain, worked, strict=True) if value.unit != plain[last].unit and not work
        )
        return plain[last]._replace(items=others)
    exact = values[0]
    for operator, before, value in zip(operators, values, values[1:], strict=False):
        if operator == "~":
            if before.node is None or value.node is None or not _near(before.node, value.node):
                return None
            continue
        if before.node is None or value.node is None or not equal(before.node, value.node):
            return None
        exact = value
    return exact


def _near(x: Node, y: Node) -> bool:
    """Whether numbers are roughly the same; what has symbols is taken on trust."""
    if symbols(x) or symbols(y):
        return True
    whole = x.op == y.op == "num" and x.args[0].denominator == y.args[0].denominator == 1  # 9 ~ 10 is a range
    return equal(x, y, None if whole else _ROUNDED)


def _links(plain: list[Answer], operators: list[str], worked: list[bool]) -> int | None:
    """Which value a chain of values with units ends in; ``None`` where two neighbours differ."""
    last = 0
    for index, operator in enumerate(operators):
        before, value = plain[index], plain[index + 1]
        same = scalars_agree(before, value, _EXACT) or (worked[index] and scalars_agree(before, value, _BARE))
        if same:
            last = index + 1
        elif operator != "~" or not scalars_agree(before, value, _ROUGH):
            return None
    return last


_EXACT = Rules()
_BARE = Rules(units="ignore")  # 2500 g / 1000 = 2.5 kg: the working is right, its unit is loose
_ROUGH = Rules(tolerance=Fraction(1, 4))
_ROUNDED = Fraction(1, 20)


def _is_value(tokens: list[Token]) -> bool:
    """Whether words among tokens are only the unit of a number."""
    try:
        value = term(tokens, "")
    except NotMathError:
        return False
    return value is not None and value.kind in SCALARS and value.node is not None and not symbols(value.node)


def _spoken(tokens: list[Token]) -> Answer | None:
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


def _is_worked(tokens: list[Token]) -> bool:
    """Whether a side goes on to reckon behind a unit: 2500 g / 1000."""
    unit = False
    for token, following in pairwise(tokens):
        unit = unit or token.type in ("word", "sym")
        if unit and token.value in ("+", "-", "*", "/", "times", "cdot", "div") and following.type == "num":
            return True
    return False


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
