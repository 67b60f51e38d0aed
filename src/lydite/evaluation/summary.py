"""What a set of attempts says: rates with intervals, and everything that a reader needs in order to trust them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from lydite.errors import InputError
from lydite.evaluation.intervals import DRAWS, Method, mean_interval
from lydite.evaluation.passk import pass_at_k
from lydite.evaluation.tally import GroupTally, Tally, TaskTally, tally
from lydite.reward import Signal
from lydite.verdict import Outcome

if TYPE_CHECKING:
    from lydite.ledger import Row


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A mean over tasks with its 95 % interval. Rates are fractions."""

    value: float
    low: float
    high: float
    method: Method
    tasks: int


class PassAt(msgspec.Struct, frozen=True, kw_only=True):
    """pass@k under both denominators. The gap between the two is what invalid attempts could hide.

    Attributes:
        k: attempts allowed.
        excluded: invalid attempts left aside; tasks with fewer than k valid attempts are not in it. ``None`` when
            no task has k.
        left_out: how many tasks those are.
        as_wrong: every invalid attempt counted as a wrong answer, over all tasks.
    """

    k: int
    excluded: Estimate | None
    left_out: int
    as_wrong: Estimate


class GroupCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What the groups can teach.

    ``mixed`` groups have a gradient; ``frac_reward_zero_std`` is the share of groups whose rewards do not differ.
    """

    mixed: int
    all_correct: int
    all_wrong: int
    invalid: int
    frac_reward_zero_std: float

    @property
    def total(self) -> int:
        return self.mixed + self.all_correct + self.all_wrong + self.invalid


class Slice(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks of one difficulty."""

    tasks: int
    attempts: int
    pass_at: tuple[PassAt, ...]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A set of attempts in numbers. Rates are fractions of attempts, tokens and seconds are means per task.

    Attributes:
        attempts_per_task: least and greatest number of attempts that a task got.
        mean_score: over valid attempts (partial scores count); ``None`` when there are none.
        suspected_hacks: correct attempts that carry any flag.
        prompt_tokens, completion_tokens: ``None`` when the policy reports none.
        tokens_known: attempts that reported tokens.
        verify_seconds: spent judging, per task.
        draws, bootstrap_seed: of the intervals.
    """

    tasks: int
    attempts: int
    attempts_per_task: tuple[int, int]
    pass_at: tuple[PassAt, ...]
    mean_score: float | None
    outcomes: dict[str, int]
    reasons: dict[str, int]
    truncation_rate: float
    flagged_rate: float
    flags: dict[str, int]
    suspected_hacks: int
    prompt_tokens: float | None
    completion_tokens: float | None
    tokens_known: int
    verify_seconds: float
    groups: GroupCounts
    by_difficulty: dict[str, Slice]
    policies: tuple[str, ...]
    verifiers: tuple[str, ...]
    schemes: tuple[str, ...]
    draws: int
    bootstrap_seed: int

    def at(self, k: int) -> PassAt:
        """pass@k, which must be among the ks that were asked for."""
        return next(entry for entry in self.pass_at if entry.k == k)


def plain(summary: Summary) -> dict[str, Any]:
    """A summary as plain JSON values: an entry ``pass@k`` for each k, with ``value``, ``low`` and ``high`` (``null``
    where nothing was valid), then everything else by its own name.
    """
    rest = msgspec.to_builtins(summary)
    del rest["pass_at"]
    slices = {
        label: {"tasks": part.tasks, "attempts": part.attempts, **_plain_rates(part.pass_at)}
        for label, part in summary.by_difficulty.items()
    }
    return {**_plain_rates(summary.pass_at), **rest, "by_difficulty": slices}


def _plain_rates(entries: Iterable[PassAt]) -> dict[str, Any]:
    nothing = {"value": None, "low": None, "high": None, "method": None, "tasks": 0}
    return {
        f"pass@{entry.k}": {
            **(msgspec.to_builtins(entry.excluded) if entry.excluded else nothing),
            "left_out": entry.left_out,
            "invalid_as_wrong": msgspec.to_builtins(entry.as_wrong),
        }
        for entry in entries
    }


def summarise(
    rows: Iterable[Row],
    ks: Sequence[int] = (1,),
    *,
    difficulty: Mapping[str, str] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Summary:
    """Summarise attempts in one pass.

    Args:
        rows: attempts with their verdicts.
        ks: for which k to estimate pass@k.
        difficulty: task id to label, for slices; tasks without a label are in none.
        draws, seed: of the bootstrap.

    Raises:
        InputError: no rows, or some task has fewer attempts than a k.
    """
    return summarise_tally(tally(rows), ks, difficulty=difficulty, draws=draws, seed=seed)


def summarise_tally(
    counts: Tally,
    ks: Sequence[int] = (1,),
    *,
    difficulty: Mapping[str, str] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Summary:
    """``summarise`` of attempts that have been counted already."""
    if not counts.tasks:
        raise InputError("no attempts to summarise", remedy="sample some first")
    for k in ks:
        short = next((item for item in counts.tasks.items() if item[1].n < k), None)
        if short:
            raise InputError(
                f"pass@{k} needs {k} attempts at every task, and task {short[0]!r} has {short[1].n}",
                field="k",
                remedy="sample more attempts or lower k",
            )
    slices: dict[str, list[TaskTally]] = {}
    for task, label in (difficulty or {}).items():
        if label and task in counts.tasks:
            slices.setdefault(label, []).append(counts.tasks[task])
    everything = list(counts.tasks.values())
    sizes = [entry.n for entry in everything]
    number, attempts = len(everything), counts.attempts
    valid = attempts - counts.invalid
    return Summary(
        tasks=number,
        attempts=attempts,
        attempts_per_task=(min(sizes), max(sizes)),
        pass_at=tuple(_pass_at(everything, k, draws, seed) for k in ks),
        mean_score=counts.score_sum / valid if valid else None,
        outcomes={str(outcome): counts.outcomes[outcome] for outcome in Outcome},
        reasons=dict(counts.reasons.most_common()),
        truncation_rate=counts.truncated / attempts,
        flagged_rate=counts.flagged / attempts,
        flags=dict(counts.flags.most_common()),
        suspected_hacks=counts.suspected,
        prompt_tokens=counts.prompt_tokens / number if counts.counted else None,
        completion_tokens=counts.completion_tokens / number if counts.counted else None,
        tokens_known=counts.counted,
        verify_seconds=counts.verify_seconds / number,
        groups=group_counts(counts.groups.values()),
        by_difficulty={
            label: Slice(
                tasks=len(entries),
                attempts=sum(entry.n for entry in entries),
                pass_at=tuple(_pass_at(entries, k, draws, seed) for k in ks),
            )
            for label, entries in sorted(slices.items())
        },
        policies=tuple(sorted(counts.policies)),
        verifiers=tuple(sorted(counts.verifiers)),
        schemes=tuple(sorted(counts.schemes)),
        draws=draws,
        bootstrap_seed=seed,
    )


def group_counts(groups: Iterable[GroupTally]) -> GroupCounts:
    """How many groups are of which kind."""
    kinds: Counter[Signal] = Counter()
    zero = 0
    for group in groups:
        kinds[group.signal] += 1
        zero += group.zero_std
    return GroupCounts(
        mixed=kinds[Signal.MIXED],
        all_correct=kinds[Signal.ALL_CORRECT],
        all_wrong=kinds[Signal.ALL_WRONG],
        invalid=kinds[Signal.INVALID],
        frac_reward_zero_std=zero / kinds.total() if kinds else 0.0,
    )


def _pass_at(tasks: Sequence[TaskTally], k: int, draws: int, seed: int) -> PassAt:
    valid = [entry.pass_at(k) for entry in tasks if entry.valid >= k]
    return PassAt(
        k=k,
        excluded=_estimate(valid, draws, seed) if valid else None,
        left_out=len(tasks) - len(valid),
        as_wrong=_estimate([pass_at_k(entry.n, entry.correct, k) for entry in tasks], draws, seed),
    )


def _estimate(values: Sequence[float], draws: int, seed: int) -> Estimate:
    interval = mean_interval(values, draws=draws, seed=seed)
    return Estimate(
        value=math.fsum(values) / len(values),
        low=interval.low,
        high=interval.high,
        method=interval.method,
        tasks=len(values),
    )
