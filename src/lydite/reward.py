"""From verdicts to rewards, and from a group's rewards to advantages.

Why a wrong answer costs 0.1 and not 1.0: with penalty c an attempt at success rate p pays off when p - c(1 - p) > 0,
that is p > c / (1 + c): 9 % at c = 0.1, 50 % at c = 1. An early policy sits below 50 % nearly everywhere, so at c = 1
it learns to refuse, hedge or shorten. At c = 0 a wrong answer costs as much as none and nothing pushes against
guessing.

The arithmetic is about rewards as they are: with partial scores, a format term, or advantages that are not divided by
the group's standard deviation (Dr. GRPO). Where they are divided, a group of right and wrong answers alone has the same
advantages under every penalty.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Literal

import msgspec

from lydite.flag import Flag
from lydite.verdict import Outcome, Verdict

TRL_EPS = 1e-4
"""Added to the standard deviation before dividing by it, as TRL does."""


class Preset(StrEnum):
    """How a verdict becomes a number. The first is the default."""

    ASYMMETRIC = "asymmetric"  # correct +1.0; incorrect and unparseable -0.1; partial -0.1 + 1.1 * score
    BINARY = "binary"  # correct 1, everything else 0
    FRACTIONAL = "fractional"  # the score itself


class Flagged(StrEnum):
    """What a sample with a barring flag earns."""

    KEEP = "keep"  # its reward stands
    MASK = "mask"  # no reward: it leaves the group's baseline, as an invalid one does
    FLOOR = "floor"  # the reward of a wrong answer


class RewardScheme(msgspec.Struct, frozen=True, kw_only=True):
    """Verdict and flags to a scalar, or ``None`` where there is nothing to learn from.

    ``format_weight`` pays separately for a well-formed attempt (``format_score`` in [0, 1]). It must stay below the gap
    between a right and a wrong answer, so that format can never outweigh correctness: a wrong answer in perfect form
    always earns less than a right one in none.

    Raises:
        ValueError: for a ``format_weight`` outside [0, gap).
    """

    preset: Preset = Preset.ASYMMETRIC
    format_weight: float = 0.0
    flagged: Flagged = Flagged.KEEP

    def __post_init__(self) -> None:
        gap = self._base(1.0) - self._base(0.0)
        if not 0 <= self.format_weight < gap:
            raise ValueError(
                f"format_weight must be in [0, {gap:g}) under preset {self.preset}, not {self.format_weight:g}:"
                " a larger one lets format outweigh correctness"
            )

    def _base(self, score: float) -> float:
        if self.preset is Preset.BINARY:
            return 1.0 if score == 1 else 0.0
        if self.preset is Preset.FRACTIONAL:
            return score
        return 1.0 if score == 1 else -0.1 + 1.1 * score

    def reward(self, verdict: Verdict, flags: Iterable[Flag] = (), format_score: float = 0.0) -> float | None:
        """The scalar for one sample; ``None`` (never 0) where the verdict is invalid or the flag masks it."""
        if verdict.outcome is Outcome.INVALID or verdict.score is None:
            return None
        score = verdict.score
        if self.flagged is not Flagged.KEEP and any(flag.bars for flag in flags):
            if self.flagged is Flagged.MASK:
                return None
            score = 0.0
        base = self._base(score)
        return base + self.format_weight * format_score if self.format_weight else base


class Signal(StrEnum):
    """What a group can teach."""

    MIXED = "mixed"
    ALL_CORRECT = "all_correct"
    ALL_WRONG = "all_wrong"
    INVALID = "invalid"  # no attempt could be judged


def signal(verdicts: Iterable[Verdict]) -> Signal:
    """Which kind of group this is, invalid attempts left aside. Different partial scores count as mixed."""
    scores = {verdict.score for verdict in verdicts if verdict.score is not None}
    if not scores:
        return Signal.INVALID
    if len(scores) > 1:
        return Signal.MIXED
    return Signal.ALL_CORRECT if scores == {1} else Signal.ALL_WRONG


class GroupStats(msgspec.Struct, frozen=True, kw_only=True):
    """Statistics of one group's rewards; ``None`` entries are counted and otherwise left out."""

    n: int
    invalid: int
    mean: float | None
    std: float | None
    zero_std: bool


def group_stats(
    rewards: Sequence[float | None], *, std: Literal["sample", "population"] = "sample", tolerance: float = 1e-6
) -> GroupStats:
    """Mean and standard deviation of the rewards that exist."""
    kept = [reward for reward in rewards if reward is not None]
    mean = math.fsum(kept) / len(kept) if kept else None
    spread = _std(kept, std) if kept else None
    return GroupStats(
        n=len(rewards),
        invalid=len(rewards) - len(kept),
        mean=mean,
        std=spread,
        zero_std=spread is None or spread <= tolerance,
    )


def _std(values: Sequence[float], kind: Literal["sample", "population"]) -> float:
    count = len(values) - (kind == "sample")
    if count <= 0:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / count)


def advantages(
    groups: Sequence[Sequence[float | None]],
    *,
    scale: Literal["group", "batch", "none"] = "group",
    std: Literal["sample", "population"] = "sample",
    eps: float = TRL_EPS,
) -> list[list[float]]:
    """Group-relative advantages A_i = (r_i - mean) / (std + eps) (GRPO, arXiv 2402.03300).

    The mean is always that of the sample's own group, over the rewards that exist; a ``None`` reward gets advantage 0.

    Args:
        groups: rewards, one sequence per group.
        scale: divide by the standard deviation of the group, of the whole batch, or not at all (Dr. GRPO, 2503.20783).
        std: ``sample`` (divides by n - 1, as TRL and verl) or ``population``: [1, 1, 0, 0] gives ±0.866 or ±1.
        eps: added to the standard deviation.
    """
    everything = [reward for group in groups for reward in group if reward is not None]
    batch_std = _std(everything, std) if scale == "batch" else 0.0
    result: list[list[float]] = []
    for group in groups:
        kept = [reward for reward in group if reward is not None]
        mean = math.fsum(kept) / len(kept) if kept else 0.0
        divisor = 1.0 if scale == "none" else (batch_std if scale == "batch" else _std(kept, std)) + eps
        result.append([0.0 if reward is None else (reward - mean) / divisor for reward in group])
    return result


def frac_reward_zero_std(groups: Sequence[Sequence[float | None]], *, tolerance: float = 1e-6) -> float:
    """Share of groups whose rewards do not differ: they give no gradient. 0 groups give 0.0."""
    if not groups:
        return 0.0
    return sum(group_stats(group, tolerance=tolerance).zero_std for group in groups) / len(groups)
