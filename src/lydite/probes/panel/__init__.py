"""The panel: families of attacks, each a function from a target to the attacks that make sense against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lydite.probes.panel import answers, code, floor, forms, sql, suites, workspace
from lydite.probes.protocol import Attack, Family, Target

PANEL: list[Family] = [
    floor.attacks,
    answers.attacks,
    code.attacks,
    sql.attacks,
    forms.attacks,
    workspace.attacks,
    suites.attacks,
]
"""All families, in the order in which they are tried."""


def attacks(target: Target, families: Sequence[Family] | None = None) -> Iterator[Attack]:
    """All attacks on a target, each submission once."""
    seen: set[tuple[str, str]] = set()
    for family in PANEL if families is None else families:
        for attack in family(target):
            key = attack.name, attack.shown
            if key not in seen:
                seen.add(key)
                yield attack
