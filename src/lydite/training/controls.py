"""Controls: what training sees instead of the true reward, to learn what an improvement owes to it.

A result counts only if the true reward beats the random one by more than the paired interval (Spurious rewards, arXiv
2506.10947: on some models random rewards improve a benchmark too). The ledger keeps the true verdict beside the
reward that training saw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from lydite.errors import InputError
from lydite.flag import Flag
from lydite.reward import RewardScheme
from lydite.task import Task
from lydite.verdict import Outcome, Verdict

Kind = Literal["none", "random", "format_only", "shuffled", "flip", "false_positives", "false_negatives"]
FLIPS = ("flip", "false_positives", "false_negatives")
"""Kinds with a probability."""


@dataclass(frozen=True)
class Control:
    """One control.

    Attributes:
        kind: ``none`` (the true reward), ``random`` (a fair coin, 1 or 0), ``format_only`` (1 when an answer
            could be extracted, right or wrong), ``shuffled`` (judged by the checker of another task of the same kind),
            ``flip`` (right and wrong exchanged with probability ``p``), ``false_positives`` (what is not correct is
            rewarded as if it were, with probability ``p``), ``false_negatives`` (the other way round).
        p: probability of a flip.
    """

    kind: Kind = "none"
    p: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Control:
        """Read ``none``, ``random``, ``format_only``, ``shuffled``, ``flip:P``, ``false_positives:P`` or
        ``false_negatives:P``.

        Raises:
            ValueError: anything else.
        """
        if text in ("none", "random", "format_only", "shuffled"):
            return cls(kind=text)  # type: ignore[arg-type]
        name, _, number = text.partition(":")
        if name in FLIPS:
            try:
                p = float(number)
            except ValueError:
                p = -1.0
            if 0 <= p <= 1:
                return cls(kind=name, p=p)  # type: ignore[arg-type]
            raise ValueError(f"{name} needs a probability between 0 and 1, as in {name}:0.2, not {number!r}")
        known = f"none, random, format_only, shuffled, {', '.join(f'{name}:P' for name in FLIPS)}"
        raise ValueError(f"unknown control {text!r}: {known}")

    def __str__(self) -> str:
        return f"{self.kind}:{self.p:g}" if self.kind in FLIPS else self.kind

    def reward(
        self,
        reward: float | None,
        *,
        seed: int,
        rollout: str,
        verdict: Verdict,
        flags: tuple[Flag, ...] = (),
        scheme: RewardScheme | None = None,
        elsewhere: float | None = None,
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
            elsewhere: the reward by another task's checker (see ``exchanged``).
        """
        if self.kind == "none" or verdict.outcome is Outcome.INVALID or verdict.score is None:
            return reward
        if self.kind == "random":
            return float(_uniform("random", seed, rollout) < 0.5)
        if self.kind == "format_only":
            return float(verdict.outcome is not Outcome.UNPARSEABLE and verdict.extracted is not None)
        if self.kind == "shuffled":
            return elsewhere
        spared = {"false_positives": verdict.correct, "false_negatives": not verdict.correct}
        if spared.get(self.kind, False) or _uniform("flip", seed, rollout) >= self.p:
            return reward
        score = {"false_positives": 1.0, "false_negatives": 0.0}.get(self.kind, 1 - verdict.score)
        flipped = Verdict.of(score, "flipped", verdict.verifier)
        return (scheme or RewardScheme()).reward(flipped, flags)


def exchanged(tasks: Sequence[Task], seed: int) -> dict[str, Task]:
    """For each task, by its id, a task with the same prompt and the checker of another one of its kind.

    In the order of a hash of (seed, id), each gets the checker of the next one whose configuration is another. Two
    tasks with one and the same answer would not notice an exchange.

    Raises:
        InputError: all tasks of a kind are checked alike, or one is checked by the state of a workspace.
    """
    kinds: dict[str, list[Task]] = {}
    for task in tasks:
        if task.env != "none":
            raise InputError(
                f"{task.id} is judged by its workspace, where another task's checker means nothing",
                field="control",
                remedy="use random, format_only or flip:P",
            )
        kinds.setdefault(task.checker.type, []).append(task)
    made: dict[str, Task] = {}
    for kind, some in kinds.items():
        some.sort(key=lambda task: _uniform("shuffled", seed, task.id))
        for at, task in enumerate(some):
            after = (some[(at + step) % len(some)] for step in range(1, len(some)))
            other = next((one for one in after if one.checker != task.checker), None)
            if other is None:
                raise InputError(
                    f"all {kind} tasks are checked alike", field="control", remedy="shuffled needs different answers"
                )
            made[task.id] = msgspec.structs.replace(task, checker=other.checker, solution=None)
    return made


def _uniform(what: str, seed: int, rollout: str) -> float:
    """A number in [0, 1), a function of its arguments only."""
    word = hashlib.sha256(f"{what}\0{seed}\0{rollout}".encode()).digest()
    return int.from_bytes(word[:8]) / 2**64
