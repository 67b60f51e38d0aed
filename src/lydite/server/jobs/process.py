"""Processes of jobs: begun in a group of their own, known again after a restart, ended with all that they began.

A process is known by its id and by when it began: ids are used again. Covered: a dead one that nobody has reaped counts
as gone; what is left of a group is killed only while its number cannot belong to another. Not covered: processes
that left the group on purpose (the sandbox's end with their parent by themselves).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from lydite.server.tokens import FROM_ENVIRONMENT

_PROC = Path("/proc")
_OWN = "memory.events.local"
_ENVIRONMENT = {"PYTHONUNBUFFERED": "1"}


def began(pid: int) -> str | None:
    """When a living process began, in the kernel's words; ``None`` where it is gone, or dead and not yet reaped."""
    if not (_PROC / "self" / "stat").exists():
        return _asked(pid)
    try:
        stat = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()  # the name before may hold anything
    return None if fields[0] in (b"Z", b"X") else f"{fields[19].decode()}@{_boot()}"


@cache
def _boot() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text()[:8]
    except OSError:
        return ""


def _asked(pid: int) -> str | None:
    """Where there is no /proc."""
    done = subprocess.run(  # noqa: S603
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    state, _, start = done.stdout.strip().partition(" ")
    return None if not state or state.startswith("Z") else f"{' '.join(start.split())[:39]}@"


def alive(pid: int | None, start: str | None) -> bool:
    """Whether this very process is still there."""
    return pid is not None and start is not None and began(pid) == start


def launch(command: Sequence[str], folder: Path, log: Path) -> subprocess.Popen[bytes]:
    """Begin a process in a session of its own, which nothing binds to this one. What it prints goes to ``log``.

    Raises:
        OSError: it cannot be begun.
    """
    with open(log, "ab") as out:
        return subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", *command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=_environment(),
            start_new_session=True,
        )


def _environment() -> dict[str, str]:
    """The service's own without its token; folders of modules by their whole path, as the process starts elsewhere."""
    values = {name: value for name, value in os.environ.items() if name != FROM_ENVIRONMENT} | _ENVIRONMENT
    if path := values.get("PYTHONPATH"):
        values["PYTHONPATH"] = os.pathsep.join(os.path.abspath(part) for part in path.split(os.pathsep) if part)
    return values


def ended(process: subprocess.Popen[bytes]) -> int | None:
    """The exit code of a child that is over (negative: the signal), after the rest of its group was killed; else
    ``None``. Its number is held until then, so that no other group can have it."""
    if process.returncode is not None:
        return process.returncode
    try:
        over = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return process.poll()
    if over is None:
        return None
    send(process.pid, signal.SIGKILL, group=True)
    return process.wait()


def sweep(pid: int, start: str | None) -> None:
    """Kill what is left of the group of a process that is gone and was no child of this one."""
    if start is None or not start.endswith(f"@{_boot()}"):  # of another machine, or from before it was started
        return
    if began(pid) in (None, start):  # a number that another process has now is no group of ours any more
        send(pid, signal.SIGKILL, group=True)


def send(pid: int, number: signal.Signals, *, group: bool) -> None:
    """Send a signal to a process, or to its whole group; one that is gone is left alone."""
    try:
        if group:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def named(code: int) -> str:
    """What an exit code says, in words."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"killed by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"killed by signal {-code}"


def ooms() -> int | None:
    """How many processes the kernel has killed for want of memory in the control group of this process (those of
    sandboxes have groups of their own), or on the whole machine; ``None`` where that cannot be known."""
    for path, word in ((_group() / _OWN, "oom_kill"), (_PROC / "vmstat", "oom_kill")):
        try:
            for line in path.read_text().splitlines():
                name, _, value = line.partition(" ")
                if name == word:
                    return int(value)
        except (OSError, ValueError):
            continue
    return None


def _group() -> Path:
    """The control group of this process (version 2)."""
    root = Path("/sys/fs/cgroup")
    try:
        place = (_PROC / "self/cgroup").read_text().rpartition("::")[2].strip().lstrip("/")
    except OSError:
        return root
    return root / place if (root / place / _OWN).exists() else root
