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

from lydite.verifiers.math.answer import SCALARS, Answer, Rules
from lydite.verifiers.math.measures import scalars_agree
from lydite.verifiers.math.nodes import Node, TooBigError, contains, num
from lydite.verifiers.math.reading import read
from lydite.verifiers.math.relations import (
    label_of,
    same_base,
    same_equation,
    same_inequality,
    same_ratio,
    same_region,
    same_residue,
)
from lydite.verifiers.math.scalars import equal

MAX_ITEMS = 40

_RULES = Rules()
_NUMBERS = frozenset(["integer", "rational", "decimal"])


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
    if a.kind in _NUMBERS and g.kind in _NUMBERS and rules.tolerance is None and not a.items and not g.items:
        assert a.node is not None
        assert g.node is not None
        if a.node.op == "num" and g.node.op == "num":
            return a.node.args == g.node.args
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
        return same_equation(a, g)
    if a.kind == "assign":
        return _same(a.items[0], g, rules)
    if g.kind == "assign":
        return _same(a, g.items[0], rules)
    spread_a, spread_g = _members(a), _members(g)
    if spread_a is not None or spread_g is not None:
        return (
            _match(spread_a or (a,), spread_g or (g,), rules)
            if "set" not in (a.kind, g.kind) or (spread_a and spread_g)
            else same_region(a, g)
        )
    if "relation" in (a.kind, g.kind):
        return same_region(a, g) or (a.kind == g.kind and same_inequality(a, g))
    if "set" in (a.kind, g.kind):
        return same_region(a, g) or (a.node is not None and a.node == g.node)
    if "mod" in (a.kind, g.kind):
        return same_residue(a, g)
    if "base" in (a.kind, g.kind):
        return same_base(a, g)
    if "ratio" in (a.kind, g.kind) or "time" in (a.kind, g.kind):
        return same_ratio(a, g)
    if a.kind in SCALARS and g.kind in SCALARS:
        # A true chain (2500 g = 2.5 kg) says each of its sides.
        return any(scalars_agree(x, y, rules) for x in (a, *a.items) for y in (g, *g.items))
    if a.kind in ("tuple", "matrix") and a.kind == g.kind and a.node is not None and g.node is not None:
        return _structures(a.node, g.node, rules)
    if a.kind == g.kind and a.kind in ("date", "text"):
        return bool(a.data == g.data)
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
        return same_region(a, g)
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


def _assigned(a: Answer, g: Answer, rules: Rules) -> bool:
    x, y = label_of(a), label_of(g)
    agreed = x is None or y is None or x == y or {x, y} in ({"y", "f("}, {"y", "g("})
    if agreed and _same(a.items[0], g.items[0], rules):
        return True
    if "in" in (a.data, g.data):
        return same_region(a, g)
    return a.data == g.data == "=" and same_equation(a, g)


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
