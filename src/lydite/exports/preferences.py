"""Preference pairs: what a group got right, over what it got wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from lydite.errors import InputError
from lydite.exports.formats import Document, parse_format, preference_row
from lydite.exports.groups import Rows, barred, exemplary, groups, spread, usable
from lydite.verdict import Outcome

if TYPE_CHECKING:
    from lydite.ledger import Row

CAP = 4
"""Pairs a group: more would let a few groups with many contrasts outweigh the rest."""

MARGIN = 0.5
"""How far below the chosen one's score a partly right attempt must be in order to be rejected."""


class PairCounts(msgspec.Struct, kw_only=True):
    """What happened to the groups; complete once the iterator is exhausted.

    Attributes:
        groups: groups seen.
        contrast: groups that gave at least one pair.
        no_chosen: groups without a correct, unbarred attempt.
        no_rejected: groups with such an attempt, but nothing to set against it.
        pairs: pairs written.
        capped: pairs left out because their group had reached the cap.
        identical: pairs skipped because both sides say the same.
        invalid: attempts that could not be judged; on neither side.
        barred: correct attempts that a flag bars; on neither side.
        near: partly right attempts too close to the chosen ones; on neither side.
    """

    groups: int = 0
    contrast: int = 0
    no_chosen: int = 0
    no_rejected: int = 0
    pairs: int = 0
    capped: int = 0
    identical: int = 0
    invalid: int = 0
    barred: int = 0
    near: int = 0


def preference_pairs(
    run: Rows, *, phase: str | None = None, cap: int | None = CAP, format: str = "trl"
) -> tuple[Iterator[Document], PairCounts]:
    """Pairs of every group, streaming: the counts fill while the rows are consumed.

    Args:
        run: a run folder.
        phase: a phase or a family of phases; ``None`` takes all but the held-out measurements.
        cap: pairs a group, at least 1, or ``None`` for all of them.
        format: ``trl`` or ``openai``.

    Raises:
        InputError: unknown format, cap below 1.
    """
    style = parse_format(format)
    check_cap(cap)
    counts = PairCounts()

    def rows() -> Iterator[Document]:
        for members in groups(run, phase):
            for chosen, rejected in group_pairs(members, counts, cap):
                yield preference_row(
                    chosen.rollout.prompt, chosen.rollout.completion, rejected.rollout.completion, style
                )

    return rows(), counts


def group_pairs(members: Sequence[Row], counts: PairCounts, cap: int | None = CAP) -> list[tuple[Row, Row]]:
    """The pairs of one group, most different attempts first; adds to ``counts``."""
    chosen = spread([row for row in members if usable(row) and exemplary(row)])
    wrong = [row for row in members if usable(row) and not row.record.verdict.correct]
    rejected = spread([row for row in wrong if is_rejected(row)])
    counts.groups += 1
    counts.invalid += sum(row.record.verdict.outcome is Outcome.INVALID for row in members)
    counts.barred += sum(map(barred, members))
    counts.near += len(wrong) - len(rejected)
    if not chosen or not rejected:
        counts.no_chosen += not chosen
        counts.no_rejected += bool(chosen)
        return []
    different = [
        (good, bad) for good, bad in _diagonals(chosen, rejected) if good.rollout.completion != bad.rollout.completion
    ]
    pairs = list(islice(different, cap))
    counts.identical += len(chosen) * len(rejected) - len(different)
    counts.capped += len(different) - len(pairs)
    counts.pairs += len(pairs)
    counts.contrast += bool(pairs)
    counts.no_rejected += not pairs
    return pairs


def is_rejected(row: Row) -> bool:
    """Whether an attempt that is not correct is wrong enough to be the rejected side (a chosen one scores 1)."""
    score = row.record.verdict.score
    return score is not None and score <= 1 - MARGIN


def check_cap(cap: int | None) -> None:
    """Refuse a cap that would silently give nothing."""
    if cap is not None and cap < 1:
        raise InputError(f"must be at least 1, not {cap}", field="cap")


def _diagonals(chosen: Sequence[Row], rejected: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """The cross product, every pair once, in an order whose beginning uses every attempt about equally often.

    Step t pairs t mod C with (t + t div lcm(C, R)) mod R: along a diagonal both sides advance; after lcm(C, R) steps
    the diagonal closes and the next one begins (there are gcd(C, R) of them).
    """
    lap = math.lcm(len(chosen), len(rejected))
    for step in range(len(chosen) * len(rejected)):
        yield chosen[step % len(chosen)], rejected[(step + step // lap) % len(rejected)]
