"""Stage two: whether an answer says what the gold says. The gold's kind picks the comparison.

| gold | what is the same |
|---|---|
| numbers | equal exactly, in any notation; with ``tolerance``, relatively close |
| percent | 25% = 1/4; and 25 where the other side has no percent sign |
| quantities | convertible units; a unit that only one side states is forgiven; 45 degrees = pi/4 |
| expressions | equal at every sample point (see ``scalars``) |
| lists, sets, plus-minus | the same members in any order; a sequence with dots keeps its order |
| tuples, matrices | the same shape, brackets and members, in order |
| intervals, inequalities | the same subset of the real line |
| equations | equal up to a constant factor; ``x = 5`` is also plain ``5``; two names must agree |
| ratios, congruences | proportional; same residue and modulus, a missing modulus is forgiven |
| base n | digits and base; a plain gold compares by value |
| times, dates | equal; a missing am/pm is forgiven, a missing year is not |
| choices, text | the letter; the words, apart from case, punctuation and leading article |
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NamedTuple

from lydite.verifiers.math import sets
from lydite.verifiers.math.answer import SCALARS, Answer
from lydite.verifiers.math.exact import rational
from lydite.verifiers.math.nodes import Node, TooBigError, UndefinedError, contains, num, symbols
from lydite.verifiers.math.reading import read
from lydite.verifiers.math.scalars import POINTS, equal, point
from lydite.verifiers.math.scalars import number as value_of
from lydite.verifiers.math.units import DEGREE, Unit, agree, parse_unit

_split = str.split  # tables of words stay readable

MAX_ITEMS = 40
_NEAR = Decimal("1e-30")


class Rules(NamedTuple):
    """How lenient a comparison is.

    Attributes:
        tolerance: relative difference of constants that is forgiven.
        units: ``forgive`` a missing unit, ``require`` it, or ``ignore`` units.
    """

    tolerance: Fraction | None = None
    units: Literal["forgive", "require", "ignore"] = "forgive"


_RULES = Rules()


def compare(answer: Answer | str, gold: Answer | str, rules: Rules = _RULES) -> bool:
    """Whether the answer is the gold. Symmetric, except that ``units: require`` looks at what the gold states.

    Raises:
        TooBigError: deciding would cost too much.
    """
    a = read(answer) if isinstance(answer, str) else answer
    g = read(gold) if isinstance(gold, str) else gold
    if a.kind in ("none", "false") or g.kind in ("none", "false"):
        return False
    if a.raw == g.raw and a.raw:
        return True
    if a.kind == "big" or g.kind == "big":
        raise TooBigError
    if _same(a, g, rules):
        return True
    # 100,200 is one number, unless the other side has parts.
    if {a.kind, g.kind} == {"integer", "list"}:
        short = a if a.kind == "integer" else g
        if "," in short.raw and "{" not in short.raw:
            again = read(short.raw, False)
            return _same(again, g, rules) if short is a else _same(a, again, rules)
    return False


def _same(a: Answer, g: Answer, rules: Rules) -> bool:
    if a.kind == g.kind == "choice" or "choice" in (a.kind, g.kind):
        return _choices(a, g, rules)
    if "list" in (a.kind, g.kind) or "sequence" in (a.kind, g.kind):
        return _lists(a, g, rules)
    if a.kind == g.kind == "assign":
        return _assigned(a, g, rules)
    if "equation" in (a.kind, g.kind):
        return _equations(a, g)
    if a.kind == "assign":
        return _same(a.items[0], g, rules)
    if g.kind == "assign":
        return _same(a, g.items[0], rules)
    spread_a, spread_g = _members(a), _members(g)
    if spread_a is not None or spread_g is not None:
        return (
            _match(spread_a or (a,), spread_g or (g,), rules)
            if "set" not in (a.kind, g.kind) or (spread_a and spread_g)
            else _regions(a, g)
        )
    if "relation" in (a.kind, g.kind):
        return _regions(a, g) or (a.kind == g.kind and _inequalities(a, g))
    if "set" in (a.kind, g.kind):
        return _regions(a, g) or (a.node is not None and a.node == g.node)
    if "mod" in (a.kind, g.kind):
        return _residues(a, g)
    if "base" in (a.kind, g.kind):
        return _bases(a, g)
    if "ratio" in (a.kind, g.kind) or "time" in (a.kind, g.kind):
        return _ratios(a, g)
    if a.kind in SCALARS and g.kind in SCALARS:
        return _scalars(a, g, rules)
    if a.kind in ("tuple", "matrix") and a.kind == g.kind and a.node is not None and g.node is not None:
        return _structures(a.node, g.node, rules)
    if a.kind == g.kind and a.kind in ("date", "text"):
        return bool(a.data == g.data)
    return False


def _scalars(a: Answer, g: Answer, rules: Rules) -> bool:
    a, g = (a, _measured(g)) if not _free(a) else (_measured(a), g) if not _free(g) else (a, g)
    x, y = a.node, g.node
    assert x is not None
    assert y is not None
    if a.kind == "percent" or g.kind == "percent":
        if a.kind == g.kind:
            return equal(x, y, rules.tolerance)
        share, other = (a, g) if a.kind == "percent" else (g, a)
        assert share.node is not None
        assert other.node is not None
        if other.unit is not None:
            return False
        return any(equal(form, other.node, rules.tolerance) for form in (share.node, Node("percent", (share.node,))))
    if a.unit is None and g.unit is None:
        return equal(x, y, rules.tolerance)
    if rules.units == "ignore":
        return equal(x, y, rules.tolerance)
    if rules.units == "require" and g.unit is not None and a.unit is None:
        return False
    return _quantities(x, a.unit, y, g.unit, rules)


def _free(answer: Answer) -> bool:
    return answer.node is not None and bool(symbols(answer.node))


_SHORT_UNITS = frozenset(_split("m s g h L l N J W V A"))


def _measured(answer: Answer) -> Answer:
    """``5 m`` as a quantity, where what it stands against has no symbols: the letter is a unit."""
    if answer.node is None or answer.unit is not None or not symbols(answer.node) <= _SHORT_UNITS or not _free(answer):
        return answer
    powers: dict[str, int] = {}
    amount = _amount(answer.node, 1, powers)
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


def _amount(node: Node, sign: int, powers: dict[str, int]) -> Fraction | None:
    """The number in a product of one number and powers of letters; gathers the powers."""
    if node.op == "num":
        return Fraction(node.args[0]) if sign > 0 else None
    if node.op == "sym":
        powers[node.args[0]] = powers.get(node.args[0], 0) + sign
        return Fraction(1)
    if node.op == "neg":
        inner = _amount(node.args[0], sign, powers)
        return None if inner is None else -inner
    if node.op == "pow" and node.args[0].op == "sym" and node.args[1].op == "num" and node.args[1].args[0] in (2, 3):
        powers[node.args[0].args[0]] = powers.get(node.args[0].args[0], 0) + sign * int(node.args[1].args[0])
        return Fraction(1)
    if node.op in ("mul", "div"):
        left = _amount(node.args[0], sign, powers)
        right = _amount(node.args[1], sign if node.op == "mul" else -sign, powers)
        return None if left is None or right is None else left * right
    return None


_RADIAN = Unit((("radian", 1),))


def _quantities(x: Node, unit_x: Unit | None, y: Node, unit_y: Unit | None, rules: Rules) -> bool:
    if DEGREE in (unit_x, unit_y) and unit_x != unit_y:
        degrees, other, other_unit = (x, y, unit_y) if unit_x == DEGREE else (y, x, unit_x)
        if other_unit is None and equal(degrees, other, rules.tolerance):
            return True
        return other_unit in (None, _RADIAN) and equal(Node("degree", (degrees,)), other, rules.tolerance)
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


def _members(answer: Answer) -> tuple[Answer, ...] | None:
    """Members of a finite set or of plus-minus; ``None`` for what is one thing."""
    node = answer.node
    if node is None:
        return None
    if node.op == "set":
        return tuple(_as_answer(item) for item in node.args)
    if answer.kind in SCALARS and contains(node, "pm", "mp"):
        both = contains(node, "mp")
        forms = [_signed(node, 1, both), _signed(node, -1, both)]
        return tuple(answer._replace(node=form, raw="") for form in forms)
    return None


def _signed(node: Node, sign: int, both: bool) -> Node:
    if node.op in ("pm", "mp"):
        this = sign if node.op == "pm" else -sign
        left, right = (_signed(arg, sign, both) for arg in node.args)
        right = right if this > 0 else Node("neg", (right,))
        return right if left == num(0) else Node("add", (left, right))
    args = tuple(
        _signed(arg, sign, both)
        if isinstance(arg, Node)
        else tuple(_signed(item, sign, both) if isinstance(item, Node) else item for item in arg)
        if isinstance(arg, tuple)
        else arg
        for arg in node.args
    )
    return Node(node.op, args)


def _as_answer(node: Node) -> Answer:
    kinds = {"tuple": "tuple", "matrix": "matrix", "set": "set", "dots": "sequence"}
    return Answer(kinds.get(node.op, "expression"), "", node)


def _flat(answer: Answer) -> list[Answer]:
    """What a list lists: members of sets and both signs of plus-minus one by one."""
    if answer.kind == "list":
        return [part for item in answer.items for part in _flat(item)]
    if answer.kind == "assign":
        inner = _flat(answer.items[0])
        return inner if len(inner) > 1 else [answer]
    members = _members(answer)
    return [answer] if members is None else [part for member in members for part in _flat(member)]


def _lists(a: Answer, g: Answer, rules: Rules) -> bool:
    if "sequence" in (a.kind, g.kind):
        if a.kind != g.kind or len(a.items) != len(g.items):
            return False
        return all(_item(x, y, rules) for x, y in zip(a.items, g.items, strict=True))
    a, g = _named(a), _named(g)
    if any(item.kind == "relation" for item in (*a.items, *g.items, a, g)):
        return _regions(a, g)
    for one, other in ((a, g), (g, a)):
        if other.kind == "tuple" and one.kind == "list":
            return _named_point(one, other, rules)
    if _letters(a) and _letters(a) == _letters(g):
        return True
    return _match(_flat(a), _flat(g), rules)


def _letters(answer: Answer) -> str:
    """Letters of a question with several right choices: ``AC`` or ``A, C``."""
    if answer.kind == "list":
        nodes = [item.node for item in answer.items]
        names = [str(node.args[0]) for node in nodes if node is not None and node.op == "sym"]
        return "".join(sorted(names)) if len(names) == len(nodes) and all("A" <= name <= "J" for name in names) else ""
    return (
        "".join(sorted(answer.raw)) if answer.raw.isalpha() and all("A" <= char <= "J" for char in answer.raw) else ""
    )


def _named(answer: Answer) -> Answer:
    """The set itself, where an answer says that the unknown is in a set."""
    return answer.items[0] if answer.kind == "assign" and answer.data == "in" else answer


def _named_point(listed: Answer, point_: Answer, rules: Rules) -> bool:
    """x = 2, y = -3 is the point (2, -3)."""
    names = [
        item.label.args[0]
        for item in listed.items
        if item.kind == "assign" and isinstance(item.label, Node) and item.label.op == "sym"
    ]
    if len(names) != len(listed.items) or len(set(names)) != len(names) or point_.node is None:
        return False
    values = [item.items[0] for _, item in sorted(zip(names, listed.items, strict=True), key=lambda pair: pair[0])]
    members = [_as_answer(item) for item in point_.node.args[2]]
    return len(values) == len(members) and all(_same(x, y, rules) for x, y in zip(values, members, strict=True))


def _item(a: Answer, g: Answer, rules: Rules) -> bool:
    if a.kind == g.kind == "sequence" and a.node is not None:
        return a.node == g.node
    return _same(a, g, rules)


def _match(a: Sequence[Answer], g: Sequence[Answer], rules: Rules) -> bool:
    """The same members, each as often, in any order."""
    if len(a) != len(g):
        a, g = _distinct(a, rules), _distinct(g, rules)
    if len(a) != len(g) or not a or len(a) > MAX_ITEMS:
        return False
    left = list(g)
    for item in a:
        found = next((index for index, other in enumerate(left) if _same(item, other, rules)), None)
        if found is None:
            return False
        del left[found]
    return True


def _distinct(items: Sequence[Answer], rules: Rules) -> list[Answer]:
    kept: list[Answer] = []
    for item in items[: MAX_ITEMS + 1]:
        if not any(_same(item, other, rules) for other in kept):
            kept.append(item)
    return kept


def _structures(x: Node, y: Node, rules: Rules) -> bool:
    if x.op == "tuple" and y.op == "tuple":
        if x.args[:2] != y.args[:2] or len(x.args[2]) != len(y.args[2]):
            return False
        return all(_structures(p, q, rules) for p, q in zip(x.args[2], y.args[2], strict=True))
    if x.op == "matrix" and y.op == "matrix":
        if [len(row) for row in x.args] != [len(row) for row in y.args]:
            return False
        return all(
            _structures(p, q, rules) for r, s in zip(x.args, y.args, strict=True) for p, q in zip(r, s, strict=True)
        )
    if x.op in ("tuple", "matrix", "set") or y.op in ("tuple", "matrix", "set"):
        return x.op == y.op == "set" and _match([_as_answer(p) for p in x.args], [_as_answer(q) for q in y.args], rules)
    return equal(x, y, rules.tolerance)


def _label(answer: Answer) -> str | None:
    """The name that an assignment is about; ``None`` for words and points, which say nothing about the value."""
    label = answer.label
    if isinstance(label, Node) and label.op == "sym":
        return str(label.args[0])
    if isinstance(label, Node) and label.op == "call":
        return f"{label.args[0]}("
    return None


def _assigned(a: Answer, g: Answer, rules: Rules) -> bool:
    x, y = _label(a), _label(g)
    agreed = x is None or y is None or x == y or {x, y} in ({"y", "f("}, {"y", "g("})
    if agreed and _same(a.items[0], g.items[0], rules):
        return True
    if "in" in (a.data, g.data):
        return _regions(a, g)
    return a.data == g.data == "=" and _equations(a, g)


def _difference(answer: Answer) -> Node | None:
    """Left minus right of an equation."""
    if answer.kind == "equation":
        return answer.node
    if (
        answer.kind == "assign"
        and isinstance(answer.label, Node)
        and answer.label.op == "sym"
        and answer.node is not None
    ):
        return Node("add", (answer.label, Node("neg", (answer.node,))))
    return None


def _equations(a: Answer, g: Answer) -> bool:
    x, y = _difference(a), _difference(g)
    if x is None or y is None or len(symbols(x) | symbols(y)) < 1:
        return False
    if a.kind == g.kind == "assign" and not (symbols(a.node) and symbols(g.node)):
        return False
    return _ratio(x, y) != 0


def _ratio(x: Node, y: Node) -> int:
    """The sign of the constant x / y: 0 where the quotient is not a real constant other than zero."""
    names = sorted(symbols(x) | symbols(y))
    if symbols(x) != symbols(y):
        return 0
    first: Decimal | None = None
    for index in range(POINTS):
        try:
            real, imaginary = value_of(Node("div", (x, y)), point(names, index))
        except UndefinedError:
            return 0
        if (
            not real
            or abs(imaginary) > abs(real) * _NEAR
            or (first is not None and abs(real - first) > abs(first) * _NEAR)
        ):
            return 0
        first = real if first is None else first
    return 0 if first is None else 1 if first > 0 else -1


def _regions(a: Answer, g: Answer) -> bool:
    try:
        x, y = sets.of_answer(a), sets.of_answer(g)
    except UndefinedError:
        return False
    if x is None or y is None:
        return False
    return x[0] == y[0] and (x[1] is None or y[1] is None or x[1] == y[1])


def _inequalities(a: Answer, g: Answer) -> bool:
    """Inequalities in several symbols: the same up to a positive factor."""
    (ops_a, nodes_a), (ops_g, nodes_g) = a.data, g.data
    if len(ops_a) != 1 or len(ops_g) != 1:
        return False
    if sets.of_answer(a) is not None or sets.of_answer(g) is not None:
        return False  # solved for its unknown: an inequality that still has to be solved is no answer
    flip = {"<": ">", "<=": ">="}
    sides = []
    for operator, (left, right) in ((ops_a[0], nodes_a), (ops_g[0], nodes_g)):
        if operator in flip:
            operator, left, right = flip[operator], right, left
        sides.append((operator, Node("add", (left, Node("neg", (right,))))))
    if sides[0][0] != sides[1][0]:
        return False
    ratio = _ratio(sides[0][1], sides[1][1])
    return ratio > 0 or (ratio < 0 and sides[0][0] == "!=")


def _residues(a: Answer, g: Answer) -> bool:
    if a.node is None or g.node is None:
        return False
    if a.kind == g.kind:
        x, y, m, n = rational(a.node), rational(g.node), rational(a.data), rational(g.data)
        if m is None or m != n or m == 0 or x is None or y is None:
            return False
        return (x - y) % m == 0
    return (
        a.kind in (*SCALARS, "mod")
        and g.kind in (*SCALARS, "mod")
        and a.unit is None
        and g.unit is None
        and equal(a.node, g.node)
    )


def _bases(a: Answer, g: Answer) -> bool:
    if a.node is None or g.node is None:
        return False
    if a.kind == g.kind:
        return a.node.args[:2] == g.node.args[:2]
    # A number without its base is a decimal number. The digits of another base are no answer to a gold that asks for
    # that base.
    return g.kind != "base" and g.kind in SCALARS and g.unit is None and equal(a.node, g.node)


def _ratios(a: Answer, g: Answer) -> bool:
    if a.kind == g.kind == "time":
        (h, m, s, half_a), (k, n, t, half_g) = a.data, g.data
        if half_a in ("a", "p") and half_g in ("a", "p"):
            return bool((h, m, s) == (k, n, t))
        same = h % 12 == k % 12 if half_a or half_g else h == k
        return bool(same and (m, s) == (n, t))
    x, y = _parts(a), _parts(g)
    if x is None or y is None or len(x) != len(y):
        return False
    return (
        all(equal(Node("mul", (x[0], q)), Node("mul", (y[0], p))) for p, q in zip(x[1:], y[1:], strict=True))
        and rational(y[0]) != 0
    )


def _parts(answer: Answer) -> tuple[Node, ...] | None:
    if answer.kind == "ratio":
        return tuple(answer.data)
    if answer.kind == "time" and not answer.data[3]:
        hour, minute, second, _ = answer.data
        return (num(hour), num(minute)) if not second else None
    if answer.kind in SCALARS and answer.unit is None and answer.node is not None and not symbols(answer.node):
        return (answer.node, num(1)) if answer.kind != "percent" else None
    return None


def _choices(a: Answer, g: Answer, rules: Rules) -> bool:
    if a.kind == g.kind:
        return bool(a.data == g.data)
    choice, other = (a, g) if a.kind == "choice" else (g, a)
    if choice.items:
        return _same(choice.items[0], other, rules)
    if other.kind in SCALARS and other.node is not None and other.node.op == "sym":
        return bool(str(other.node.args[0]).upper() == choice.data) and choice.data <= "E"
    if other.kind == "assign":
        return _same(*((choice, other.items[0]) if choice is a else (other.items[0], choice)), rules)
    return False
