"""One program as a plain child process, held to its limits as far as an ordinary process can hold another.

Covered: wall clock, output, processor time and file size (POSIX), memory, number of processes, disk (where there is a
/proc; disk everywhere), and that the program's process group ends with it. Not covered: anything else. It can read and
write whatever we can, and a process that leaves its group survives.

Standard library and no Linux call: this is for machines where nothing better is there.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import BinaryIO, NamedTuple

from lydite.sandbox.external import meter
from lydite.sandbox.result import MIB, ExecResult, Limits, Status

POSIX = os.name == "posix"
PROC = os.path.isdir("/proc/self/task")
TICK_S = 0.01
GRACE_S = 1.0  # for what was killed to be gone; an init that reaps late keeps it on the list
NAME = "unsafe"
# Runs before the program, in its process: waits until somebody else knows of it (who kills it if we die), then limits,
# and signals that the interpreter ignores and exec would hand on.
_INIT = """
import json, os, resource, signal, sys
if not os.read(int(sys.argv[2]), 1): os._exit(1)
os.close(int(sys.argv[2]))
for name, value in json.loads(sys.argv[1]).items():
    kind = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    most = value + (name == "RLIMIT_CPU")  # SIGXCPU first, SIGKILL a second later
    if hard != resource.RLIM_INFINITY: value, most = min(value, hard), min(most, hard)
    resource.setrlimit(kind, (value, most))
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
if hasattr(signal, "SIGXFSZ"): signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
code, reason = 126, ""
try: os.execvp(sys.argv[3], sys.argv[3:])
except FileNotFoundError: code, reason = 127, "not found"
except (OSError, ValueError) as error: reason = str(error)
os.write(2, f"{sys.argv[3]}: {reason}\\n".encode(errors="replace"))
os._exit(code)
"""


class Stop(NamedTuple):
    """Why a program was stopped."""

    status: Status
    limit: str | None


class Bare:
    """One run of one program. :meth:`kill` may come from another thread; the rest is for one."""

    def __init__(self, python: str, folder: str, limits: Limits) -> None:
        self._python, self._folder, self._limits = python, folder, limits
        self._cpu = limits.timeout * (os.cpu_count() or 1) if limits.cpu is None else limits.cpu
        self._process: subprocess.Popen[bytes] | None = None
        self._stop: Stop | None = None
        self._asked = False
        self._use, self._files, self._walk_at = meter.Use(), meter.Files(), 0.0
        self._spent = 0.0

    def go(
        self, argv: Sequence[str], env: Mapping[str, str], cwd: str, stdin: bytes, started: Callable[[int], None]
    ) -> ExecResult:
        """Run it to its end. Its three streams are files in the folder, so nothing can block.

        Args: started: is told its process group.
        """
        paths = [os.path.join(self._folder, name) for name in ("stdin", "stdout", "stderr")]
        with open(paths[0], "wb") as file:
            file.write(stdin)
        began = time.monotonic()
        with open(paths[0], "rb") as given, open(paths[1], "w+b") as out, open(paths[2], "w+b") as err:
            try:
                self._process = self._start(argv, env, cwd, (given, out, err), started)
            except FileNotFoundError:
                return ExecResult(status=Status.ERROR, exit_code=127, stderr=b"not found\n", backend=NAME)
            except (OSError, ValueError) as error:
                return ExecResult(status=Status.INVALID, exit_code=None, detail=str(error), backend=NAME)
            code = self._wait(began, cwd, lambda: max(os.fstat(out.fileno()).st_size, os.fstat(err.fileno()).st_size))
            wall = time.monotonic() - began
            return self._result(code, wall, cwd, out, err)

    def _start(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str,
        streams: tuple[BinaryIO, ...],
        started: Callable[[int], None],
    ) -> subprocess.Popen[bytes]:
        stdin, stdout, stderr = streams
        if not POSIX:
            process = subprocess.Popen(list(argv), stdin=stdin, stdout=stdout, stderr=stderr, env=dict(env), cwd=cwd)  # noqa: S603
            started(process.pid)
            return process
        theirs, ours = os.pipe()
        try:
            process = subprocess.Popen(  # noqa: S603
                [self._python, "-I", "-S", "-c", _INIT, _rlimits(self._limits, self._cpu), str(theirs), *argv],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=dict(env),
                cwd=cwd,
                start_new_session=True,
                pass_fds=[theirs],
            )
            started(process.pid)
            os.write(ours, b"x")
            return process
        finally:
            os.close(theirs)
            os.close(ours)

    def _wait(self, began: float, cwd: str, written: Callable[[], int]) -> int:
        """Until the program has ended. Returns its exit code, or minus the signal."""
        while True:
            code = self._poll()
            if code is not None:
                return code
            stop = self._over(began, cwd, written())
            if stop is not None:
                self._stop = stop
                self.end()
            time.sleep(TICK_S)

    def _poll(self) -> int | None:
        assert self._process is not None
        if not POSIX:
            return self._process.poll()
        pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        if pid == 0:
            return None
        self._spent = usage.ru_utime + usage.ru_stime
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return self._process.returncode

    def _over(self, began: float, cwd: str, written: int) -> Stop | None:
        limits, now = self._limits, time.monotonic()
        if self._asked:
            return Stop(Status.KILLED, None)
        if written > limits.output_kb * 1024:
            return Stop(Status.OUTPUT, "output_kb")
        if now - began > limits.timeout:
            return Stop(Status.TIMEOUT, "timeout")
        if PROC and self._process is not None:
            pids = [self._process.pid, *meter.descendants(self._process.pid)]
            self._use = meter.use(pids, limits.memory_mb * MIB)
            if self._use.memory > limits.memory_mb * MIB:
                return Stop(Status.MEMORY, "memory_mb")
            if self._use.tasks > limits.processes:
                return Stop(Status.PROCESSES, "processes")
            if self._use.cpu > self._cpu:
                return Stop(Status.TIMEOUT, "cpu")
        if now >= self._walk_at:
            self._files = meter.files([cwd], limits.inodes)
            self._walk_at = time.monotonic() + max(0.05, 10 * (time.monotonic() - now))
            if self._files.size > limits.disk_mb * MIB or self._files.number > limits.inodes:
                return Stop(Status.DISK, "disk_mb")
        return None

    def kill(self) -> None:
        """End the program on request; its result says ``killed``."""
        self._asked = True

    def end(self) -> None:
        """Kill the program's process group (Windows: its tree), also after its own end."""
        if self._process is None:
            return
        if POSIX:
            with suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            for _ in range(int(GRACE_S / TICK_S)):
                if self._process.returncode is None or not self.left:
                    break
                time.sleep(TICK_S)
        else:
            command = ["taskkill", "/F", "/T", "/PID", str(self._process.pid)]
            subprocess.run(command, capture_output=True, check=False)  # noqa: S603

    @property
    def group(self) -> int:
        """The number of its process and process group; 0 before it started."""
        return 0 if self._process is None else self._process.pid

    @property
    def left(self) -> bool:
        """Something of its process group is still there. Nobody else can have the group's number while that is so."""
        if self._process is None:
            return False
        with suppress(OSError):
            if POSIX:
                os.killpg(self._process.pid, 0)
            return True
        return False

    def _result(self, code: int, wall: float, cwd: str, out: BinaryIO, err: BinaryIO) -> ExecResult:
        limits = self._limits
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(limits.output_kb * 1024 + 1))
        if code and self._stop is None:
            self._files = meter.files([cwd], limits.inodes)
        status, limit = self._ending(code, max(map(len, texts)))
        return ExecResult(
            status=status,
            exit_code=code,
            stdout=texts[0][: limits.output_kb * 1024],
            stderr=texts[1][: limits.output_kb * 1024],
            wall_s=wall,
            cpu_s=max(self._spent, self._use.cpu),
            backend=NAME,
            limit=limit,
        )

    def _ending(self, code: int, written: int) -> Stop:
        limits = self._limits
        if written > limits.output_kb * 1024:
            return Stop(Status.OUTPUT, "output_kb")
        if self._stop is not None:
            return self._stop
        if code == 0:
            return Stop(Status.OK, None)
        if POSIX and code == -signal.SIGXCPU:
            return Stop(Status.TIMEOUT, "cpu")
        if (POSIX and code == -signal.SIGXFSZ) or self._files.largest >= limits.file_mb * MIB:
            return Stop(Status.DISK, "file_mb")
        if self._files.size >= limits.disk_mb * MIB or self._files.number >= limits.inodes:
            return Stop(Status.DISK, "disk_mb")
        if self._asked and POSIX and code == -signal.SIGKILL:
            return Stop(Status.KILLED, None)
        return Stop(Status.ERROR, None)


def _rlimits(limits: Limits, cpu: float) -> str:
    found = {
        "RLIMIT_NOFILE": limits.descriptors,
        "RLIMIT_FSIZE": limits.file_mb * MIB,
        "RLIMIT_CPU": max(1, int(cpu + 1.999)),
        "RLIMIT_CORE": 0,
    }
    return json.dumps(found)


def unheld() -> frozenset[str]:
    """Limits that cannot be held on this platform."""
    if PROC:
        return frozenset()
    return frozenset({"memory_mb", "processes"} if POSIX else {"memory_mb", "processes", "cpu", "descriptors"})
