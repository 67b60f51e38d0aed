"""Run a prover's commands in the sandbox."""

from __future__ import annotations

import base64
import binascii
import signal
from collections.abc import Mapping

from lydite.sandbox import ExecResult, Limits, Status
from lydite.verifiers.code.box import LostError, sandbox

_SHOWN = 600
_CPU = 128 + signal.SIGXCPU
"""What a shell leaves with when its command used up its processor time."""


def limits(seconds: float, memory_mb: int) -> Limits:
    """Limits of one command. ``seconds`` of processor time, three times that of wall clock: a busy machine is nobody's
    fault."""
    return Limits(timeout=3 * seconds, cpu=seconds, memory_mb=memory_mb, output_kb=65_536)


def run(script: str, files: Mapping[str, bytes | str], env: Mapping[str, str], bounds: Limits) -> ExecResult:
    """A shell script in a folder of its own that holds ``files``. What the sandbox itself fails at is tried once more.

    Raises:
        LostError: it failed again.
    """
    for _ in range(2):
        result = sandbox().run(argv=["/bin/sh", "-c", script], files=files, env=env, limits=bounds)
        if result.status is not Status.INVALID:
            return result
    raise LostError(result.detail or "the sandbox failed")


def files_in(result: ExecResult, count: int) -> list[bytes] | None:
    """Files that a script printed, a line each in base64; ``None`` where there are not so many."""
    lines = result.stdout.split()
    try:
        return [base64.b64decode(line, validate=True) for line in lines] if len(lines) == count else None
    except binascii.Error:
        return None


def failure(result: ExecResult) -> str | None:
    """The limit that ended a command, as a reason; ``None`` where it ended by itself."""
    if result.status is Status.TIMEOUT or result.exit_code == _CPU:
        return "timeout"
    if result.status in (Status.MEMORY, Status.DISK, Status.PROCESSES, Status.KILLED):
        return "memory"
    return "output" if result.status is Status.OUTPUT else None


def words(result: ExecResult) -> str:
    """What a command complained of, for a person."""
    text = (result.stderr or result.stdout).decode("utf-8", "replace").strip()
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
