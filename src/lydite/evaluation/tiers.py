"""Tiers of the tasks of a run: too hard, in the band where a policy can learn, too easy; with intervals."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from lydite.errors import InputError
from lydite.evaluation.intervals import Interval, wilson

if TYPE_CHECKING:
    from lydite.ledger import Row, RunFolder


class Tier(StrEnum):
    """Where a task stands. ``unknown``: no attempt at it could be judged."""

    TOO_HARD = "too_hard"
    IN_BAND = "in_band"
    TOO_EASY = "too_easy"
    UNKNOWN = "unknown"


class Tiered(msgspec.Struct, frozen=True, kw_only=True):
    """One task.

    Attributes:
        task: its id.
        attempts: those that could be judged.
        correct: of these; a partial score is not correct.
        invalid: attempts that could not be judged.
        rate: correct / attempts.
        score: mean score, a partial one counted for what it is.
        interval: of the rate, Wilson's at 95 %.
        tier: by the rate.
        certain: the whole interval lies in the tier.
    """

    task: str
    attempts: int
    correct: int
    invalid: int = 0
    rate: float | None = None
    score: float | None = None
    interval: Interval | None = None
    tier: Tier = Tier.UNKNOWN
    certain: bool = False


def tiers(
    run: RunFolder,
    *,
    low: float = 0.1,
    high: float = 0.9,
    phases: Collection[str] | None = None,
    last: int | None = None,
) -> list[Tiered]:
    """How the tasks of a run stand, in the order of the run's tasks.

    Args:
        run: the run.
        low, high: ends of the band, which belong to it.
        phases: parts of the run that count, such as ``sample`` or ``train-1`` (all of its steps); all when not given.
        last: only the latest so many judged attempts of each task count, as a policy that learns changes.

    Raises:
        InputError: the band is empty, no attempt is in these parts, or a line is damaged.
    """
    if not 0 <= low <= high <= 1:
        raise InputError(f"from {low} to {high} there is no band", field="low", remedy="give 0 <= low <= high <= 1")
    scores: dict[str, list[float]] = {}
    correct: dict[str, list[bool]] = {}
    invalid: dict[str, int] = {}
    found: set[str] = set()
    for row in run.rows():
        part = _part(row)
        found.add(part)
        if phases is not None and part not in phases and row.rollout.phase not in phases:
            continue
        verdict, task = row.record.verdict, row.rollout.task
        if verdict.score is None:
            invalid[task] = invalid.get(task, 0) + 1
        else:
            scores.setdefault(task, []).append(verdict.score)
            correct.setdefault(task, []).append(verdict.correct)
    if not scores and not invalid:
        raise InputError(
            "holds no attempts" + (f" in {', '.join(sorted(phases))}" if phases else ""),
            path=run.path,
            remedy=f"it has {', '.join(sorted(found)) or 'none at all'}",
        )
    keep = -last if last else None
    return [
        _tiered(
            task.id, scores.get(task.id, [])[keep:], correct.get(task.id, [])[keep:], invalid.get(task.id, 0), low, high
        )
        for task in run.tasks()
        if task.id in scores or task.id in invalid or phases is None
    ]


def _part(row: Row) -> str:
    kind, _, rest = row.rollout.phase.partition("-")
    return f"train-{rest.partition('-')[0]}" if kind == "train" and rest else row.rollout.phase


def _tiered(task: str, scores: list[float], correct: list[bool], invalid: int, low: float, high: float) -> Tiered:
    if not scores:
        return Tiered(task=task, attempts=0, correct=0, invalid=invalid)
    right, total = sum(correct), len(scores)
    rate, around = right / total, wilson(right, total)
    if rate < low:
        tier, certain = Tier.TOO_HARD, around.high < low
    elif rate > high:
        tier, certain = Tier.TOO_EASY, around.low > high
    else:
        tier, certain = Tier.IN_BAND, low <= around.low and around.high <= high
    return Tiered(
        task=task, attempts=total, correct=right, invalid=invalid, rate=rate, score=sum(scores) / total,
        interval=around, tier=tier, certain=certain,
    )  # fmt: skip


def counts(found: Iterable[Tiered]) -> dict[str, int]:
    """How many tasks are in each tier."""
    total = dict.fromkeys(map(str, Tier), 0)
    for one in found:
        total[one.tier] += 1
    return total
