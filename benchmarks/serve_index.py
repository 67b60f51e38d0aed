"""The index of a service: rollouts per second taken in, and milliseconds of what pages ask.

    python benchmarks/serve_index.py [--rollouts 100000] [--runs 50] [--rounds 30] [--database URL] [--json]

Makes one run of ``--rollouts`` attempts, as a training run writes them (groups of 8, 64 attempts a step, texts of 400
to 1,500 bytes, records and chain of the real ledger, verdicts made up), and ``--runs`` small ones beside it. ``insert``
is the whole way into an empty index, one process, one thread: reading, hashing, decoding, grouping, writing, with all
tables on disk. ``idle`` is a refresh that finds nothing new. Queries are timed one at a time with a warm file cache,
each with varying arguments; times are of wall clock, but for ``cpu``: milliseconds of processor of the calling thread.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lydite.flag import Flag
from lydite.ledger import Graded, RunFolder
from lydite.ledger.reviews import Decision
from lydite.rollout import FinishReason, Message, Rollout
from lydite.server.database.engine import open_engine
from lydite.server.events import Bus
from lydite.server.home import Home
from lydite.server.index.index import Index
from lydite.server.index.rows import FlagFilter, GroupFilter, RolloutFilter
from lydite.task import Checker, Task
from lydite.verdict import Verdict

GROUP, STEP = 8, 64
WORDS = """first second total minus plus carry divide remainder therefore because answer compare twelve apples train
hour speed distance multiply both sides equation gives check again result left right half quarter percent price"""
RARE = "Quokka"
"""In one attempt of 5,000."""


def text(choose: random.Random, size: int) -> str:
    """Words and numbers, about ``size`` characters."""
    words, parts = WORDS.split(), list[str]()
    length = 0
    while length < size:
        part = choose.choice(words) if choose.random() < 0.8 else f"{choose.randrange(10_000)} ="
        parts.append(part + ("\n" if choose.random() < 0.05 else " "))
        length += len(part) + 1
    return "".join(parts)


def task(number: int, choose: random.Random) -> Task:
    return Task(
        id=f"arithmetic-{number:05d}",
        prompt=(Message(role="user", content=text(choose, 200)),),
        checker=Checker(type="math", config={"answer": str(number)}),
        split="train",
    )


def attempt(task: Task, digest: str, phase: str, step: int, index: int, choose: random.Random) -> Graded:
    right = choose.random() < 0.2 + 0.6 * min(1, step / 1500)
    words = text(choose, choose.randrange(200, 1100))
    if choose.random() < 1 / 5000:
        words += RARE
    flags: tuple[Flag, ...] = ()
    if choose.random() < 0.05:
        flags = (Flag(detector="no_visible_work", version=3, bars=True, evidence={"words": 3, "min_words": 20}),)
    verdict = Verdict.of(float(right), "correct" if right else "incorrect", "math@3", extracted=str(index))
    if not right and choose.random() < 0.1:
        verdict = Verdict.unparseable("no_answer", "math@3")
    rollout = Rollout(
        id=f"{phase}/{task.id}/{index}",
        task=task.id,
        task_digest=digest,
        phase=phase,
        index=index,
        seed=choose.randrange(2**60),
        policy=f"builtin:tiny@{step}",
        prompt=task.prompt,
        completion=(Message(role="assistant", content=words),),
        finish=FinishReason.STOP if choose.random() < 0.95 else FinishReason.LENGTH,
        prompt_tokens=60,
        completion_tokens=len(words) // 4,
        step=step,
    )
    reward = 1.0 if verdict.correct else -0.1
    return Graded(
        rollout=rollout,
        verdict=verdict,
        flags=flags,
        reward=reward + 0.1 * round(choose.random(), 3),
        scheme="asymmetric+format=0+flagged=keep",
        verifier_source="5c295d63113320222dd284401c1431374871d6593dbf715b3c5170c32273d2c4",
        seconds=round(choose.random() / 1000, 6),
    )


def make(path: Path, rollouts: int, seed: int) -> None:
    """A run of that many attempts."""
    choose = random.Random(seed)
    tasks = [task(number, choose) for number in range(min(2000, max(8, rollouts // GROUP)))]
    digests = {one.id: one.digest for one in tasks}
    with RunFolder.create(path, kind="train", settings={"policy": "builtin:tiny", "seed": seed}, tasks=tasks) as run:
        held: list[Graded] = []
        for step in range(1, -(-rollouts // STEP) + 1):
            for one in choose.sample(tasks, STEP // GROUP):
                held += [
                    attempt(one, digests[one.id], f"train-0-{step}", step, index, choose) for index in range(GROUP)
                ]
            values = {f"metric/{name}": choose.random() for name in range(25)}
            run.metric({"stage": 0, "kind": "grpo", "step": step, "reward": choose.random(), **values})
            if len(held) >= 1024:
                run.append(held)
                held = []
        run.append(held)
        run.finish("complete")


def questions(index: Index, run: str, count: int, choose: random.Random) -> dict[str, Callable[[], Any]]:
    """What pages ask, by name."""
    steps, tasks = count // STEP, index.run(run).tasks
    newest = index.rollouts(run, RolloutFilter(sort="-reward"), limit=50).next

    def seq() -> int:
        return choose.randrange(1, count + 1)

    def step() -> int:
        return choose.randrange(1, steps + 1)

    def number() -> int:
        return (seq() - 1) // GROUP * GROUP + 1

    def name() -> str:
        return f"arithmetic-{choose.randrange(tasks):05d}"

    def found(**which: Any) -> Callable[[], Any]:
        return lambda: index.rollouts(run, RolloutFilter(**which), limit=50)

    return {
        "runs": lambda: index.runs(limit=50),
        "runs, q": lambda: index.runs(q="arith", limit=50),
        "run": lambda: index.run(run),
        "phases": lambda: index.phases(run),
        "series, 4 keys": lambda: index.series(run, ["reward", "metric/1", "metric/2", "metric/3"]),
        "series, all keys": lambda: index.series(run),
        "groups": lambda: index.groups(run, GroupFilter(), limit=50, after=str(number())),
        "groups, of a step": lambda: index.groups(run, GroupFilter(stage=0, steps=(at := step(), at)), limit=50),
        "groups, mixed by std": lambda: index.groups(run, GroupFilter(signals=("mixed",), sort="-std"), limit=50),
        "group": lambda: index.group(run, number()),
        "beside": lambda: index.beside(run, number()),
        "rollouts": lambda: index.rollouts(run, RolloutFilter(), limit=50, after=str(seq())),
        "rollouts, 200 a page": lambda: index.rollouts(run, RolloutFilter(), limit=200, after=str(seq())),
        "rollouts, of a step": lambda: index.rollouts(run, RolloutFilter(stage=0, steps=(at := step(), at)), limit=64),
        "rollouts, of a phase": lambda: index.rollouts(run, RolloutFilter(phase=f"train-0-{step()}"), limit=64),
        "rollouts, of a task": lambda: index.rollouts(run, RolloutFilter(task=name()), limit=50),
        "rollouts, outcome": found(outcomes=("unparseable",)),
        "rollouts, flag": found(flag="no_visible_work"),
        "rollouts, nothing matches": found(reason="no_such_reason"),
        "rollouts, many filters": found(
            outcomes=("correct",), flag="any", rewards=(0.5, None), finish="length", steps=(steps // 2, None)
        ),
        "rollouts, by reward": found(sort="-reward"),
        "rollouts, by reward, on": lambda: index.rollouts(run, RolloutFilter(sort="-reward"), limit=50, after=newest),
        "rollouts, by tokens": found(sort="-tokens"),
        "rollouts, by seconds": found(sort="seconds"),
        "rollouts, filter by reward": found(outcomes=("correct",), flag="any", sort="-reward"),
        "rollouts, filter by tokens": found(reason="no_answer", sort="tokens"),
        "search, common": found(q="Therefore"),
        "search, rare": found(q=RARE.lower()),
        "search, absent": found(q="wombat"),
        "search, newest first": found(q=RARE, sort="-seq"),
        "search, in a filter": lambda: index.rollouts(
            run, RolloutFilter(q="half", phase=f"train-0-{step()}"), limit=50
        ),
        "search, by reward": found(q=RARE, sort="-reward"),
        "rollout": lambda: index.rollout(run, seq()),
        "find": lambda: index.find(run, index.rollout(run, seq()).id),
        "row": lambda: index.row(run, seq()),
        "rows, 50": lambda: index.rows(run, [seq() for _ in range(50)]),
        "others": lambda: index.others(run, seq()),
        "tasks": lambda: index.tasks(run, limit=50),
        "task": lambda: index.task(run, name()),
        "flags": lambda: index.flags(FlagFilter(run=run), limit=50),
        "flags, of all runs": lambda: index.flags(FlagFilter(decision="open"), limit=50),
        "detectors": lambda: index.detectors(),
        "decide": lambda: decide(index, run, choose),
    }


def decide(index: Index, run: str, choose: random.Random) -> None:
    flag = index.flags(FlagFilter(run=run, decision="open"), limit=1).items[0]
    index.decide(run, flag.seq, flag.detector, flag.version, choose.choice([Decision.CONFIRMED, Decision.DISMISSED]))


def timed(ask: Callable[[], Any], rounds: int) -> dict[str, float]:
    ask()
    taken = []
    processor = time.thread_time()
    for _ in range(rounds):
        begin = time.perf_counter()
        ask()
        taken.append((time.perf_counter() - begin) * 1000)
    processor = time.thread_time() - processor
    taken.sort()
    found = {"p50": statistics.median(taken), "p95": taken[min(rounds - 1, int(rounds * 0.95))], "most": taken[-1]}
    return {**found, "cpu": processor * 1000 / rounds}


@contextlib.contextmanager
def home_of(given: Path | None) -> Iterator[Path]:
    if given is not None:
        yield given
        return
    place = Path(tempfile.mkdtemp(prefix="lydite-serve-index-"))
    try:
        yield place
    finally:
        shutil.rmtree(place)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    with home_of(options.keep) as place:
        if not (place / "runs" / "large").exists():
            make_all(place, options)
        for old in (place / ".lydite").glob("index.sqlite3*"):
            old.unlink()
        home = Home(place)
        engine = open_engine(home, options.database)
        index = Index(home, engine, Bus(engine))
        begin, processor = time.perf_counter(), time.process_time()
        index.refresh()
        seconds, processor = time.perf_counter() - begin, time.process_time() - processor
        everything = sum(run.rollouts for run in index.runs(limit=1000).items)
        idle = timed(index.refresh, options.rounds)
        choose = random.Random(0)
        asked = questions(index, "large", options.rollouts // STEP * STEP, choose)
        chosen = {name: ask for name, ask in asked.items() if options.only in name}
        queries = {name: timed(ask, options.rounds) for name, ask in chosen.items()}
        engine.dispose()
        size = sum(file.stat().st_size for file in (place / ".lydite").glob("index.sqlite3*"))
    return {
        "rollouts": everything,
        "runs": options.runs,
        "insert_seconds": seconds,
        "insert_processor_seconds": processor,
        "rollouts_per_second": everything / seconds,
        "index_bytes": size,
        "idle_ms": idle,
        "queries_ms": queries,
    }


def make_all(place: Path, options: argparse.Namespace) -> None:
    (place / "runs").mkdir(parents=True, exist_ok=True)
    make(place / "runs" / "large", options.rollouts, 0)
    for number in range(1, options.runs):
        make(place / "runs" / f"small-{number:03d}", 128, number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rollouts", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--only", default="", help="queries whose name has this in it")
    parser.add_argument("--keep", type=Path, help="a folder for the runs: made once, used again")
    parser.add_argument("--database", default="", help="SQLAlchemy URL; SQLite in the home when not given")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options)
    if options.json:
        json.dump(found, sys.stdout)
        print()
        return
    print(
        f"insert: {found['rollouts']:,} rollouts in {found['insert_seconds']:.1f} s"
        f" ({found['insert_processor_seconds']:.1f} s of processor): {found['rollouts_per_second']:,.0f} a second,"
        f" {found['index_bytes'] / 2**20:.0f} MiB"
    )
    print(f"{'ms':<30}{'p50':>9}{'p95':>9}{'most':>9}{'cpu':>9}")
    for name, row in {f"idle, {options.runs} runs": found["idle_ms"], **found["queries_ms"]}.items():
        print(f"{name:<30}{row['p50']:>9.2f}{row['p95']:>9.2f}{row['most']:>9.2f}{row['cpu']:>9.2f}")


if __name__ == "__main__":
    main()
