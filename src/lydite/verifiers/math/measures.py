"""Whether two numbers, with or without percent signs and units, are the same."""

from __future__ import annotations

from fractions import Fraction

from lydite.verifiers.math.answer import Answer, Rules
from lydite.verifiers.math.exact import rational
from lydite.verifiers.math.nodes import Node, contains, num, substitute, symbols
from lydite.verifiers.math.scalars import equal
from lydite.verifiers.math.units import DEGREE, TEMPERATURE, Unit, agree, parse_unit

_SHORT_UNITS = frozenset(["m", "s", "g", "h", "L", "l", "N", "J", "W", "V", "A"])
_RADIAN = Unit((("radian", 1),))


def scalars_agree(a: Answer, g: Answer, rules: Rules) -> bool:
    """Numbers, percentages and quantities of the same value."""
    a, g = (a, measured(g)) if not _free(a) else (measured(a), g) if not _free(g) else (a, g)
    x, y = a.node, g.node
    assert x is not None
    assert y is not None
    if a.kind == "percent" or g.kind == "percent":
        if a.kind == g.kind:
            if a.label and g.label and a.label != g.label:
                return False  # a rise and a fall
            return equal(x, y, rules.tolerance)
        share, other = (a, g) if a.kind == "percent" else (g, a)
        assert share.node is not None
        assert other.node is not None
        if other.unit is not None:
            return False
        if equal(Node("percent", (share.node,)), other.node, rules.tolerance):
            return True
        # 25 is forgiven for 25%; that 0.5 is 0.5% is not.
        return not _is_below_one(share.node) and equal(share.node, other.node, rules.tolerance)
    if "'" in (a.label, g.label) and (a.unit is None or g.unit is None):
        return False  # 7' is seven feet, or a derivative; never a plain 7
    if a.unit is None and g.unit is None:
        return equal(x, y, rules.tolerance) or _differ_by_constant(x, y)
    if rules.units == "ignore":
        return equal(x, y, rules.tolerance)
    if rules.units == "require" and g.unit is not None and a.unit is None:
        return False
    return _quantities(x, a.unit, y, g.unit, rules)


def _is_below_one(node: Node) -> bool:
    value = None if symbols(node) else rational(node)
    return value is not None and abs(value) < 1


_CONSTANTS = frozenset("CcKkD")


def _differ_by_constant(x: Node, y: Node) -> bool:
    """Antiderivatives that call their constant by different names: x + C and x + K."""
    if x.op != "add" or y.op != "add" or "C" not in (names := symbols((x, y))) or not names & (_CONSTANTS - {"C"}):
        return False
    for one, other in ((x, y), (y, x)):
        left = symbols(other) - symbols(one)
        if symbols(one) - symbols(other) == {"C"} and len(left) == 1 and left <= _CONSTANTS:
            return (
                _is_term("C", one)
                and _is_term(name := left.pop(), other)
                and equal(one, substitute(other, name, Node("sym", ("C",))))
            )
    return False


def _is_term(name: str, node: Node) -> bool:
    """Whether a symbol is added once, and occurs nowhere else."""
    while node.op == "add":
        left, right = node.args
        for this, rest in ((right, left), (left, right)):
            if this == Node("sym", (name,)):
                return name not in symbols(rest)
        node = left if name in symbols(left) else right
    return False


def _free(answer: Answer) -> bool:
    return answer.node is not None and bool(symbols(answer.node))


def measured(answer: Answer) -> Answer:
    """``5 m`` as a quantity, where what it stands against has no symbols: the letter is a unit."""
    if answer.node is None or answer.unit is not None or not _free(answer):
        return answer
    names = symbols(answer.node)
    if not names <= _SHORT_UNITS and not (names == {"C"} and contains(answer.node, "pow")):
        return answer  # 5C may be five times a constant; 1.6 * 10^{-19} C is a charge
    powers: dict[str, int] = {}
    amount = _amount(answer.node, 1, powers) if _has_number(answer.node) else None
    if amount is None:
        return answer
    unit = parse_unit(" ".join(f"{name}^{power}" for name, power in powers.items() if power > 0))
    below = parse_unit(" ".join(f"{name}^{-power}" for name, power in powers.items() if power < 0))
    if unit is None or below is None:
        return answer
    dims = dict(unit.dims)
    for name, power in below.dims:
        dims[name] = dims.get(name, 0) - power
    whole = Unit(tuple(sorted((name, power) for name, power in dims.items() if power)), unit.factor / below.factor)
    return answer._replace(node=num(amount), unit=whole, kind="quantity")


def _has_number(node: Node) -> bool:
    """Whether a product begins with how much: ``m`` alone is a name, not one metre, and N(5) is no force."""
    return node.op == "num" or (node.op in ("neg", "mul", "div", "pow") and _has_number(node.args[0]))


def _amount(node: Node, sign: int, powers: dict[str, int]) -> Fraction | None:
    """The number in a product of one number and powers of letters; gathers the powers."""
    if node.op == "num":
        return Fraction(node.args[0]) if sign > 0 else 1 / Fraction(node.args[0]) if node.args[0] else None
    if node.op == "sym":
        powers[node.args[0]] = powers.get(node.args[0], 0) + sign
        return Fraction(1)
    if node.op == "neg":
        inner = _amount(node.args[0], sign, powers)
        return None if inner is None else -inner
    if node.op in ("pow", "root") and not symbols(node):
        value = rational(node)
        return None if not value else value if sign > 0 else 1 / value
    if node.op == "pow" and node.args[0].op == "sym" and node.args[1].op == "num" and node.args[1].args[0] in (2, 3):
        powers[node.args[0].args[0]] = powers.get(node.args[0].args[0], 0) + sign * int(node.args[1].args[0])
        return Fraction(1)
    if node.op in ("mul", "div"):
        left = _amount(node.args[0], sign, powers)
        right = _amount(node.args[1], sign if node.op == "mul" else -sign, powers)
        return None if left is None or right is None else left * right
    return None


def _on_scale(node: Node, unit: Unit) -> Node:
    """A temperature in degrees Celsius."""
    if unit.factor == 1 and not unit.zero:
        return node
    return Node("add", (Node("mul", (node, num(unit.factor))), num(unit.zero)))


def _quantities(x: Node, unit_x: Unit | None, y: Node, unit_y: Unit | None, rules: Rules) -> bool:
    if DEGREE in (unit_x, unit_y) and unit_x != unit_y:
        degrees, other, other_unit = (x, y, unit_y) if unit_x == DEGREE else (y, x, unit_x)
        if (other_unit is None or other_unit.dims == TEMPERATURE) and equal(degrees, other, rules.tolerance):
            return True
        return other_unit in (None, _RADIAN) and equal(Node("degree", (degrees,)), other, rules.tolerance)
    if unit_x is not None and unit_y is not None and unit_x.dims == unit_y.dims == TEMPERATURE:
        x, y = _on_scale(x, unit_x), _on_scale(y, unit_y)
        return equal(x, y, rules.tolerance)
    factor = agree(unit_x, unit_y)
    if factor is None:
        return False
    if equal(x if factor == 1 else Node("mul", (x, num(factor))), y, rules.tolerance):
        return True
    if unit_x is None or unit_y is None:  # 50 cents are 0.5 where nobody says of what
        known = unit_x or unit_y
        if known is not None and known.dims == (("$", 1),) and known.factor != 1:
            x, y = (Node("mul", (x, num(known.factor))), y) if unit_x else (x, Node("mul", (y, num(known.factor))))
            return equal(x, y, rules.tolerance)
    return False
