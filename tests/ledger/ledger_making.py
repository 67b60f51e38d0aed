"""Small, real records for the ledger's tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lydite.ledger import Graded, RunFolder
from lydite.rollout import Message, Rollout
from lydite.task import Checker, Task
from lydite.verdict import Verdict

SETTINGS = {"policy": "scripted", "n": 2, "temperature": 1.0}


def make_task(number: int) -> Task:
    return Task(
        id=f"t{number}",
        prompt=(Message(role="user", content=f"What is {number} + 1?"),),
        checker=Checker(type="exact", config={"answer": str(number + 1)}),
        difficulty="level-1",
        split="train",
    )


TASKS = tuple(make_task(number) for number in range(4))


def grade(task: Task, index: int, *, phase: str = "sample") -> Graded:
    right = index % 2 == 0
    text = task.checker.config["answer"] if right else "no idea – ‽"
    return Graded(
        rollout=Rollout(
            id=f"{phase}/{task.id}/{index}",
            task=task.id,
            task_digest=task.digest,
            phase=phase,
            index=index,
            seed=index,
            policy="scripted",
            prompt=task.prompt,
            completion=(Message(role="assistant", content=text),),
        ),
        verdict=Verdict.of(float(right), "correct" if right else "wrong", "exact@1", extracted=text),
        reward=1.0 if right else -0.1,
        scheme="asymmetric+format=0+flagged=keep",
        verifier_source="0" * 64,
        seconds=0.001,
    )


def grades(tasks: Iterable[Task] = TASKS, n: int = 2, *, phase: str = "sample") -> list[Graded]:
    return [grade(task, index, phase=phase) for task in tasks for index in range(n)]


def make_run(path: Path, *, state: str | None = "complete") -> Path:
    """A run with records of two attempts at each of four tasks; without a state it is closed unfinished."""
    run = RunFolder.create(path, kind="sample", settings=SETTINGS, tasks=TASKS)
    everything = grades()
    run.append(everything[:3])
    run.append(everything[3:])
    if state is not None:
        run.finish(state)
    run.close()
    return path
