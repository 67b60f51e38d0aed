"""How fast records of about 1 KB are appended in group commit, verified, read back, proved, replayed and rescored.

    python benchmarks/ledger.py [--records 200000] [--batch 2048] [--folder DIR]

JSON on standard output, a table on standard error. Rates are given per second of wall time and per second of CPU time:
on a busy machine only the second one means something. "bare" is the same number of bytes written and synced in the same
steps, without encoding, hashing or a chain: what the disk alone allows. "replay" and "rescore" derive verdicts of the
checker math from worked answers; "replay code" those of the checker code, each in the sandbox, beside "code", the same
checks on their own (their processor time is in other processes: only wall time means something).
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from lydite.ledger import Graded, RunFolder, verify_run
from lydite.ledger.flips import flips
from lydite.ledger.proof import prove
from lydite.ledger.replay import Match, replay
from lydite.rollout import Message, Rollout
from lydite.sampling import Judge, rescore
from lydite.task import Checker, Task
from lydite.verdict import Verdict

TASKS = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--verdicts", type=int, default=20_000, help="math verdicts to replay and rescore")
    parser.add_argument("--programs", type=int, default=200, help="code verdicts to replay; 0 leaves them out")
    parser.add_argument("--batch", type=int, default=2048, help="records in one group commit")
    parser.add_argument("--folder", type=Path, help="where to write (default: the system's temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        result = measure(Path(folder), options.records, options.batch)
        result["rates"] |= measure_verdicts(Path(folder), options.verdicts)
        if options.programs:
            result["rates"] |= measure_programs(Path(folder), options.programs)
    print(json.dumps(result))
    table = Table("", "per second", "per CPU second")
    for name, rate in result["rates"].items():
        table.add_row(name, f"{rate['wall']:,.0f}", f"{rate['cpu']:,.0f}")
    Console(stderr=True).print(table)


def measure(folder: Path, records: int, batch: int) -> dict[str, Any]:
    path = folder / "run"
    tasks = [make_task(number) for number in range(TASKS)]
    graded = [make_graded(tasks[number % TASKS], number) for number in range(batch)]
    commits = max(1, records // batch)
    records = commits * batch
    rates = {}
    with RunFolder.create(path, kind="benchmark", settings={}, tasks=tasks) as run:
        rates["append"] = timed(records, lambda: [run.append(graded) for _ in range(commits)])
        run.finish()
    sizes = {name: (path / name).stat().st_size // records for name in ("ledger.jsonl", "rollouts.jsonl")}
    rates["bare"] = timed(records, lambda: bare(folder, [size * batch for size in sizes.values()], commits))
    rates["verify"] = timed(records, lambda: check(path, records))
    rates["rows"] = timed(records, lambda: sum(1 for _ in RunFolder.open(path).rows()))
    rates["prove"] = timed(1, lambda: prove(RunFolder.open(path), graded[0].rollout.id))
    return {"records": records, "batch": batch, "bytes_per_record": sizes, "rates": rates}


def measure_verdicts(folder: Path, verdicts: int) -> dict[str, dict[str, float]]:
    """Replay and rescoring of math."""
    path, judge = folder / "math", Judge()
    tasks = [make_task(number) for number in range(TASKS)]
    each = max(1, verdicts // TASKS)
    with RunFolder.create(path, kind="benchmark", settings={}, tasks=tasks) as run:
        for task in tasks:
            answers = [make_graded(task, number, answer=number % 3).rollout for number in range(each)]
            run.append([judge.judge(rollout, task) for rollout in answers])
        run.finish()
    count = each * TASKS
    return {
        "replay": timed(count, lambda: replayed(path, count)),
        "rescore": timed(count, lambda: rescore(path, lambda task: task, {}, name="again")),
        "flips": timed(count, lambda: sum(1 for _ in flips(RunFolder.open(path), "again"))),
    }


def measure_programs(folder: Path, programs: int) -> dict[str, dict[str, float]]:
    """Replay of code, and the same checks without a ledger."""
    path, judge = folder / "code", Judge()
    tests = [{"call": "add", "args": [number, 2], "expected": number + 2} for number in range(5)]
    task = Task(
        id="add",
        prompt=(Message(role="user", content="Add two numbers."),),
        checker=Checker(type="code", config={"tests": tests}),
    )
    rollouts = [
        Rollout(
            id=f"sample/add/{number}",
            task=task.id,
            task_digest=task.digest,
            index=number,
            prompt=task.prompt,
            completion=(
                Message(role="assistant", content=f"```python\ndef add(a, b):\n    return a + b + {number % 2}\n```"),
            ),
        )
        for number in range(programs)
    ]
    graded = [judge.judge(rollout, task) for rollout in rollouts]
    with RunFolder.create(path, kind="benchmark", settings={}, tasks=[task]) as run:
        run.append(graded)
        run.finish()
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as threads:
        alone = timed(programs, lambda: list(threads.map(lambda rollout: judge.judge(rollout, task), rollouts)))
    return {"code": alone, "replay code": timed(programs, lambda: replayed(path, programs))}


def replayed(path: Path, count: int) -> None:
    same = sum(item.match is Match.SAME for item in replay(RunFolder.open(path)))
    assert same == count, (same, count)


def timed(records: int, work: Callable[[], object]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {"wall": records / (time.perf_counter() - wall), "cpu": records / max(1e-9, time.process_time() - cpu)}


def bare(folder: Path, sizes: list[int], commits: int) -> None:
    descriptors = [os.open(folder / f"bare{size}", os.O_WRONLY | os.O_CREAT | os.O_APPEND) for size in sizes]
    blocks = [b"x" * size for size in sizes]
    for _ in range(commits):
        for descriptor, block in zip(descriptors, blocks, strict=True):
            os.write(descriptor, block)
            os.fsync(descriptor)
    for descriptor in descriptors:
        os.close(descriptor)


def check(path: Path, records: int) -> None:
    found = verify_run(path)
    assert found.problem is None
    assert found.records == records


def make_task(number: int) -> Task:
    return Task(
        id=f"t{number}",
        prompt=(Message(role="user", content=f"What is {number} + 1? " + "Think about it. " * 10),),
        checker=Checker(type="math", config={"answer": str(number + 1)}),
    )


def make_graded(task: Task, index: int, answer: int = 7) -> Graded:
    work = f"The number after {task.id[1:]} is found by counting on by one. " * 7
    return Graded(
        rollout=Rollout(
            id=f"sample/{task.id}/{index}",
            task=task.id,
            task_digest=task.digest,
            index=index,
            seed=1 << 62,
            policy="builtin:tiny@0123456789abcdef",
            prompt=task.prompt,
            completion=(Message(role="assistant", content=work + f"\\boxed{{{answer}}}"),),
            prompt_tokens=40,
            completion_tokens=120,
        ),
        # The detail makes a record of about 1 KB.
        verdict=Verdict.of(1.0, "correct", "math@1", extracted="7", detail="as recorded " * 24),
        reward=1.0,
        scheme="asymmetric+format=0+flagged=keep",
        verifier_source="f" * 64,
        seconds=0.0001,
    )


if __name__ == "__main__":
    main()
