"""What the attempts of a group say together."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lydite.reward import Signal, group_stats


class Gathered:
    """Attempts at one task in one phase, as far as they are known."""

    __slots__ = ("flagged", "number", "outcomes", "phase", "rewards", "scores", "stage", "step", "task")

    def __init__(self, number: int, phase: str, task: str, stage: int | None, step: int | None) -> None:
        self.number, self.phase, self.task, self.stage, self.step = number, phase, task, stage, step
        self.outcomes: list[str] = []
        self.scores: list[float | None] = []
        self.rewards: list[float | None] = []
        self.flagged = 0

    def add(self, outcome: str, score: float | None, reward: float | None, flagged: bool) -> None:
        """One more attempt."""
        self.outcomes.append(outcome)
        self.scores.append(score)
        self.rewards.append(reward)
        self.flagged += flagged

    def row(self, run: int) -> tuple[Any, ...]:
        """In the order of the columns of the table ``groups``."""
        counts, stats = Counter(self.outcomes), group_stats(self.rewards)
        return (
            run, self.number, self.phase, self.stage, self.step, self.task, len(self.outcomes), counts["correct"],
            counts["partial"], counts["incorrect"], counts["unparseable"], counts["invalid"], stats.mean, stats.std,
            stats.n - stats.invalid, self.signal, self.flagged,
        )  # fmt: skip

    @property
    def signal(self) -> str:
        """As ``reward.signal`` has it."""
        scores = {score for score in self.scores if score is not None}
        if not scores:
            return Signal.INVALID.value
        if len(scores) > 1:
            return Signal.MIXED.value
        return Signal.ALL_CORRECT.value if scores == {1} else Signal.ALL_WRONG.value
