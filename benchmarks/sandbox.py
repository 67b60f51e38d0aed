"""The sandbox against a bare interpreter, all interleaved in one run: the table of docs/sandbox.md.

    python benchmarks/sandbox.py [--rounds 200] [--seconds 20] [--backends namespaces,bwrap] [--json]

Every ratio is over `subprocess.run([sys.executable, "-c", code])` with the same program in the same run. The default
back end is measured in all ways, the others in the first two and with numpy. Memory is what one more worker adds, after
it ran a job: PSS (shared pages divided by those who share them) and RSS.
JSON on standard output with --json, else a table on standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from lydite.sandbox import Sandbox, probe
from lydite.sandbox.bench import CODE, EXPECTED, STDIN, Call, bare, job, latencies, rates

NUMPY = "import numpy as np; print(int(np.arange(100).reshape(10, 10).T.ravel()[:45].sum()))"
LINE = "echo hello"
PIPELINE = "cat a.txt | tr a-z A-Z"
BATCH = 20
REACH = {
    "plain_p50": 0.20,
    "plain_rate": 5.5,
    "batch_p50": 0.12,
    "numpy_p50": 0.04,
    "session_p50": 0.25,
    "cold_ms": 400.0,
    "idle_mib": 25.0,
}
err = Console(stderr=True, highlight=False, width=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200, help="single jobs of each")
    parser.add_argument(
        "--seconds", type=float, default=20, help="of measuring jobs per second, all back ends together"
    )
    parser.add_argument("--backends", help="names with commas between (default: all that work here)")
    parser.add_argument("--json", action="store_true", help="JSON on standard output")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(first_job(options.child)))
        return
    names = options.backends.split(",") if options.backends else [row.name for row in probe() if row.available]
    result = {
        "load": os.getloadavg(),
        "processors": len(os.sched_getaffinity(0)),
        "python": sys.version.split()[0],
        "plain": plain(names, options.rounds, options.seconds),
        "numpy": numpy(names, max(10, options.rounds // 4)),
        "more": more(names[0], options.rounds),
        "cold": cold(names[0], 7),
        "memory": memory(names[0]),
    }
    figures = summary(result)
    if options.json:
        print(json.dumps({"backend": names[0], "figures": figures, **result}))
    else:
        show(names[0], figures, result)


def plain(names: list[str], rounds: int, seconds: float) -> dict[str, dict[str, float]]:
    """One job at a time, then as many at a time as there are processors."""
    processors = len(os.sched_getaffinity(0))
    with ExitStack() as stack:
        calls = {"bare": bare()}
        for name in names:
            calls[name] = job(opened(stack, name, workers=processors), CODE, STDIN, EXPECTED)
        warm(calls)
        err.print(f"plain job: {', '.join(calls)}", markup=False)
        taken = latencies(calls, float("inf"), rounds)
        rate = rates(calls, seconds, processors)
    return {
        name: {**spread(taken[name], taken["bare"]), "per_s": rate[name], "per_s_ratio": rate[name] / rate["bare"]}
        for name in calls
    }


def numpy(names: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """A program that imports numpy, in zygotes that have it already where the back end has zygotes."""
    with ExitStack() as stack:
        calls = {"bare": bare(NUMPY, b"")}
        for name in names:
            if name != "unsafe":
                calls[name] = job(opened(stack, name, workers=1, preload="numpy"), NUMPY, b"", None)
        warm(calls)
        err.print(f"numpy job: {', '.join(calls)}", markup=False)
        taken = latencies(calls, float("inf"), rounds)
    return {name: spread(taken[name], taken["bare"]) for name in calls}


def more(name: str, rounds: int) -> dict[str, dict[str, float]]:
    """A batch of inputs (per test) and shell commands in a session, against the bare plain job."""
    with ExitStack() as stack:
        sandbox = opened(stack, name, workers=1)
        workspace = sandbox.session(files={"a.txt": b"hello\n"})
        inputs = [STDIN] * BATCH

        def batch() -> bytes:
            done = sandbox.run_batch(CODE, inputs)
            assert [result.stdout for result in done] == [EXPECTED] * BATCH, done
            return b""

        def command() -> bytes:
            done = workspace.exec(LINE)
            assert done.stdout == b"hello\n", done
            return done.stdout

        def pipeline() -> bytes:
            done = workspace.exec(PIPELINE)
            assert done.stdout == b"HELLO\n", done
            return done.stdout

        calls: dict[str, Call] = {"bare": bare(), "batch": batch, "session": command, "session, pipeline": pipeline}
        warm(calls)
        err.print("batch and session", markup=False)
        taken = latencies(calls, float("inf"), rounds)
    taken["batch"] = [seconds / BATCH for seconds in taken["batch"]]
    return {kind: spread(times, taken["bare"]) for kind, times in taken.items()}


def opened(stack: ExitStack, name: str, **options: Any) -> Sandbox:
    return stack.enter_context(Sandbox(backend=name, **options))


def warm(calls: dict[str, Call]) -> None:
    for _ in range(3):
        for call in calls.values():
            call()


def spread(times: list[float], yardstick: list[float]) -> dict[str, float]:
    p50 = statistics.median(times)
    return {
        "p50_ms": p50 * 1000,
        "p95_ms": sorted(times)[int(len(times) * 0.95)] * 1000,
        "p50_ratio": p50 / statistics.median(yardstick),
    }


def cold(name: str, rounds: int) -> dict[str, float]:
    """Milliseconds from making a Sandbox to the first result, each in a fresh process that has imported Lydite."""
    err.print("first job after a cold start", markup=False)
    command = [sys.executable, __file__, "--child", name]
    times = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(rounds)]
    return {"p50_ms": statistics.median(times), "max_ms": max(times)}


def first_job(name: str) -> float:
    started = time.perf_counter()
    with Sandbox(backend=name, workers=1) as sandbox:
        done = sandbox.run(code=CODE, stdin=STDIN)
        taken = time.perf_counter() - started
    assert done.stdout == EXPECTED, done
    return taken * 1000


def memory(name: str) -> dict[str, float]:
    """MiB that one more idle worker adds."""
    err.print("memory of an idle worker", markup=False)
    used = {}
    for workers in (1, 3):
        before = set(descendants(os.getpid()))
        with Sandbox(backend=name, workers=workers) as sandbox:
            busy = [sandbox.arun(code="import time; time.sleep(0.3)") for _ in range(workers)]
            run_all(busy)
            time.sleep(0.5)
            used[workers] = [held(pid) for pid in descendants(os.getpid()) if pid not in before]
    total = {workers: [sum(column) for column in zip(*rows, strict=True)] for workers, rows in used.items()}
    pss, rss = ((total[3][column] - total[1][column]) / 2 / 1024 for column in (0, 1))
    return {"pss_mib": pss, "rss_mib": rss, "processes_per_worker": (len(used[3]) - len(used[1])) / 2}


def run_all(jobs: list[Any]) -> None:
    import asyncio

    async def together() -> None:
        await asyncio.gather(*jobs)

    asyncio.run(together())


def descendants(pid: int) -> list[int]:
    """Processes below this one."""
    below: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            below += [child, *descendants(child)]
    return below


def held(pid: int) -> tuple[int, int]:
    """PSS and RSS of a process in KiB. PSS of a process that cannot be looked into (an ordinary user's zygote is not
    dumpable) counts as its RSS."""
    status = Path(f"/proc/{pid}/status").read_text()
    rss = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0)
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return rss, rss
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0), rss


def summary(result: dict[str, Any]) -> dict[str, float]:
    name = next(name for name in result["plain"] if name != "bare")
    return {
        "plain_p50": result["plain"][name]["p50_ratio"],
        "plain_rate": result["plain"][name]["per_s_ratio"],
        "batch_p50": result["more"]["batch"]["p50_ratio"],
        "numpy_p50": result["numpy"][name]["p50_ratio"],
        "session_p50": result["more"]["session"]["p50_ratio"],
        "cold_ms": result["cold"]["p50_ms"],
        "idle_mib": result["memory"]["pss_mib"],
    }


def show(name: str, figures: dict[str, float], result: dict[str, Any]) -> None:
    table = Table(name, "reach", "here", title=f"load {result['load'][0]:.1f}, {result['processors']} processors")
    for key, value in figures.items():
        sign = "≥" if key == "plain_rate" else "≤"
        table.add_row(key, f"{sign} {REACH[key]:g}", f"{value:.3g}")
    err.print(table)
    table = Table("", "p50 ms", "p95 ms", "p50 to bare", "jobs/s", "to bare", "numpy p50 ms", "to bare")
    table.columns[0].no_wrap = True
    for other, row in result["plain"].items():
        array = result["numpy"].get(other, {})
        cells = [f"{row[key]:.2f}" for key in ("p50_ms", "p95_ms", "p50_ratio", "per_s", "per_s_ratio")]
        table.add_row(other, *cells, *(f"{array[key]:.3f}" if array else "" for key in ("p50_ms", "p50_ratio")))
    err.print(table)
    err.print({key: result[key] for key in ("more", "cold", "memory")})


if __name__ == "__main__":
    main()
