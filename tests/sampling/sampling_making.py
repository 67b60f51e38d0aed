"""Tasks, a policy and a run for the engine's tests."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from lydite.ledger import RunFolder
from lydite.policies.protocol import Policy, Prompt, SamplingParams
from lydite.policies.scripted import ScriptedPolicy
from lydite.rollout import Message
from lydite.sampling import Judge, SampleTotals, sample
from lydite.task import Checker, Task

N = 3


def make_tasks(count: int) -> list[Task]:
    return [
        Task(
            id=f"t{number}",
            prompt=(Message(role="user", content=str(number)),),
            checker=Checker(type="exact", config={"answer": str(number)}),
        )
        for number in range(count)
    ]


def echo(prompt: Prompt, seed: int, index: int) -> str:
    """Right for an even seed; wrong answers show the seed, so that two attempts with the same seed are the same."""
    return prompt[0].content if seed % 2 == 0 else f"not {seed}"


def policy(batch: int = 2, concurrency: int = 2) -> ScriptedPolicy:
    return ScriptedPolicy(echo, batch=batch, concurrency=concurrency)


def run_sample(
    path: Path, tasks: list[Task], speaker: Policy | None = None, *, n: int = N, **options: Any
) -> SampleTotals:
    """One whole session: create or resume, sample, finish."""
    with RunFolder.create(path, kind="sample", settings={"n": n}, tasks=tasks) as run:
        totals = asyncio.run(
            sample(
                tasks,
                speaker or policy(),
                run,
                **{"phase": "sample", "n": n, "params": SamplingParams(), "seed": 7, "judge": Judge(), **options},
            )
        )
        if run.info.state != "complete":
            run.finish()
    return totals


def lines(path: Path) -> list[bytes]:
    return sorted((path / "rollouts.jsonl").read_bytes().splitlines())
