"""One pass over rows: counts per task, per group and per run. Memory grows with tasks and groups, never with text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lydite.evaluation.passk import pass_at_k
from lydite.reward import Signal, group_stats
from lydite.rollout import FinishReason
from lydite.verdict import Outcome

if TYPE_CHECKING:
    from lydite.ledger import Row


class TaskTally:
    """Attempts at one task: how many, how many valid, how many correct."""

    __slots__ = ("correct", "digest", "n", "valid")

    def __init__(self, digest: str) -> None:
        self.digest = digest
        self.n = self.valid = self.correct = 0

    def pass_at(self, k: int) -> float:
        """pass@k over the valid attempts."""
        return pass_at_k(self.valid, self.correct, k)


class Tally:
    """What one pass over rows counts.

    Attributes:
        tasks: per task id, in order of first appearance.
        groups: per (phase, task): scores and rewards of its attempts.
        outcomes, reasons, flags: how often each was seen.
        suspected: correct attempts that carry any flag.
        flagged: attempts that carry any flag.
        truncated: attempts that ended at the token limit.
        prompt_tokens, completion_tokens: sums over the attempts that report them (``counted`` of them).
        score_sum: over valid attempts.
        verify_seconds: time spent judging.
    """

    def __init__(self) -> None:
        self.tasks: dict[str, TaskTally] = {}
        self.groups: dict[tuple[str, str], GroupTally] = {}
        self.outcomes: Counter[Outcome] = Counter()
        self.reasons: Counter[str] = Counter()
        self.flags: Counter[str] = Counter()
        self.attempts = self.suspected = self.flagged = self.truncated = 0
        self.prompt_tokens = self.completion_tokens = self.counted = 0
        self.score_sum = self.verify_seconds = 0.0
        self.policies: set[str] = set()
        self.verifiers: set[str] = set()
        self.schemes: set[str] = set()

    @property
    def invalid(self) -> int:
        return self.outcomes[Outcome.INVALID]

    def named(self, outcome: str) -> int:
        """Attempts with the outcome of that name."""
        return self.outcomes[Outcome(outcome)]

    def add(self, row: Row) -> None:
        """Count one attempt."""
        rollout, record = row.rollout, row.record
        verdict = record.verdict
        task = self.tasks.get(rollout.task)
        if task is None:
            task = self.tasks[rollout.task] = TaskTally(rollout.task_digest)
        group = self.groups.get((rollout.phase, rollout.task))
        if group is None:
            group = self.groups[rollout.phase, rollout.task] = GroupTally()
        group.scores.append(verdict.score)
        group.rewards.append(record.reward)
        task.n += 1
        self.attempts += 1
        if verdict.score is not None:
            task.valid += 1
            task.correct += verdict.correct
            self.score_sum += verdict.score
        self.outcomes[verdict.outcome] += 1
        self.reasons[verdict.reason] += 1
        if record.flags:
            self.flagged += 1
            self.suspected += verdict.correct
            self.flags.update({flag.detector for flag in record.flags})
        self.truncated += rollout.finish is FinishReason.LENGTH
        if rollout.completion_tokens is not None:
            self.counted += 1
            self.completion_tokens += rollout.completion_tokens
            self.prompt_tokens += rollout.prompt_tokens or 0
        self.verify_seconds += record.seconds
        self.policies.add(rollout.policy)
        if record.verifier_source:  # not so where no verifier was asked, because the policy could not be
            self.verifiers.add(f"{verdict.verifier} {record.verifier_source[:12]}")
        self.schemes.add(record.scheme)


class GroupTally:
    """Scores and rewards of one group of attempts."""

    __slots__ = ("rewards", "scores")

    def __init__(self) -> None:
        self.scores: list[float | None] = []
        self.rewards: list[float | None] = []

    @property
    def signal(self) -> Signal:
        """The group's kind, as ``reward.signal`` says it of verdicts."""
        seen = {score for score in self.scores if score is not None}
        if not seen:
            return Signal.INVALID
        if len(seen) > 1:
            return Signal.MIXED
        return Signal.ALL_CORRECT if seen == {1.0} else Signal.ALL_WRONG

    @property
    def zero_std(self) -> bool:
        """Whether the rewards do not differ, so that the group gives no gradient."""
        return group_stats(self.rewards).zero_std


def tally(rows: Iterable[Row]) -> Tally:
    """Count rows in one pass."""
    counts = Tally()
    for row in rows:
        counts.add(row)
    return counts
