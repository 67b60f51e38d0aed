"""The sandbox that all checks of states share, and what became of a program in it.

A state is sent to an interpreter that is warm already, on its standard input, and laid out there: that is a fresh copy,
with its links and its executable files, in a few milliseconds. The state itself is never touched.
"""

from __future__ import annotations

import atexit
import marshal
import os
import sys
import threading
from importlib import metadata
from importlib.util import MAGIC_NUMBER
from typing import Any

from lydite.errors import InputError, UnavailableError
from lydite.sandbox import ExecResult, Limits, Sandbox, Snapshot, Status, overlay
from lydite.verdict import Verdict
from lydite.verifiers.workspace.programs import modules

DISK_MB = 1024
"""MiB of files of one job. Its memory holds them, so that is what limits it."""
INODES = 200_000
_WORDS = {
    Status.TIMEOUT: ("timeout", "it ran out of time"),
    Status.MEMORY: ("memory", "it used more memory than it may"),
    Status.OUTPUT: ("output", "it printed more than it may"),
    Status.PROCESSES: ("processes", "it started more processes than it may"),
    Status.DISK: ("disk", "it wrote more than it may"),
    Status.KILLED: ("killed", "it was stopped for a forbidden system call"),
}

_lock = threading.Lock()
_shared: Sandbox | None = None
_overlays: tuple[str, ...] = ()
_no_pytest = ""


class LostError(Exception):
    """The sandbox failed, twice: nothing is known of the program."""


def sandbox() -> Sandbox:
    """The one sandbox of this process for states: made when first asked for, closed at exit. It shows pytest, where
    that is installed.

    Raises:
        UnavailableError: no back end works here, or its interpreter is of another version than this one.
    """
    global _shared, _overlays, _no_pytest
    with _lock:
        if _shared is None or _overlays != overlay.shared():  # the old one ends with its last job
            _no_pytest, _overlays = "", overlay.shared()
            try:
                metadata.version("pytest")
                made = _made(("plain", "ctypes", "pytest"), with_pytest=True)
            except (metadata.PackageNotFoundError, InputError) as error:
                _no_pytest = "" if isinstance(error, metadata.PackageNotFoundError) else f" ({error})"
                made = _made(("plain", "ctypes"), with_pytest=False)
                _no_pytest = f"the checker pytest needs pytest: pip install pytest{_no_pytest}"
            owner = os.getpid()
            atexit.register(lambda: made.close() if os.getpid() == owner else None)
            _shared = made
        return _shared


def need_pytest() -> None:
    """See that the sandbox shows pytest.

    Raises:
        UnavailableError: it does not, since that is not installed; or there is no sandbox.
    """
    sandbox()
    if _no_pytest:
        raise UnavailableError(_no_pytest)


def _made(preload: tuple[str, ...], with_pytest: bool) -> Sandbox:
    overlays = (*overlay.shared(), *overlay.installed(["pytest"] if with_pytest else []))
    made = Sandbox(preload=preload, modules=modules(with_pytest), overlays=overlays, disk_mb=DISK_MB, inodes=INODES)
    try:
        done = made.run("import importlib.util; print(importlib.util.MAGIC_NUMBER.hex())", timeout=30.0)
        if done.status is not Status.OK:
            raise UnavailableError(f"the sandbox {made.backend} does not run Python: {done.status} {done.detail}")
        if done.stdout.decode().strip() != MAGIC_NUMBER.hex():
            own = f"Python {sys.version_info.major}.{sys.version_info.minor}"
            raise UnavailableError(f"the sandbox's interpreter is no {own}: name one in LYDITE_SANDBOX_PYTHON")
    except BaseException:
        made.close()
        raise
    return made


def run(program: str, payload: Any, size: int, timeout: float, memory_mb: int) -> ExecResult:
    """Run a program on what it reads from standard input. What the sandbox itself failed at is tried once more.

    Args:
        payload: plain values, among them a state of ``size`` bytes.
        timeout: seconds.
        memory_mb: MiB beside the state, which lies in memory while it is laid out, and as files.

    Raises:
        LostError: it failed again.
    """
    limits = Limits(
        timeout=timeout, memory_mb=memory_mb + 4 * size // (1 << 20), disk_mb=DISK_MB, inodes=INODES, file_mb=512
    )
    data = marshal.dumps(payload)
    for _ in range(2):
        result = sandbox().run(program, stdin=data, limits=limits)
        if result.status is not Status.INVALID and not (result.status is Status.KILLED and result.exit_code is None):
            return result
    raise LostError(result.detail or "the sandbox failed")


def entries(state: Snapshot) -> list[tuple[bytes, str, bytes]]:
    """A state as the programs take it."""
    return [(os.fsencode(entry.path), str(entry.kind), entry.data) for entry in state.entries]


def size_of(state: Snapshot) -> int:
    """Bytes of all that a state holds."""
    return sum(len(entry.data) + len(entry.path) + 64 for entry in state.entries)


def ended(result: ExecResult) -> tuple[str, str] | None:
    """Reason and words for a program that was stopped at a limit; ``None`` where it came to an end of its own."""
    return _WORDS.get(result.status)


def lost(error: LostError, identity: str) -> Verdict:
    """The verdict where the sandbox failed."""
    return Verdict.invalid("sandbox_lost", identity, detail=str(error)[:300])


def no_workspace(identity: str) -> Verdict:
    """The verdict where there is no state to judge."""
    detail = "this checker judges what an episode left in its workspace, and there was none"
    return Verdict.invalid("no_workspace", identity, detail=detail)
