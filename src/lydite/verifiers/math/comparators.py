"""The comparisons of the table in ``compare``: one per pair of kinds, chosen by ``same``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lydite.verifiers.math.answer import SCALARS, Answer, Rules
from lydite.verifiers.math.kinds import kind_name
from lydite.verifiers.math.measures import scalars_agree
from lydite.verifiers.math.nodes import Node
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
from lydite.verifiers.math.spread import as_answer, flat, is_of_unknowns, letters, members, mixed_number
from lydite.verifiers.math.work import is_heard, note

MAX_ITEMS = 40

_NULL_VECTORS = frozenset(
    f"\\{name}{{0}}" for name in ("mathbf", "boldsymbol", "overrightarrow", "bm", "vec", "textbf")
)
NUMBERS = frozenset(["integer", "rational", "decimal"])


def same(a: Answer, g: Answer, rules: Rules) -> bool:
    """Whether two answers say the same, by the comparison that their kinds ask for."""
    name, comparator = _way(a, g)
    if is_heard():
        note("compare", f"{kind_name(a)} with {kind_name(g)}: {name}")
    return comparator(a, g, rules)


Comparator = Callable[[Answer, Answer, Rules], bool]


def comparator_of(answer: Answer, gold: Answer) -> str:
    """The name of the comparison that two answers get, as in the table of ``compare``."""
    return _way(answer, gold)[0]


def _way(a: Answer, g: Answer) -> tuple[str, Comparator]:
    kinds = (a.kind, g.kind)
    if a.kind in NUMBERS and g.kind in NUMBERS:
        return "numbers", _scalars
    if "choice" in kinds:
        return "choices", _choices
    if "list" in kinds or "sequence" in kinds:
        return "lists", _lists
    if a.kind == g.kind == "assign":
        return "assignments", _assigned
    if "equation" in kinds:
        return "equations", _equations
    if "assign" in kinds:
        return "values", _unwrapped
    return _of_values(a, g)


def _of_values(a: Answer, g: Answer) -> tuple[str, Comparator]:
    """The comparison of what is neither listed nor assigned."""
    kinds = (a.kind, g.kind)
    spread_a, spread_g = members(a), members(g)
    if spread_a is not None or spread_g is not None:
        if "set" not in kinds or (spread_a and spread_g):
            return "members", lambda a, g, rules: _match(spread_a or (a,), spread_g or (g,), rules, "set" in kinds)
        return "regions", _regions
    if "relation" in kinds:
        return "regions", _inequalities
    if "set" in kinds:
        return "regions", _sets
    if "mod" in kinds:
        return "congruences", _residues
    if "base" in kinds:
        return "bases", _bases
    if "ratio" in kinds or "time" in kinds:
        return ("times" if a.kind == g.kind == "time" else "ratios"), _ratios
    if "text" in kinds and "vec 0" in (a.data, g.data):
        return "vectors", _null_vectors
    if a.kind in SCALARS and g.kind in SCALARS:
        return ("expressions" if "expression" in kinds else "numbers"), _scalars
    if a.kind in ("tuple", "matrix") and a.kind == g.kind and a.node is not None and g.node is not None:
        return ("tuples" if a.kind == "tuple" else "matrices"), _shaped
    if a.kind == g.kind == "builder":
        return "set builders", _builders
    if a.kind == g.kind and a.kind in ("date", "text"):
        return ("dates" if a.kind == "date" else "texts"), _data
    return "kinds that have nothing in common", _never


def _never(a: Answer, g: Answer, rules: Rules) -> bool:
    return False


def _equations(a: Answer, g: Answer, rules: Rules) -> bool:
    return same_equation(a, g)


def _unwrapped(a: Answer, g: Answer, rules: Rules) -> bool:
    if "set" in (a.kind, g.kind) and same_region(a, g):
        return True  # x = 7 is the set of 7
    return same(a.items[0], g, rules) if a.kind == "assign" else same(a, g.items[0], rules)


def _regions(a: Answer, g: Answer, rules: Rules) -> bool:
    return same_region(a, g)


def _inequalities(a: Answer, g: Answer, rules: Rules) -> bool:
    return same_region(a, g) or (a.kind == g.kind and same_inequality(a, g))


def _sets(a: Answer, g: Answer, rules: Rules) -> bool:
    return same_region(a, g) or (a.node is not None and a.node == g.node)


def _residues(a: Answer, g: Answer, rules: Rules) -> bool:
    return same_residue(a, g)


def _bases(a: Answer, g: Answer, rules: Rules) -> bool:
    return same_base(a, g)


def _ratios(a: Answer, g: Answer, rules: Rules) -> bool:
    return same_ratio(a, g)


def _scalars(a: Answer, g: Answer, rules: Rules) -> bool:
    # A true chain (2500 g = 2.5 kg) says each of its sides.
    return any(scalars_agree(x, y, rules) for x in (a, *a.items) for y in (g, *g.items))


def _shaped(a: Answer, g: Answer, rules: Rules) -> bool:
    assert a.node is not None
    assert g.node is not None
    return _structures(a.node, g.node, rules)


def _data(a: Answer, g: Answer, rules: Rules) -> bool:
    return bool(a.data == g.data or (a.kind == "text" and a.label and a.label == g.label))


def _null_vectors(a: Answer, g: Answer, rules: Rules) -> bool:
    return all(item.data == "vec 0" or item.raw in _NULL_VECTORS for item in (a, g))


def _builders(a: Answer, g: Answer, rules: Rules) -> bool:
    return all(same(x, y, rules) for x, y in zip(a.items, g.items, strict=True))


def _lists(a: Answer, g: Answer, rules: Rules) -> bool:
    if "sequence" in (a.kind, g.kind):
        if a.kind != g.kind or len(a.items) != len(g.items):
            return False
        return all(_item(x, y, rules) for x, y in zip(a.items, g.items, strict=True))
    a, g = _named(a), _named(g)
    if any(item.kind == "relation" for item in (*a.items, *g.items, a, g)) or _is_union(a) or _is_union(g):
        return same_region(a, g)
    for one, other in ((a, g), (g, a)):
        if other.kind == "tuple" and one.kind == "list":
            return _named_point(one, other, rules)
    if letters(a) and letters(a) == letters(g):
        return True
    for one, other in ((a, g), (g, a)):
        if one.kind in SCALARS and other.kind == "list" and (mixed := mixed_number(other)) is not None:
            return scalars_agree(one, mixed, rules)
        if is_of_unknowns(one) and not is_of_unknowns(other):  # a = 3, b = -1 is 3, -1 in this order
            listed = other.kind == "list" and len(other.items) == len(one.items)
            return listed and all(same(x, y, rules) for x, y in zip(a.items, g.items, strict=True))
    return _match(flat(a), flat(g), rules, _is_set(a) or _is_set(g))


def _is_set(answer: Answer) -> bool:
    items = answer.items if answer.kind in ("assign", "list") and len(answer.items) == 1 else (answer,)
    return any(item.node is not None and item.node.op == "set" for item in items)


def _is_union(answer: Answer) -> bool:
    return answer.node is not None and answer.node.op in ("cup", "cap", "minus")


def _named(answer: Answer) -> Answer:
    """The set itself, where an answer says that the unknown is in a set; the point, where it is named."""
    named = answer.kind == "assign" and (answer.data == "in" or answer.items[0].kind == "tuple")
    return answer.items[0] if named else answer


def _named_point(listed: Answer, point_: Answer, rules: Rules) -> bool:
    """x = 2, y = -3 is the point (2, -3)."""
    names = [
        item.label.args[0]
        for item in listed.items
        if item.kind == "assign" and isinstance(item.label, Node) and item.label.op == "sym"
    ]
    if len(names) != len(listed.items) or len(set(names)) != len(names) or point_.node is None:
        return False
    if point_.node.args[:2] != ("(", ")"):
        return False
    values = [item.items[0] for _, item in sorted(zip(names, listed.items, strict=True), key=lambda pair: pair[0])]
    parts = [as_answer(item) for item in point_.node.args[2]]
    return len(values) == len(parts) and all(same(x, y, rules) for x, y in zip(values, parts, strict=True))


def _item(a: Answer, g: Answer, rules: Rules) -> bool:
    if a.kind == g.kind == "sequence" and a.node is not None:
        return a.node == g.node
    return same(a, g, rules)


def _match(a: Sequence[Answer], g: Sequence[Answer], rules: Rules, as_set: bool = False) -> bool:
    """The same members, each as often, in any order; as sets, however often."""
    if len(a) != len(g):
        one, other = _distinct(a, rules), _distinct(g, rules)
        if not as_set and len(one) > 1:
            return False  # 1, 2, 2 is not 1, 2; but 7 and 7 is 7
        a, g = one, other
    if len(a) != len(g) or not a or len(a) > MAX_ITEMS:
        return False
    left = list(g)
    for item in a:
        found = next((index for index, other in enumerate(left) if same(item, other, rules)), None)
        if found is None:
            return False
        del left[found]
    return True


def _distinct(items: Sequence[Answer], rules: Rules) -> list[Answer]:
    kept: list[Answer] = []
    for item in items[: MAX_ITEMS + 1]:
        if not any(same(item, other, rules) for other in kept):
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
        return x.op == y.op == "set" and _match(
            [as_answer(p) for p in x.args], [as_answer(q) for q in y.args], rules, True
        )
    return equal(x, y, rules.tolerance)


def _assigned(a: Answer, g: Answer, rules: Rules) -> bool:
    x, y = label_of(a), label_of(g)
    agreed = x is None or y is None or x == y or {x, y} in ({"y", "f("}, {"y", "g("})
    if agreed and same(a.items[0], g.items[0], rules):
        return True
    if "in" in (a.data, g.data):
        return same_region(a, g)
    return a.data == g.data == "=" and same_equation(a, g)


def _choices(a: Answer, g: Answer, rules: Rules) -> bool:
    if a.kind == g.kind:
        if a.hedged or g.hedged:  # "(A) 3 or 4": right where the option says so
            alike = bool(a.items and g.items) and same(a.items[0], g.items[0], rules)
            return bool(alike and a.data == g.data)
        return bool(a.data == g.data)
    choice, other = (a, g) if a.kind == "choice" else (g, a)
    if choice.items:
        return same(choice.items[0], other, rules)
    if other.kind in SCALARS and other.node is not None and other.node.op == "sym":
        return bool(str(other.node.args[0]).upper() == choice.data) and choice.data <= "E"
    if other.kind == "assign":
        if isinstance(other.label, Node) and other.label.op == "sym" and "A" <= other.label.args[0] <= "E":
            return False  # A = C says nothing of a choice
        return same(*((choice, other.items[0]) if choice is a else (other.items[0], choice)), rules)
    return False
