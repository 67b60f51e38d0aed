"""What an answer is: one of about twenty kinds, read from its text once.

Kinds: ``integer``, ``rational``, ``decimal``, ``percent``, ``quantity`` (with a unit: money, angles, lengths ...),
``base``, ``expression``, ``tuple`` (points and intervals), ``set``, ``matrix``, ``list``, ``sequence`` (with dots),
``assign`` (``x = 5``), ``equation``, ``relation`` (inequalities), ``ratio``, ``time``, ``date``, ``mod``, ``choice``,
``builder`` (a set by its members' form), ``text``, ``false`` (contradicts itself), ``big`` (too large to look at),
``none``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, NamedTuple

from lydite.verifiers.math.nodes import Node
from lydite.verifiers.math.units import Unit


class Answer(NamedTuple):
    """An answer that was read.

    Attributes:
        kind: see the module.
        raw: its text without white space and dressing, for identity.
        node: its tree, for kinds that have one.
        unit: its unit; ``None`` when none was stated.
        items: parts of a list; the right side of an assignment; the text behind a choice's letter; for a number that
            ends a chain (2500 g = 2.5 kg), the sides in other units.
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


class Rules(NamedTuple):
    """How lenient a comparison is.

    Attributes:
        tolerance: relative difference of constants that is forgiven.
        units: ``forgive`` a missing unit, ``require`` it, or ``ignore`` units.
    """

    tolerance: Fraction | None = None
    units: Literal["forgive", "require", "ignore"] = "forgive"
