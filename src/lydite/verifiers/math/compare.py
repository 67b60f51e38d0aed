"""Stage two: whether an answer says what the gold says. The gold's kind picks the comparison.

| comparison | of | what is the same |
|---|---|---|
| numbers | integers, rationals, decimals | equal exactly, in any notation; with ``tolerance``, relatively close |
| | percent | 25% = 1/4; and 25 (from 1 on) where the other side has no percent sign; a rise is no fall |
| | money, quantities, angles | convertible units; a unit that only one side states is forgiven; 45 degrees = pi/4 |
| expressions | with symbols, roots, pi, i | the same value for all values of the symbols (see ``scalars``) |
| lists, members | lists, sets, plus-minus | the same members in any order; a sequence keeps its order |
| tuples, matrices | | the same shape, brackets and members, in order |
| regions | intervals, unions, inequalities, sets | the same subset of the real line |
| equations | | equal up to a constant factor; m + n = 42 answers 42 |
| assignments, values | ``x = 5``, ``f(x) = x^2`` | the same value, which also stands for itself; two names must agree |
| ratios | | proportional; 3:4 is 3/4 |
| congruences | | same residue and modulus, a missing modulus is forgiven |
| bases | base n | digits and base; a plain gold compares by value |
| times, dates | | equal; a missing am/pm is forgiven, a missing year is not |
| choices | choice letters | the letter; or what stands behind it |
| texts | | the words, apart from case, punctuation and leading article |
"""

from __future__ import annotations

import re

from lydite.verifiers.math.answer import Answer, Rules
from lydite.verifiers.math.comparators import NUMBERS, comparator_of, same
from lydite.verifiers.math.nodes import TooBigError
from lydite.verifiers.math.reading import read
from lydite.verifiers.math.units import DEGREE
from lydite.verifiers.math.work import note

__all__ = ["are_numbers", "at_once", "comparator_of", "compare", "same_number"]

_RULES = Rules()
_ZEROS = re.compile(r",0\d")  # 1,000 is no list
_MEASURED = NUMBERS | {"quantity"}


def compare(answer: Answer | str, gold: Answer | str, rules: Rules = _RULES) -> bool:
    """Whether the answer is the gold.

    Symmetric, but for three: ``units: require`` looks at what the gold states; 54 is no answer where 204_5 is asked
    for, which answers 54; 7 is none to the line x + y = 7, which answers 7.

    Args:
        answer: what ``read`` made of a text, or the text.
        gold: likewise; a gold that is used often is read once.
        rules: what is forgiven.

    Raises:
        TooBigError: deciding would cost too much.
        LostError: the process that confirms is gone, which is our fault.
    """
    a = read(answer) if isinstance(answer, str) else answer
    g = read(gold) if isinstance(gold, str) else gold
    if a.kind in ("none", "false") or g.kind in ("none", "false"):
        return False
    if a.raw == g.raw and a.raw:
        note("exact", "the same text")
        return True
    if are_numbers(a, g, rules):
        equal = same_number(a, g)
        note("exact", "numbers, the same" if equal else "numbers, different")
        return equal
    if a.kind == "big" or g.kind == "big":
        raise TooBigError
    if same(a, g, rules):
        return True
    # 100,200 is one number, unless the other side has parts.
    if {a.kind, g.kind} == {"integer", "list"}:
        short = a if a.kind == "integer" else g
        if "," in short.raw and "{" not in short.raw and not _ZEROS.search(short.raw):
            again = read(short.raw, False)
            return same(again, g, rules) if short is a else same(a, again, rules)
    return False


def are_numbers(a: Answer, g: Answer, rules: Rules) -> bool:
    """Whether both are numbers and nothing else, to be compared exactly."""
    if a.kind not in NUMBERS or g.kind not in NUMBERS or rules.tolerance is not None or a.items or g.items:
        return False
    return a.node is not None and a.node.op == "num" and g.node is not None and g.node.op == "num"


def same_number(a: Answer, g: Answer) -> bool:
    """Whether two such numbers are the same."""
    assert a.node is not None
    assert g.node is not None
    return bool(a.node.args[0] == g.node.args[0])


def at_once(a: Answer, g: Answer, rules: Rules) -> bool | None:
    """Whether two numbers, with units or without, are the same; ``None`` where that takes a longer comparison."""
    if are_numbers(a, g, rules):
        return same_number(a, g)
    x, y = a.node, g.node
    if x is None or y is None or not x.op == y.op == "num" or rules != _RULES or a.items or g.items:
        return None
    if a.label is not None or g.label is not None or not _MEASURED.issuperset((a.kind, g.kind)):
        return None
    if a.unit == g.unit:
        return bool(x.args[0] == y.args[0])
    if a.unit is not None and g.unit is not None:
        return None
    unit = a.unit or g.unit
    # A quarter of a turn is pi/2, and fifty cents are half of what nobody says.
    return bool(x.args[0] == y.args[0]) if unit is not None and unit.factor == 1 and unit != DEGREE else None
