"""What a job may use and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from lydite.errors import InputError

MIB = 1 << 20


class Status(StrEnum):
    """How a job ended. Everything but ``invalid`` is the doing of the program that ran."""

    OK = "ok"
    ERROR = "error"  # it left with a non-zero code, or by a signal of its own
    TIMEOUT = "timeout"  # wall clock or processor time
    MEMORY = "memory"
    PROCESSES = "processes"
    DISK = "disk"  # bytes, inodes or the size of one file
    OUTPUT = "output"
    KILLED = (
        "killed"  # by the caller (close, cancel; then exit_code may be None), or by the kernel for a forbidden call
    )
    INVALID = "invalid"  # our fault: told by the supervisor, out of band; no program can bring it about


_KIND = {1: "a whole number", 2: "a number of seconds"}


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one job may use. Each limit has a verdict of its own.

    Attributes:
        timeout: seconds of wall clock, from the moment the program starts (not while it is queued).
        cpu: seconds of processor time of the whole job; None: ``timeout`` times the processors of this machine.
        memory_mb: MiB of the whole job: all its processes, its files in memory and its output.
        processes: processes and threads at one time.
        descriptors: open files of one process.
        file_mb: MiB of one file.
        disk_mb: MiB of all files that the job writes (the workspace, /tmp and /dev/shm together).
        inodes: number of files that the job makes.
        output_kb: KiB of standard output, and the same of standard error. What lies beyond is cut off.
    """

    timeout: float = 5.0
    cpu: float | None = None
    memory_mb: int = 512
    processes: int = 64
    descriptors: int = 256
    file_mb: int = 64
    disk_mb: int = 64
    inodes: int = 8192
    output_kb: int = 1024

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is None and name == "cpu":
                continue
            kinds = (int, float) if name in ("timeout", "cpu") else (int,)
            if isinstance(value, bool) or not isinstance(value, kinds):
                raise InputError(f"{value!r:.40} is no limit", field=name, remedy=f"give {_KIND[len(kinds)]}")
            most = 10**6 if name in ("timeout", "cpu") else 10**7
            if not 0 < value <= most:
                raise InputError(f"{value} is no limit", field=name, remedy=f"give a number above 0, up to {most}")


class ExecResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one program.

    Attributes:
        status: see :class:`Status`.
        exit_code: the exit code; minus the number of the signal that ended it; None where it never ran to an end that
            anyone saw (``invalid``).
        stdout, stderr: what it wrote, cut at ``Limits.output_kb``.
        wall_s: seconds from its start to its end.
        cpu_s: processor seconds of the whole job where a cgroup counts them, else of the main process and the children
            that it waited for.
        backend: the back end that ran it, for example ``namespaces``.
        limit: the limit that ended it, a field name of :class:`Limits`, or None.
        detail: words for people: why a job is ``invalid`` or ``killed``, what was cut.
    """

    status: Status
    exit_code: int | None
    stdout: bytes = b""
    stderr: bytes = b""
    wall_s: float = 0.0
    cpu_s: float = 0.0
    backend: str = ""
    limit: str | None = None
    detail: str = ""

    def __repr__(self) -> str:
        """All of it, but for the middle of long output."""
        fields = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return f"ExecResult({', '.join(f'{name}={_short(value)}' for name, value in fields)})"


def _short(value: object) -> str:
    if isinstance(value, bytes) and len(value) > 1000:
        return f"{value[:400]!r}...{len(value) - 800} bytes...{value[-400:]!r}"
    return repr(value)


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One program to run: Python source (``code``) or a command (``argv``), never both.

    Attributes:
        code: Python source, run as ``__main__`` in a warm interpreter.
        argv: a command and its arguments. A workspace runs commands only.
        stdins: one standard input per run of the program. With several the program is compiled once.
        files: path relative to the working directory to content; made before the program starts.
        env: additional environment variables.
        limits: what it may use.
    """

    code: str | None = None
    argv: tuple[str, ...] = ()
    stdins: tuple[bytes, ...] = (b"",)
    files: dict[str, bytes] = {}
    env: dict[str, str] = {}
    limits: Limits = Limits()


class Tree(Protocol):
    """The private file tree of a session, and the commands run in it. Used by one thread at a time.

    Paths are relative to the workspace and never leave it: no symbolic link is followed. A method raises ``OSError``
    (``FileNotFoundError``, ``NotADirectoryError`` ...) as the same operation on a real folder would, and
    :class:`~lydite.errors.UnavailableError` after the sandbox was lost.
    """

    def exec(self, argv: Sequence[str], *, stdin: bytes, env: dict[str, str], limits: Limits) -> ExecResult: ...
    def read(self, path: str, limit: int) -> bytes: ...
    def write(self, path: str, data: bytes, mode: int) -> None: ...
    def remove(self, path: str) -> None: ...
    def list(self, path: str) -> list[str]: ...
    def freeze(self) -> None: ...
    def pack(self) -> bytes: ...
    def unpack(self, data: bytes) -> None: ...
    def close(self) -> None: ...


class Backend(Protocol):
    """One way to run untrusted programs. Thread-safe: as many jobs at a time as it has workers, the rest queue."""

    name: str

    def run(self, job: Job) -> list[ExecResult]:
        """Run the program once per input; one result each. Never raises for anything that the program did."""
        ...

    def session(self, files: dict[str, bytes], limits: Limits) -> Tree:
        """A private file tree that outlives its commands."""
        ...

    def close(self) -> None:
        """End every job and leave nothing behind. Idempotent."""
        ...
