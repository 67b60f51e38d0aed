"""Small runs of real verdicts, for tests of rescoring, proofs and replay."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lydite.ledger import RunFolder
from lydite.rollout import Message, Rollout
from lydite.sampling import Judge
from lydite.task import Checker, Task

ANSWERS = ("The answer is {}.", "\\boxed{{{}}}", "no idea", "\\boxed{{-{}}}")
"""Of which the lenient extraction accepts two, and the strict one the second only."""

STRICT = {"type": "math", "config": {"extraction": "strict"}}


def math_task(number: int) -> Task:
    return Task(
        id=f"t{number}",
        prompt=(Message(role="user", content=f"What is {number} + 1?"),),
        checker=Checker(type="math", config={"answer": str(number + 1)}),
        metadata={"flags": {"no_visible_work": False}},
    )


def attempt(task: Task, index: int, phase: str = "sample") -> Rollout:
    text = ANSWERS[index % len(ANSWERS)].format(task.checker.config["answer"])
    return Rollout(
        id=f"{phase}/{task.id}/{index}",
        task=task.id,
        task_digest=task.digest,
        phase=phase,
        index=index,
        policy="scripted",
        prompt=task.prompt,
        completion=(Message(role="assistant", content=text),),
    )


MATH = tuple(math_task(number) for number in range(1, 4))


def judged_run(path: Path, tasks: Iterable[Task] = MATH, n: int = 4, state: str = "complete") -> Path:
    """A run of real verdicts, one commit a task."""
    tasks, judge = tuple(tasks), Judge()
    with RunFolder.create(path, kind="sample", settings={"n": n}, tasks=tasks) as run:
        for task in tasks:
            run.append([judge.judge(attempt(task, index), task) for index in range(n)])
        run.finish(state)
    return path
