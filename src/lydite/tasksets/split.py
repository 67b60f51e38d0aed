"""Deterministic train/eval split: a task's side follows from its own prompt and the seed, from nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal

import msgspec

from lydite.errors import InputError
from lydite.task import Task

EVAL_FRACTION = 0.2

Side = Literal["train", "eval"]


def side(task: Task, *, eval_fraction: float = EVAL_FRACTION, seed: int = 0) -> Side:
    """Which side a task lies on. Adding, removing or moving other tasks changes nothing; equal prompts never part."""
    key = f"{seed}\n{' '.join(task.prompt_text.split())}".encode("utf-8", "replace")
    place = int.from_bytes(hashlib.sha256(key).digest()[:8]) / 2**64
    return "eval" if place < eval_fraction else "train"


def split_tasks(
    tasks: Iterable[Task], eval_fraction: float = EVAL_FRACTION, seed: int = 0
) -> tuple[list[Task], list[Task]]:
    """Tasks to (train, eval), each marked with its split.

    Raises:
        InputError: for a fraction outside [0, 1].
    """
    if not 0 <= eval_fraction <= 1:
        raise InputError(f"must be between 0 and 1, not {eval_fraction}", field="eval_fraction")
    sides: dict[Side, list[Task]] = {"train": [], "eval": []}
    for task in tasks:
        where = side(task, eval_fraction=eval_fraction, seed=seed)
        sides[where].append(msgspec.structs.replace(task, split=where))
    return sides["train"], sides["eval"]
