"""``lydite verify``: what a second worker gains, and the memory that a large input takes.

    python benchmarks/verify.py [--rounds N] [--gb G] [--json]

Two jobs against one, on three inputs: gsm (completions of 340 characters, ``math``), long-steps (16 kB, ``math``) and
code (``code``, six calls each). The two take turns, so that other work on the machine meets both; the ratio is the
median of the rounds'. Beside it stands the ratio of processor time, which says what is possible: two cores at a
processor time of 1.1 give 1.8 at best (for code it is not known: the sandbox's processes are nobody's children).
Start-up, 0.2 s, is part of every figure.

Memory: G gigabytes (default 1) of long texts, all of them wrong, come through a pipe; the figure is the largest sum of
the resident memory of all its processes, sampled ten times a second.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from math_texts import make

COMMAND = [sys.executable, "-m", "lydite", "verify"]


def rows(mix: str, count: int, *, wrong: bool = False) -> Iterator[bytes]:
    """Input lines of a mix; those with wrong answers alone, where asked for."""
    if mix == "code":
        for index in range(count):
            tests = [{"call": "f", "args": [n], "expected": n * (index % 50)} for n in range(6)]
            said = f"```python\ndef f(x):\n    return x * {index % 50 + index % 2}\n```"
            yield _line(id=index, completion=said, checker={"type": "code", "config": {"tests": tests}})
        return
    for index, case in enumerate(make(mix, count)):
        if not (wrong and case.right):
            yield _line(id=index, completion=case.text, gold=case.gold)


def _line(**fields: Any) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def seconds(source: Path, jobs: int) -> tuple[float, float]:
    """Wall and processor time of one run, its processes included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(
        [*COMMAND, str(source), "-o", "/dev/null", "--verifier", "math", "--jobs", str(jobs)],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(mix: str, count: int, rounds: int, folder: Path) -> dict[str, Any]:
    """One job and two, in turns."""
    source = folder / f"{mix}.jsonl"
    with source.open("wb") as file:
        file.writelines(rows(mix, count))
    seconds(source, 1)
    measured = [(seconds(source, 1), seconds(source, 2)) for _ in range(rounds)]
    return {
        "mix": mix,
        "lines": count,
        "lines_per_second_1_job": round(count / statistics.median(one[0] for one, _ in measured)),
        "lines_per_second_2_jobs": round(count / statistics.median(two[0] for _, two in measured)),
        "speed_up": round(statistics.median(one[0] / two[0] for one, two in measured), 2),
        "processor_time": None
        if mix == "code"
        else round(statistics.median(two[1] / one[1] for one, two in measured), 2),
    }


def resident_mb(pid: int) -> float:
    """Resident memory of a process and all that it started, in MB."""
    total, todo = 0, [pid]
    while todo:
        folder = Path(f"/proc/{todo.pop()}")
        try:
            total += int((folder / "statm").read_text().split()[1]) * resource.getpagesize()
            for task in (folder / "task").iterdir():
                todo += map(int, (task / "children").read_text().split())
        except OSError:  # it has ended
            continue
    return total / 1e6


def memory(size: float, jobs: int) -> dict[str, Any]:
    """The peak while so many bytes of input stream through."""
    lines = list(rows("long-steps", 800, wrong=True))
    process = subprocess.Popen(
        [*COMMAND, "-", "-o", "/dev/null", "--verifier", "math", "--jobs", str(jobs)],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    peak, done = 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.1):
            peak = max(peak, resident_mb(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    started, sent = time.perf_counter(), 0
    assert process.stdin is not None
    while sent < size:
        for line in lines:
            process.stdin.write(line)
            sent += len(line)
    process.stdin.close()
    process.wait()
    done.set()
    watcher.join()
    took = time.perf_counter() - started
    return {
        "jobs": jobs,
        "input_mb": round(sent / 1e6),
        "peak_mb": round(peak),
        "mb_per_second": round(sent / 1e6 / took),
    }


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--gb", type=float, default=1.0, help="gigabytes of input for the figure of memory")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the usual number of lines")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found: dict[str, list[dict[str, Any]]] = {"jobs": [], "memory": []}
    with tempfile.TemporaryDirectory() as folder:
        for mix, count in (("gsm", 60_000), ("long-steps", 10_000), ("code", 4_000)):
            found["jobs"].append(compare(mix, max(10, int(count * options.scale)), options.rounds, Path(folder)))
    for jobs in (1, 2):
        found["memory"] += [memory(size, jobs) for size in (1e7, options.gb * 1e9)]
    if options.json:
        print(json.dumps(found))
        return
    for row in (*found["jobs"], *found["memory"]):
        print("  ".join(f"{key}={value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
