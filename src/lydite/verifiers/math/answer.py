"""What an answer is: one of about twenty kinds, read from its text once.

Kinds: ``integer``, ``rational``, ``decimal``, ``percent``, ``quantity`` (with a unit: money, angles, lengths ...), ``base``,
``expression``, ``tuple`` (points and intervals), ``set``, ``matrix``, ``list``, ``sequence`` (with dots), ``assign`` (``x = 5``),
``equation``, ``relation`` (inequalities), ``ratio``, ``time``, ``date``, ``mod``, ``choice``, ``text``, ``false`` (contradicts itself),
``big`` (too large to look at), ``none``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from lydite.verifiers.math import words
from lydite.verifiers.math.nodes import Node, NotMathError, TooBigError, num, symbols
from lydite.verifiers.math.normalise import normalise, trim
from lydite.verifiers.math.parse import parse
from lydite.verifiers.math.scalars import equal
from lydite.verifiers.math.tokens import Token, number, tokenize
from lydite.verifiers.math.units import CURRENCIES, DEGREE, NONE, Unit, currency, parse_unit

MAX_CHARS = 4000


class Answer(NamedTuple):
    """An answer that was read.

    Attributes:
        kind: see the module.
        raw: its text without white space and dressing, for identity.
        node: its tree, for kinds that have one.
        unit: its unit; ``None`` when none was stated.
        items: parts of a list; the right side of an assignment; the text behind a choice's letter.
        label: what an assignment assigns to: a Node, or words.
        data: (operators, operands) of a relation; how a list is joined; what a time, date, ratio, choice or text holds.
        hedged: says more than one thing.
    """

    kind: str
    raw: str
    node: Node | None = None
    unit: Unit | None = None
    items: tuple[Answer, ...] = ()
    label: Any = None
    data: Any = None
    hedged: bool = False


SCALARS = frozenset(["integer", "rational", "decimal", "percent", "quantity", "base", "expression"])
_FAST = re.compile(
    r"(-)?(\\?\$)?\s?(-)?(\d{1,15}|\d{1,3}(?:,\d{3}){1,6})(\.\d{1,15})?(?:/(\d{1,15}))?(\s?\\?%)?|(-)?\\[dt]?frac\s?\{(-?\d{1,15})\}\s?\{(\d{1,15})\}"
)
_SPACE = re.compile(r"\s+|\\(?:left|right|displaystyle|,|;|!|quad|qquad)(?![A-Za-z])\s*|~")
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|between|either|unless|except|otherwise|any (?:other )?(?:value|number|of)|could be|might|not sure"
    r"|somewhere|something|not)\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"[(\[]?([A-Z])[)\].]?")
_CHOSEN = re.compile(r"(?:[(\[]([A-J])[)\]][.:]?|([A-J])[).:])\s*(?=\S)")
_UNWRAP = re.compile(r"\\(?:text[a-z]{0,6}|math(?:rm|bf|it|sf|tt)|mbox|bf|rm|operatorname)\b\s?|\\[ ,;!]|[{}$~*]")
_RELATIONS = {"=": "=", "<": "<", ">": ">", "le": "<=", "ge": ">=", "<=": "<=", ">=": ">=", "ne": "!=", "!=": "!=", "approx": "~",
              "equiv": "==", "in": "in", "Rightarrow": "=>", "to": "=>", "=>": "=>", "->": "=>", "Leftrightarrow": "=>", "cong": "~"}  # fmt: skip
_OPEN = frozenset(["(", "[", "{", "langle", "lfloor", "lceil"])
_CLOSE = frozenset([")", "]", "}", "rangle", "rfloor", "rceil"])


@lru_cache(maxsize=8192)
def read(text: str, thousands: bool = True) -> Answer:
    """The answer that a text states. Never raises; a text that says nothing is of kind ``none``.

    Args:
        text: an answer, as extracted.
        thousands: whether ``1,250`` is one number (else a list of two).
    """
    if thousands:
        fast = _FAST.fullmatch(text)
        if fast is not None:
            return _plain_number(text, fast)
    if len(text) > MAX_CHARS:
        return Answer("big", "")
    clean = trim(normalise(text))
    if thousands:
        fast = _FAST.fullmatch(clean)
        if fast is not None:
            return _plain_number(clean, fast)
    raw = _SPACE.sub("", clean)
    if not any(char.isalnum() or char == "\\" for char in raw) and raw not in ("{}",):
        return Answer("none", raw)
    try:
        return _read(clean, raw, thousands)
    except TooBigError:
        return Answer("big", raw)
    except NotMathError:
        return _text(clean, raw)
    except RecursionError:
        return Answer("big", raw)


def _plain_number(text: str, match: re.Match[str]) -> Answer:
    minus, sign, inner, whole, point, below, percent, minus_frac, top, bottom = match.groups()
    if top is not None:
        if int(bottom) == 0:
            return Answer("false", text)
        value = Fraction(int(top), int(bottom))
        return Answer("rational", text, num(-value if minus_frac else value))
    value = Fraction(whole.replace(",", "") + (point or ""))
    kind = "decimal" if point else "integer"
    if below is not None:
        if int(below) == 0:
            return Answer("false", text)
        value, kind = value / int(below), "rational"
    if minus or inner:
        value = -value
    if percent:
        return Answer("percent", text, num(value))
    if sign:
        return Answer("quantity", text, num(value), currency("$"))
    return Answer(kind, text, num(value))


def _read(clean: str, raw: str, thousands: bool) -> Answer:
    plain = (
        " ".join(_UNWRAP.sub(" " if "~" in clean else "", clean).split())
        if "\\" in clean or "{" in clean or "$" in clean
        else clean
    )
    plain = plain.strip(" .,")
    single = _CHOICE.fullmatch(plain)
    if single is not None:
        return Answer("choice", raw, Node("sym", (single.group(1),)), data=single.group(1))
    chosen = _CHOSEN.match(plain)
    if chosen is not None and not plain[chosen.end() :].startswith(("=", "-", "+", "/", "^")):
        rest = clean[clean.index(chosen.group(1) or chosen.group(2)) + 1 :].lstrip("}) ].:")
        return Answer(
            "choice",
            raw,
            None,
            items=(read(rest.strip()),) if rest.strip() else (),
            data=chosen.group(1) or chosen.group(2),
        )
    wordy = (
        any(len(word) > 2 and word.isalpha() for word in re.split(r"[\s\-]+", plain))
        if " " in plain or plain.isalpha() or "-" in plain
        else False
    )
    if ":" in plain or plain[-1:] in "mM.":
        time = words.clock(plain)
        if time is not None:
            return Answer("time", raw, data=time)
    if wordy or plain.count("-") == 2:
        day = words.date(plain)
        if day is not None:
            return Answer("date", raw, data=day)
        if len(plain) < 200 and not any(char.isdigit() for char in plain):
            value = words.number_words(re.split(r"[\s\-]+", plain.casefold().replace(",", "")))
            if value is not None:
                return Answer("integer" if value.denominator == 1 else "rational", raw, num(value))
        phrase = words.fold(clean)
        if phrase in (words.NO_SOLUTION, words.ALL_REALS):
            return Answer("set", raw, Node("set") if phrase == words.NO_SOLUTION else Node("named", ("R",)))
        if _HEDGE.search(plain):
            return Answer("text", raw, data=phrase, hedged=True)
    answer = _tokens(tokenize(clean, thousands), raw)
    return _text(clean, raw) if answer is None else answer


def _text(clean: str, raw: str) -> Answer:
    folded = words.fold(clean)
    return Answer("text", raw, data=folded) if folded else Answer("none", raw)


def _depths(tokens: list[Token]) -> Iterator[tuple[int, Token, int]]:
    depth = 0
    for index, token in enumerate(tokens):
        if token.type in ("op", "cmd") and token.value in _CLOSE:
            depth -= 1
        elif token.type == "env" and not token.value[0]:
            depth -= 1
        yield index, token, depth
        if token.type in ("op", "cmd") and token.value in _OPEN:
            depth += 1
        elif token.type == "env" and token.value[0]:
            depth += 1


def _dress(tokens: list[Token]) -> list[Token]:
    """Without dollar signs that delimit mathematics and without closing punctuation."""
    kept = [
        token
        for index, token in enumerate(tokens)
        if not (token.value == "$" and token.type == "op" and not _money(tokens, index))
    ]
    while kept and kept[-1].type == "op" and kept[-1].value in (".", ",", ";", ":", "?"):
        kept.pop()
    return kept


def _money(tokens: list[Token], index: int) -> bool:
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return (
        following is not None
        and (following.type == "num" or following.value == "-")
        and (index == 0 or tokens[index - 1].type != "num")
    )


def _tokens(tokens: list[Token], raw: str) -> Answer | None:
    tokens = _dress(tokens)
    if not tokens:
        return None
    segments: list[list[Token]] = [[]]
    joined = ""
    for _, token, depth in _depths(tokens):
        word = token.value if token.type == "word" and token.value in ("and", "or") else ""
        if depth == 0 and (word or (token.type == "op" and token.value in (",", ";"))):
            joined = word or joined or ","
            if segments[-1]:
                segments.append([])
        else:
            segments[-1].append(token)
    segments = [segment for segment in segments if segment]
    if len(segments) == 1:
        return _segment(segments[0], raw)
    items = tuple(_segment(segment, "") for segment in segments)
    if any(item is None for item in items):
        return None
    answers = tuple(item for item in items if item is not None)
    dotted = any(item.node is not None and item.node.op == "dots" for item in answers)
    return Answer("sequence" if dotted else "list", raw, items=answers, data=joined)


def _segment(tokens: list[Token], raw: str) -> Answer | None:
    parts: list[list[Token]] = [[]]
    operators: list[str] = []
    for _, token, depth in _depths(tokens):
        if depth == 0 and token.type in ("op", "cmd") and token.value in _RELATIONS:
            operators.append(_RELATIONS[token.value])
            parts.append([])
        else:
            parts[-1].append(token)
    if not operators:
        return _term(tokens, raw)
    if not parts[0] and operators[0] in ("~", "=") and len(parts) == 2:
        return _term(parts[1], raw)  # "= 5", "about 5"
    if any(not part for part in parts) or "=>" in operators:
        return Answer("false", raw)
    if set(operators) <= {"=", "~"}:
        return _equation(parts, operators, raw)
    if operators in (["in"], ["=="]):
        right = _term(parts[1], raw)
        return (
            None if right is None else Answer("assign", raw, items=(right,), label=_label(parts[0]), data=operators[0])
        )
    nodes = tuple(parse(part) for part in parts)
    return Answer("relation", raw, data=(tuple(operators), nodes))


def _label(tokens: list[Token]) -> Node | str | None:
    """What may stand left of a value: a symbol, a point of symbols, f(x), or words."""
    if any(token.type == "word" for token in tokens):
        return " ".join(str(token.value[1] if token.type == "num" else token.value) for token in tokens).casefold()
    node = parse(tokens)
    if node.op == "sym":
        return node
    if node.op == "tuple" and all(item.op == "sym" for item in node.args[2]):
        return node
    if node.op == "call" and node.args[0] not in ("abs", "binom") and all(item.op == "sym" for item in node.args[1]):
        return node
    if node.op == "mul" and node.args[0].op == "sym" and tokens[1:2] and tokens[1].value == "(":
        return node if node.args[1].op in ("sym", "num", "tuple") else None
    return None


def _equation(parts: list[list[Token]], operators: list[str], raw: str) -> Answer | None:
    label = _label(parts[0])
    rest = parts[1:]
    if label is None and len(parts) == 2:
        label = _label(parts[1])
        rest = parts[:1] if label is not None else rest
    terms = [_term(part, raw) for part in (rest if label is not None else parts)]
    if any(term is None for term in terms):
        return None
    values = [term for term in terms if term is not None]
    if label is not None and len(values) == 1:
        return Answer("assign", raw, values[0].node, values[0].unit, (values[0],), label, "=")
    if len(operators) == len(values) and label is not None:
        operators = operators[1:]
    exact = values[0]
    for operator, before, value in zip(operators, values, values[1:], strict=False):
        if operator == "~":
            continue
        if before.node is None or value.node is None:
            return Answer("false", raw)
        if not equal(before.node, value.node):
            free = symbols(before.node) | symbols(value.node)
            if label is None and len(values) == 2 and free:
                return Answer("equation", raw, Node("add", (before.node, Node("neg", (value.node,)))))
            return Answer("false", raw)
        exact = value
    if label is None:
        return exact._replace(raw=raw)
    return Answer("assign", raw, exact.node, exact.unit, (exact,), label, "=")


def _term(tokens: list[Token], raw: str) -> Answer | None:
    """A value without relations: perhaps with a currency before it or a unit behind it."""
    tokens = [
        token
        for token in tokens
        if not (token.type == "op" and token.value in ("$", "?") and not _leading(tokens, token))
    ]
    if not tokens:
        return None
    builder = _set_builder(tokens, raw)
    if builder is not None:
        return builder
    unit, tokens = _prefix_currency(tokens)
    colons = [index for index, token, depth in _depths(tokens) if depth == 0 and _is_ratio_sign(token, index)]
    if colons:
        pieces = _pieces(tokens, colons)
        return Answer("ratio", raw, data=tuple(parse(piece) for piece in pieces))
    at = next((index for index, token, depth in _depths(tokens) if token.type == "word" and depth == 0), None)
    if at is None:
        return _node(parse(tokens), raw, unit)
    if at == 0:
        return None
    return _quantity(tokens, at, raw, unit)


def _leading(tokens: list[Token], token: Token) -> bool:
    index = next(index for index, other in enumerate(tokens) if other is token)
    return _money(tokens, index)


def _is_ratio_sign(token: Token, index: int) -> bool:
    return index > 0 and ((token.type == "op" and token.value == ":") or (token.type == "word" and token.value == "to"))


def _pieces(tokens: list[Token], at: list[int]) -> list[list[Token]]:
    edges = [-1, *at, len(tokens)]
    return [tokens[a + 1 : b] for a, b in zip(edges, edges[1:], strict=False)]


def _set_builder(tokens: list[Token], raw: str) -> Answer | None:
    if not (tokens[0].type == "cmd" and tokens[0].value == "{" and tokens[-1].value == "}"):
        return None
    for index, token, depth in _depths(tokens):
        if depth == 1 and token.type == "op" and token.value in ("|", ":") and index > 1:
            return _tokens(tokens[index + 1 : -1], raw)
    return None


def _prefix_currency(tokens: list[Token]) -> tuple[Unit | None, list[Token]]:
    sign = 1 if tokens[0].value == "-" and len(tokens) > 1 else 0
    first = tokens[sign]
    if first.type == "op" and first.value in CURRENCIES:
        return currency(first.value), [*tokens[:sign], *tokens[sign + 1 :]]
    if first.type == "word" and len(tokens) > sign + 1:
        after = sign + 1 + (tokens[sign + 1].value == ".")
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


def _node(node: Node, raw: str, unit: Unit | None = None) -> Answer:
    op = node.op
    if op == "percent":
        return Answer("percent", raw, node.args[0])
    if op == "neg" and node.args[0].op == "percent":
        return Answer("percent", raw, Node("neg", node.args[0].args))
    if op == "degree" or (op == "neg" and node.args[0].op == "degree"):
        inner = node.args[0] if op == "degree" else Node("neg", node.args[0].args)
        return Answer("quantity", raw, inner, DEGREE)
    if op in ("mod", "rem"):
        return Answer("mod", raw, node.args[0], data=node.args[1])
    kind = {"tuple": "tuple", "set": "set", "named": "set", "cup": "set", "cap": "set", "minus": "set", "matrix": "matrix", "base": "base",
            "dots": "sequence"}.get(op)  # fmt: skip
    if op == "list":
        return Answer("list", raw, items=tuple(_node(item, "") for item in node.args), data=",")
    if kind is None:
        if op == "num":
            kind = "integer" if node.args[0].denominator == 1 else "rational"
        else:
            kind = "expression"
        if unit is not None:
            kind = "quantity"
    return Answer(kind, raw, node, unit)


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
            ratio = num(this.unit.factor / total.unit.factor)
            this = total._replace(node=Node("add", (total.node, Node("mul", (this.node, ratio)))))
        total = this
        if end >= len(tokens):
            return total
        at = next((index for index in range(end, len(tokens)) if tokens[index].type == "word"), -1)
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
    name = spelled.strip(" .")
    if name.casefold() in ("percent", "per cent", "pct", "percentage"):
        return Answer("percent", raw, value)
    found = parse_unit(name)
    if found is None or any(
        token.type == "sym" and not token.text for token in tail[1:] if tail[0].value != "per" and "/" not in name
    ):
        return None
    if unit is not None and (
        not found.dims or found.dims == unit.dims or all(dim[0].startswith("of:") for dim in found.dims)
    ):
        found = unit
    answer = _node(value, raw)
    if answer.kind not in SCALARS:
        return None
    return answer._replace(unit=None if found == NONE else found, kind=answer.kind if found == NONE else "quantity")


def _spell(token: Token) -> str:
    return (
        {"cdot": "*", "times": "*", "circ": ""}.get(token.value, token.value)
        if token.type in ("op", "cmd")
        else str(token.value)
    )


def literal(text: str) -> Fraction | None:
    """A plain number's value, for configuration fields."""
    try:
        return number(text)
    except (ValueError, TooBigError):
        return None
