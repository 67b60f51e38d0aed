"""Rollouts a second of the sampling engine with an instant policy, and the memory it needs for few and for many.

    python benchmarks/sampling.py [--small 10000] [--large 300000] [--n 4] [--folder DIR]

Each size runs in a process of its own: tasks with the math checker, answers from a function, verification, flags,
rewards, samples and ledger on disk. A second process resumes the finished run, then one verifies it: peak memory of
each.
JSON on standard output, a table on standard error. On a busy machine only rates per CPU second mean something.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from lydite.ledger import RunFolder, verify_run
from lydite.policies.protocol import Prompt, SamplingParams
from lydite.policies.scripted import ScriptedPolicy
from lydite.rollout import Message
from lydite.sampling import Judge, sample
from lydite.task import Checker, Task


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=300_000)
    parser.add_argument("--n", type=int, default=4, help="attempts per task")
    parser.add_argument("--folder", type=Path, help="where to write (default: the system's temporary folder)")
    parser.add_argument("--child", nargs=4, metavar=("STEP", "PATH", "TASKS", "N"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        step, path, tasks, n = options.child
        print(json.dumps(child(step, Path(path), int(tasks), int(n))))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        result = {
            name: {step: call(step, Path(folder) / name, size // options.n, options.n) for step in STEPS}
            for name, size in (("small", options.small), ("large", options.large))
        }
    result["memory_ratio"] = {
        step: result["large"][step]["peak_mb"] / result["small"][step]["peak_mb"] for step in STEPS
    }
    print(json.dumps(result))
    table = Table("", "rollouts", "per second", "per CPU second", "peak MB")
    for name in ("small", "large"):
        for step, got in result[name].items():
            cells = (f"{got[key]:,.0f}" for key in ("rollouts", "per_second", "per_cpu_second", "peak_mb"))
            table.add_row(f"{step} ({name})", *cells)
    Console(stderr=True).print(table)


STEPS = ("sample", "resume", "verify")


def call(step: str, path: Path, tasks: int, n: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", step, str(path), str(tasks), str(n)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def child(step: str, path: Path, tasks: int, n: int) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    rollouts = verify_run(path).records if step == "verify" else asyncio.run(session(path, tasks, n))
    assert rollouts == tasks * n
    return {
        "rollouts": rollouts,
        "per_second": rollouts / (time.perf_counter() - wall),
        "per_cpu_second": rollouts / (time.process_time() - cpu),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


async def session(path: Path, tasks: int, n: int) -> int:
    with RunFolder.create(path, kind="benchmark", settings={"n": n}, tasks=make_tasks(tasks)) as run:
        totals = await sample(
            run.tasks(),
            ScriptedPolicy(answer, batch=16, concurrency=8),
            run,
            phase="sample",
            n=n,
            params=SamplingParams(),
            seed=0,
            judge=Judge(),
        )
        run.finish()
    assert 0 < totals.correct < totals.rollouts
    return totals.rollouts


def make_tasks(count: int) -> Iterator[Task]:
    for number in range(count):
        yield Task(
            id=f"t{number}",
            prompt=(Message(role="user", content=f"What is {number} + 17? Put the answer in a box."),),
            checker=Checker(type="math", config={"answer": str(number + 17)}),
        )


def answer(prompt: Prompt, seed: int, index: int) -> str:
    number = prompt[0].content.split()[2]
    total = int(number) + 17 + (seed & 1)
    return f"We have {number} and add 17 to it, first the 7, then the 10, so that we arrive at \\boxed{{{total}}}."


if __name__ == "__main__":
    main()
