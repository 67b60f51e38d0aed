"""Rows made in memory, for tests of what is computed from a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lydite.flag import Flag
from lydite.ledger.record import Record
from lydite.reward import RewardScheme
from lydite.rollout import FinishReason, Message, Rollout
from lydite.verdict import Verdict

BAR = Flag(detector="no_visible_work", version=1, bars=True)
HINT = Flag(detector="hint", version=1, bars=False)


@dataclass(frozen=True)
class MemoryRow:
    """Stands for ``lydite.ledger.Row``."""

    rollout: Rollout
    record: Record
    seq: int


@dataclass(frozen=True)
class MemoryRun:
    """Stands for a run folder where only its rows are asked for."""

    content: tuple[MemoryRow, ...]

    def rows(self, phase: str | None = None) -> Iterator[Any]:
        return (row for row in self.content if phase is None or row.rollout.phase == phase)


def verdict_of(score: float | None) -> Verdict:
    """The verdict for a score; ``None`` is an invalid one."""
    if score is None:
        return Verdict.invalid("verifier_error", "math@1")
    return Verdict.of(score, "correct" if score == 1 else "wrong_answer", "math@1")


def make_row(
    task: str,
    index: int,
    score: float | None,
    *,
    phase: str = "sample",
    text: str | None = None,
    flags: tuple[Flag, ...] = (),
    verdict: Verdict | None = None,
    completion: tuple[Message, ...] | None = None,
    **fields: Any,
) -> Any:
    """One attempt at ``task`` that got ``score``."""
    said = f"{phase} {task} attempt {index}" if text is None else text
    rollout = Rollout(
        **{
            "id": f"{phase}/{task}/{index}",
            "task": task,
            "task_digest": f"digest of {task}",
            "phase": phase,
            "index": index,
            "policy": "scripted",
            "prompt": (Message(role="user", content=f"Do {task}."),),
            "completion": (Message(role="assistant", content=said),) if completion is None else completion,
            "finish": FinishReason.STOP,
            "prompt_tokens": 7,
            "completion_tokens": 3,
            **fields,
        }
    )
    judged = verdict or verdict_of(score)
    record = Record(
        sample="0" * 64,
        rollout=rollout.id,
        task=task,
        task_digest=rollout.task_digest,
        policy=rollout.policy,
        verdict=judged,
        flags=flags,
        reward=RewardScheme().reward(judged, flags),
        scheme="asymmetric",
        verifier_source="abcdef0123456789",
        seconds=0.25,
        time=0.0,
    )
    return MemoryRow(rollout, record, 0)


def make_rows(scores: dict[str, Iterable[float | None]], **fields: Any) -> list[Any]:
    """Attempts at several tasks, by their scores."""
    return [
        make_row(task, index, score, **fields) for task, group in scores.items() for index, score in enumerate(group)
    ]


def make_run(scores: dict[str, Iterable[float | None]], **fields: Any) -> MemoryRun:
    """A run with those attempts."""
    return MemoryRun(tuple(make_rows(scores, **fields)))
