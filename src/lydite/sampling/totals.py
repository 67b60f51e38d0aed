"""What a phase of sampling amounts to."""

from __future__ import annotations

from typing import Any

import msgspec

from lydite.flag import Flag
from lydite.reward import Signal, signal
from lydite.rollout import FinishReason, Rollout
from lydite.verdict import Outcome, Verdict


class SampleTotals(msgspec.Struct, kw_only=True):
    """Counts over all attempts of one phase, those of earlier sessions included.

    Attributes:
        rollouts: attempts that have a record.
        resumed: how many of them an earlier session left.
        outcomes: attempts per outcome.
        invalid_reasons: why attempts were invalid, with counts.
        groups: complete groups per signal (mixed, all_correct, all_wrong, invalid).
        flagged: attempts with at least one flag.
        truncated: attempts that ended at the token budget.
        prompt_tokens, completion_tokens: sums over the attempts whose policy reports them.
        uncounted: attempts whose policy does not report completion tokens.
        seconds: wall time of this session.
        verify_seconds: time spent in verifiers, this session.
        head: the ledger's head at the end.
    """

    rollouts: int = 0
    resumed: int = 0
    outcomes: dict[str, int] = msgspec.field(default_factory=lambda: {outcome.value: 0 for outcome in Outcome})
    invalid_reasons: dict[str, int] = {}
    groups: dict[str, int] = msgspec.field(default_factory=lambda: {kind.value: 0 for kind in Signal})
    flagged: int = 0
    truncated: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0
    seconds: float = 0.0
    verify_seconds: float = 0.0
    head: str = ""

    @property
    def correct(self) -> int:
        return self.outcomes[Outcome.CORRECT]

    @property
    def invalid(self) -> int:
        return self.outcomes[Outcome.INVALID]

    @property
    def correct_rate(self) -> float | None:
        """Correct attempts over those that could be judged; ``None`` when there are none."""
        judged = self.rollouts - self.invalid
        return self.correct / judged if judged else None

    def summary(self) -> dict[str, Any]:
        """Plain JSON, with the rates over both denominators: attempts that could be judged, and all."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        plain["correct_rate"] = self.correct_rate
        plain["correct_rate_of_all"] = self.correct / self.rollouts if self.rollouts else None
        return plain


class Tally:
    """Adds attempts up, in any order; holds verdicts of incomplete groups only.

    Args:
        n: attempts per group.
    """

    def __init__(self, n: int) -> None:
        self.totals = SampleTotals()
        self._n = n
        self._open: dict[str, list[Verdict]] = {}

    def add(self, rollout: Rollout, verdict: Verdict, flags: tuple[Flag, ...]) -> None:
        """Count one attempt; its group's signal when it is the last of the group."""
        totals = self.totals
        totals.rollouts += 1
        totals.outcomes[verdict.outcome] += 1
        if verdict.outcome is Outcome.INVALID:
            totals.invalid_reasons[verdict.reason] = totals.invalid_reasons.get(verdict.reason, 0) + 1
        totals.flagged += bool(flags)
        totals.truncated += rollout.finish is FinishReason.LENGTH
        totals.prompt_tokens += rollout.prompt_tokens or 0
        if rollout.completion_tokens is None:
            totals.uncounted += 1
        else:
            totals.completion_tokens += rollout.completion_tokens
        group = self._open.setdefault(rollout.task, [])
        group.append(verdict)
        if len(group) == self._n:
            totals.groups[signal(group)] += 1
            del self._open[rollout.task]
