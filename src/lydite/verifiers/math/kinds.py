"""What people call the kind of an answer, and its value in plain characters."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from lydite.verifiers.math.answer import Answer
from lydite.verifiers.math.nodes import Node, num, symbols
from lydite.verifiers.math.units import DEGREE, Unit

MAX_SHOWN = 200
"""Characters of a value that are shown."""

_REPEATING = re.compile(r"[-+]?\d*\.\d*(?:\\(?:overline|bar|dot)|\(\d+\)|\d*\.\.\.|\d*\\[lc]?dots)")
_DECIMAL = re.compile(r"[-+]?[\d,{}\\!]*\.\d+")
_MONEY = frozenset(["$", "€", "£", "rupee", "yen", "yuan", "won", "peso"])
_NAMES = {
    "base": "base-n", "mod": "congruence", "relation": "inequality", "choice": "choice letter",
    "false": "contradiction", "big": "too large",
}  # fmt: skip


def kind_name(answer: Answer) -> str:
    """The kind of an answer: ``integer``, ``rational``, ``decimal``, ``repeating decimal``, ``number word``,
    ``percent``, ``money``, ``quantity``, ``angle``, ``time``, ``date``, ``base-n``, ``complex``, ``expression``,
    ``function``, ``tuple``, ``list``, ``sequence``, ``set``, ``interval``, ``union``, ``matrix``, ``inequality``,
    ``equation``, ``congruence``, ``ratio``, ``text``, ``choice letter``, ``contradiction``, ``too large``, ``none``.

    A tuple with round brackets may be an open interval; it is called a tuple. An assignment (x = 5) is called what its
    value is.
    """
    kind, node = answer.kind, answer.node
    if kind == "assign":
        return _assigned(answer)
    if kind in ("integer", "rational", "decimal", "expression"):
        return _number(answer)
    if kind == "quantity":
        return _measured(answer.unit)
    if kind == "tuple" and node is not None:
        return (
            "interval" if len(node.args[2]) == 2 and "[" in node.args[0] + node.args[1].replace("]", "[") else "tuple"
        )
    if kind == "set" and node is not None and node.op in ("cup", "cap", "minus"):
        return "union"
    return _NAMES.get(kind, kind)


def _assigned(answer: Answer) -> str:
    if answer.data == "==":
        return "congruence"
    value = answer.items[0]
    if answer.data == "=" and isinstance(answer.label, Node) and answer.label.op in ("call", "mul"):
        return "function"
    if answer.data == "=" and value.node is not None and symbols(value.node):
        return "equation"
    return kind_name(value)


def _number(answer: Answer) -> str:
    node = answer.node
    if node is None or node.op not in ("num", "neg"):
        return "complex" if node is not None and _has_i(node) else answer.kind
    if _REPEATING.match(answer.raw):
        return "repeating decimal"
    if answer.kind == "decimal" or _DECIMAL.fullmatch(answer.raw):
        return "decimal"
    if answer.raw[:1].isalpha() and not any(char.isdigit() for char in answer.raw):
        return "number word"
    return answer.kind


def _has_i(node: Node) -> bool:
    stack: list[Any] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, Node) and item.op == "const" and item.args[0] == "i":
            return True
        if isinstance(item, tuple):
            stack.extend(item)
    return False


def _measured(unit: Unit | None) -> str:
    if unit is None:
        return "quantity"
    names = {name for name, _ in unit.dims}
    return "angle" if names in ({"angle"}, {"radian"}) else "money" if names and names <= _MONEY else "quantity"


def show(answer: Answer) -> str:
    """The value of an answer, as it was understood; cut at ``MAX_SHOWN`` characters."""
    told = _told(answer)
    return told if len(told) <= MAX_SHOWN else told[: MAX_SHOWN - 3] + "..."


def _told(answer: Answer) -> str:
    if answer.kind == "assign":
        label = answer.label if isinstance(answer.label, str) else _tree(answer.label) if answer.label else "it"
        return f"{label} {answer.data} {_told(answer.items[0])}"
    if answer.kind in ("list", "sequence"):
        return f" {answer.data} ".replace(" , ", ", ").join(_told(item) for item in answer.items)
    if answer.kind == "relation":
        operators, nodes = answer.data
        pieces = [_tree(nodes[0])]
        for operator, node in zip(operators, nodes[1:], strict=True):
            pieces += [operator, _tree(node)]
        return " ".join(pieces)
    if answer.kind == "ratio":
        return " : ".join(_tree(node) for node in answer.data)
    if answer.kind == "time":
        hour, minute, second, half = answer.data
        return f"{hour}:{minute:02}" + (f":{second:02}" if second else "") + ("" if half else " (am or pm)")
    if answer.kind == "date":
        return " ".join(
            f"{name} {part}" for name, part in zip(("year", "month", "day"), answer.data, strict=True) if part
        )
    if answer.kind == "mod" and answer.node is not None:
        return f"{_tree(answer.node)} mod {_tree(answer.data)}"
    if answer.kind in ("text", "choice"):
        return str(answer.data)
    if answer.node is None:
        return answer.raw
    value = _tree(answer.node) + ("%" if answer.kind == "percent" else " = 0" if answer.kind == "equation" else "")
    return value if answer.unit is None else f"{value} {_unit(answer.unit)}"


def _unit(unit: Unit) -> str:
    if unit == DEGREE:
        return "degrees"
    factor = "" if unit.factor == 1 else f"times {_fraction(unit.factor)} "
    return factor + " ".join(
        name.removeprefix("of:") + ("" if power == 1 else f"^{power}") for name, power in unit.dims
    )


def _fraction(value: Fraction) -> str:
    if value.numerator.bit_length() + value.denominator.bit_length() > 600:
        return f"(a number of about {value.numerator.bit_length() * 3 // 10} digits)"
    return str(value)


_SIGNS = {"add": " + ", "mul": " * ", "div": " / ", "pow": "^", "cup": " union ", "cap": " and ", "minus": " without ",
          "rem": " mod ", "mod": " mod "}  # fmt: skip
_AFTER = {"fact": "!", "percent": "%", "degree": " degrees"}


def _tree(node: Any) -> str:
    """A tree in infix notation with all brackets that could matter."""
    if not isinstance(node, Node):
        return ", ".join(_tree(item) for item in node) if isinstance(node, tuple) else str(node)
    op, args = node
    if op == "num":
        return _fraction(args[0])
    if op == "dots":
        return "..."
    if op in ("sym", "const", "named"):
        return str(args[0])
    if op == "base":
        return f"{args[2]} in base {args[1]}"
    if op == "add" and args[1].op == "neg":
        return f"{_tree(args[0])} - {_inner(args[1].args[0])}"
    if op in _SIGNS:
        return _SIGNS[op].join(_inner(arg) if op != "add" else _tree(arg) for arg in args)
    if op == "neg":
        return f"-{_inner(args[0])}"
    if op in _AFTER:
        return _inner(args[0]) + _AFTER[op]
    if op == "root":
        return f"sqrt({_tree(args[0])})" if args[1] == num(2) else f"root({_tree(args[0])}, {_tree(args[1])})"
    if op == "call":
        return f"{args[0]}({_tree(args[1])})"
    if op == "tuple":
        return f"{args[0]}{_tree(args[2])}{args[1]}"
    if op == "set":
        return "{" + _tree(args) + "}"
    if op in ("matrix", "det"):
        return "[" + "; ".join(_tree(row) for row in args) + "]"
    if op in ("pm", "mp"):
        sign = "+-" if op == "pm" else "-+"
        return sign + _inner(args[1]) if args[0] == num(0) else f"{_tree(args[0])} {sign} {_inner(args[1])}"
    return f"{op}({_tree(args)})" if args else op


def _inner(node: Node) -> str:
    told = _tree(node)
    simple = node.op in ("sym", "const", "call", "root", "fact", "tuple", "set", "named", "matrix") or (
        node.op == "num" and node.args[0] >= 0 and node.args[0].denominator == 1
    )
    return told if simple else f"({told})"
