"""How fast back ends are, against a bare interpreter, on this machine and in one run.

Everything is interleaved: one job of each in turn, so that what else the machine does hits all of them alike. Ratios of
one run can be compared with those of another; milliseconds cannot.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Protocol

import msgspec

from lydite.errors import InputError, LyditeError, UnavailableError
from lydite.sandbox.result import ExecResult, Status

Call = Callable[[], bytes]
"""Runs one job and gives its standard output."""

CODE = "print(sum(int(word) for word in input().split()))"
STDIN = (" ".join(map(str, range(100))) + "\n").encode()
EXPECTED = b"4950\n"


class Runner(Protocol):
    """What is measured: a sandbox."""

    def run(self, *, code: str, stdin: bytes) -> ExecResult: ...


class Speed(msgspec.Struct, frozen=True, kw_only=True):
    """Of one back end.

    Attributes:
        name: its name; ``bare`` is ``python -c`` in a subprocess, without any protection.
        p50_ms: median milliseconds of one job, one at a time.
        p50_ratio: that over the bare interpreter's.
        jobs_per_s: with as many threads as processors.
        jobs_ratio: that over the bare interpreter's.
        failed: why it has no figures, or None.
    """

    name: str
    p50_ms: float | None = None
    p50_ratio: float | None = None
    jobs_per_s: float | None = None
    jobs_ratio: float | None = None
    failed: str | None = None


def bare(code: str = CODE, stdin: bytes = STDIN) -> Call:
    """The yardstick: a fresh interpreter that runs the program."""
    command = [sys.executable, "-c", code]

    def call() -> bytes:
        return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout  # noqa: S603

    return call


def latencies(calls: Mapping[str, Call], seconds: float, rounds: int = 400) -> dict[str, list[float]]:
    """Seconds of single jobs: one of each in turn, until the time is up or the rounds are done (at least five)."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + seconds
    for number in range(rounds):
        if number >= 5 and time.perf_counter() > end:
            break
        for name, call in calls.items():
            started = time.perf_counter()
            call()
            taken[name].append(time.perf_counter() - started)
    return taken


def rates(calls: Mapping[str, Call], seconds: float, threads: int, slices: int = 4) -> dict[str, float]:
    """Jobs per second with this many threads, in slices of time in turn."""
    done = dict.fromkeys(calls, 0)
    spent = dict.fromkeys(calls, 0.0)
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(slices):
            for name, call in calls.items():
                started = time.perf_counter()
                end = started + seconds / slices / len(calls)
                workers = [pool.submit(_until, end, call) for _ in range(threads)]
                done[name] += sum(worker.result() for worker in workers)
                spent[name] += time.perf_counter() - started
    return {name: done[name] / spent[name] for name in calls}


def _until(end: float, call: Call) -> int:
    count = 0
    while not count or time.perf_counter() < end:
        call()
        count += 1
    return count


def measure(
    backends: Sequence[str], *, seconds: float = 30.0, say: Callable[[str], None] = lambda text: None
) -> list[Speed]:
    """Measure back ends and the bare interpreter.

    Args:
        backends: names; each is opened with as many workers as there are processors. One that fails is told in
            ``failed``, the others go on.
        seconds: of measuring, all together.
        say: takes a line of progress.

    Raises:
        InputError: a name that is none.
    """
    from lydite.sandbox import Sandbox

    processors = len(os.sched_getaffinity(0))
    failed: dict[str, str] = {}
    calls: dict[str, Call] = {"bare": bare()}
    with ExitStack() as stack:
        for name in backends:
            say(f"opening {name}")
            try:
                sandbox = stack.enter_context(Sandbox(backend=name, workers=processors))
                calls[name] = job(sandbox, CODE, STDIN, EXPECTED)
                calls[name]()
            except InputError:
                raise
            except LyditeError as error:
                calls.pop(name, None)
                failed[name] = str(error)
        say(f"one job at a time: {', '.join(calls)}")
        taken = latencies(calls, seconds / 2)
        say(f"{processors} jobs at a time")
        rate = rates(calls, seconds / 2, processors)
    p50 = {name: statistics.median(times) for name, times in taken.items()}
    return [
        Speed(
            name=name,
            p50_ms=p50[name] * 1000,
            p50_ratio=p50[name] / p50["bare"],
            jobs_per_s=rate[name],
            jobs_ratio=rate[name] / rate["bare"],
        )
        for name in calls
    ] + [Speed(name=name, failed=why) for name, why in failed.items()]


def job(sandbox: Runner, code: str, stdin: bytes, expected: bytes | None) -> Call:
    """One job of a sandbox, whose result is checked: a wrong one has no speed.

    Raises, when called:
        UnavailableError: the job did not come out right.
    """

    def call() -> bytes:
        done = sandbox.run(code=code, stdin=stdin)
        if done.status is not Status.OK or (expected is not None and done.stdout != expected):
            raise UnavailableError(f"an honest job came out wrong: {done}")
        return done.stdout

    return call
