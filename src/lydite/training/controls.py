"""Controls: what training sees instead of the true reward, to learn what an improvement owes to it.

A result counts only if the true reward beats the random one by more than the paired interval (Spurious rewards, arXiv
2506.10947: on some models random rewards improve a benchmark too). The ledger keeps the true verdict beside the
reward that training saw.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from lydite.flag import Flag
from lydite.reward import RewardScheme
from lydite.verdict import Outcome, Verdict


@dataclass(frozen=True)
class Control:
    """One control.

    Attributes:
        kind: ``none`` (the true reward), ``random`` (a fair coin, 1 or 0), ``format_only`` (1 when an answer
            could be extracted, right or wrong), ``flip`` (right and wrong exchanged with probability ``p``).
        p: probability of a flip.
    """

    kind: Literal["none", "random", "format_only", "flip"] = "none"
    p: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Control:
        """Read ``none``, ``random``, ``format_only`` or ``flip:P``.

        Raises:
            ValueError: anything else.
        """
        if text in ("none", "random", "format_only"):
            return cls(kind=text)  # type: ignore[arg-type]
        name, _, number = text.partition(":")
        if name == "flip":
            try:
                p = float(number)
            except ValueError:
                p = -1.0
            if 0 <= p <= 1:
                return cls(kind="flip", p=p)
            raise ValueError(f"flip needs a probability between 0 and 1, as in flip:0.2, not {number!r}")
        raise ValueError(f"unknown control {text!r}: none, random, format_only or flip:P")

    def __str__(self) -> str:
        return f"flip:{self.p:g}" if self.kind == "flip" else self.kind

    def reward(
        self,
        reward: float | None,
        *,
        seed: int,
        rollout: str,
        verdict: Verdict,
        flags: tuple[Flag, ...] = (),
        scheme: RewardScheme | None = None,
    ) -> float | None:
        """What training sees of one sample.

        Coins depend on (seed, rollout id) only: the same text twice gets two independent coins. An invalid sample has
        no reward under any control, since our own failures teach nothing.

        Args:
            reward: the true reward.
            seed: the run's seed.
            rollout: id of the rollout.
            verdict: the true verdict.
            flags: flags of the sample, for the reward of a flipped verdict.
            scheme: the scheme that made ``reward``, for the reward of a flipped verdict.
        """
        if self.kind == "none" or verdict.outcome is Outcome.INVALID or verdict.score is None:
            return reward
        if self.kind == "random":
            return float(_uniform("random", seed, rollout) < 0.5)
        if self.kind == "format_only":
            return float(verdict.outcome is not Outcome.UNPARSEABLE and verdict.extracted is not None)
        if _uniform("flip", seed, rollout) >= self.p:
            return reward
        flipped = Verdict.of(1 - verdict.score, "flipped", verdict.verifier)
        return (scheme or RewardScheme()).reward(flipped, flags)


def _uniform(what: str, seed: int, rollout: str) -> float:
    """A number in [0, 1), a function of its arguments only."""
    word = hashlib.sha256(f"{what}\0{seed}\0{rollout}".encode()).digest()
    return int.from_bytes(word[:8]) / 2**64
