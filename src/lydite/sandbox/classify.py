"""From what the kernel said about a job's end to a status.

The order matters where several limits were met: the one that explains the others comes first. What a program prints
only ever decides between statuses that are its own fault, so lying about it gains nothing.
"""

from __future__ import annotations

import os
import re
import signal
from typing import NamedTuple

from lydite.sandbox.jail import wire
from lydite.sandbox.result import ExecResult, Limits, Status


class Ending(NamedTuple):
    """What a zygote reports: all of it from the kernel.

    Attributes:
        started: the set-up succeeded and the program began; else ``reason`` says why not.
        status: wait status of the job's first process.
        stopped: why the zygote stopped it (``wire.WALL`` ...).
        killed: processes that the kernel killed at the job's memory limit; negative: for want of memory on the machine.
        denied: forks that the kernel refused.
        full: what the tree had no more of at the end of a job that failed (``wire.BYTES``, ``wire.FILES``), or 0.
        wall, cpu: seconds.
    """

    started: bool
    status: int
    stopped: int
    killed: int
    denied: int
    full: int
    wall: float
    cpu: float
    reason: str


_STOPS = {
    wire.WALL: (Status.TIMEOUT, "timeout"),
    wire.CPU: (Status.TIMEOUT, "cpu"),
    wire.MEMORY: (Status.MEMORY, "memory_mb"),
    wire.DISK: (Status.DISK, "disk_mb"),
    wire.ASKED: (Status.KILLED, None),
}

# The last words of a program that met a limit which the kernel does not count.
_WORDS: tuple[tuple[re.Pattern[bytes], Status, str], ...] = (
    (re.compile(rb"MemoryError|[Cc]annot allocate memory|std::bad_alloc|out of memory"), Status.MEMORY, "memory_mb"),
    (re.compile(rb"No space left on device|Disk quota exceeded"), Status.DISK, "disk_mb"),
    (re.compile(rb"File too large"), Status.DISK, "file_mb"),
    (
        re.compile(rb"Resource temporarily unavailable|can't start new thread|[Cc]annot fork|fork: retry"),
        Status.PROCESSES,
        "processes",
    ),
    (re.compile(rb"Too many open files"), Status.ERROR, "descriptors"),
)
_TAIL = 400


def classify(
    ending: Ending, out: bytes, err: bytes, limits: Limits, backend: str, *, unfinished: bool = False
) -> ExecResult:
    """The result of one run. ``out`` and ``err`` may hold one byte beyond the limit: then more was written."""
    cap = limits.output_kb * 1024
    over = len(out) > cap or len(err) > cap
    status, limit, detail = _status(ending, err, over, limits)
    if unfinished and status in (Status.OK, Status.ERROR):
        status, limit, detail = Status.KILLED, None, "the program ended the process that runs its inputs"
    if over:
        detail = detail or f"output was cut at {limits.output_kb} KiB"
    return ExecResult(
        status=status,
        exit_code=_exit_code(ending.status) if ending.started else None,
        stdout=out[:cap],
        stderr=err[:cap],
        wall_s=ending.wall,
        cpu_s=ending.cpu,
        backend=backend,
        limit=limit,
        detail=detail,
    )


def _exit_code(status: int) -> int:
    return os.waitstatus_to_exitcode(status)


def _status(ending: Ending, err: bytes, over: bool, limits: Limits) -> tuple[Status, str | None, str]:
    if not ending.started:
        return _not_started(ending)
    if over:
        return Status.OUTPUT, "output_kb", ""
    if ending.stopped == wire.ASKED:
        return Status.KILLED, None, "stopped on request"
    if ending.stopped in (wire.MEMORY, wire.DISK):
        return *_STOPS[ending.stopped], ""
    if not ending.stopped and ending.status == 0:
        return Status.OK, None, ""
    if ending.killed < 0:
        return Status.INVALID, None, "the machine ran out of memory"
    if ending.killed:
        return Status.MEMORY, "memory_mb", ""
    if ending.denied:
        return Status.PROCESSES, "processes", ""
    if ending.stopped:
        words = _words(err)
        if ending.stopped == wire.WALL and words is not None and words[0] is Status.PROCESSES:
            return *words, ""  # it ran into that limit, and then waited for what it could not start
        return *_STOPS[ending.stopped], ""
    code = _exit_code(ending.status)
    if code in (-signal.SIGXCPU, -signal.SIGKILL) and limits.cpu is not None and ending.cpu >= limits.cpu:
        return Status.TIMEOUT, "cpu", ""
    if code == -signal.SIGXCPU:
        return Status.TIMEOUT, "cpu", ""
    if code == -signal.SIGXFSZ:
        return Status.DISK, "file_mb", ""
    if code == -signal.SIGSYS:
        return Status.KILLED, None, "a forbidden system call"
    words = _words(err) if code > 0 else None
    if ending.full and (words is None or words[1] != "file_mb"):
        return Status.DISK, "inodes" if ending.full == wire.FILES else "disk_mb", ""
    if words is not None:
        return *words, ""
    return Status.ERROR, None, ""


def _words(err: bytes) -> tuple[Status, str] | None:
    return next(((status, limit) for pattern, status, limit in _WORDS if pattern.search(err[-_TAIL:])), None)


def _not_started(ending: Ending) -> tuple[Status, str | None, str]:
    """The set-up failed. Files or input that do not fit are the job's; the rest is ours."""
    code, _, text = ending.reason.partition(" ")
    if code == "28" or code == "27":  # ENOSPC, EFBIG: the job's files
        return Status.DISK, "disk_mb", f"its files do not fit: {text}"
    if ending.killed > 0 or code in ("12", "16"):  # ENOMEM; EBUSY: it already uses more than its limit
        return Status.MEMORY, "memory_mb", f"its program, input or files do not fit: {text}"
    if code == "11":
        return Status.PROCESSES, "processes", text
    if code in ("17", "20", "21", "36"):  # a name that is there already or too long, a file in the place of a folder
        return Status.ERROR, None, f"its files cannot be made: {text}"
    return Status.INVALID, None, text
