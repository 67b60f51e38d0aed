"""Worker processes that are copies of this one: what is imported and compiled here need not be there once more.

Only for a caller that owns its process, as a command does, and only while it has one thread and no children: locks,
pipes and connections of other threads would be copied in whatever state they are. Elsewhere the pool starts fresh
interpreters.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import IO

Loop = Callable[[IO[bytes], IO[bytes], int], None]
"""What a copy does, with its requests, its replies and the file of its clock."""


def may_fork() -> bool:
    """Whether a copy of this process would be whole, and share nothing that speaks with others."""
    if sys.platform != "linux":
        return False
    try:
        (thread,) = os.listdir("/proc/self/task")
        with open(f"/proc/self/task/{thread}/children", "rb") as file:
            return not file.read()
    except (OSError, ValueError):
        return False


class Forked:
    """A copy of this process at work; as much of ``subprocess.Popen`` as the pool uses."""

    def __init__(self, loop: Loop, clock: int) -> None:
        requests, self._requests = os.pipe()
        self._replies, replies = os.pipe()
        gc.freeze()  # a collection would write to, and so copy, all that exists
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            self._pid = os.fork()
            if not self._pid:
                _live(loop, requests, replies, clock, before)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._handle = os.pidfd_open(self._pid)
        self._returncode: int | None = None
        os.close(requests)
        os.close(replies)
        self.stdin: IO[bytes] = os.fdopen(self._requests, "wb")
        self.stdout: IO[bytes] = os.fdopen(self._replies, "rb")

    def kill(self) -> None:
        """End it, if it has not ended."""
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, the negative number of the signal that ended it.

        Raises:
            subprocess.TimeoutExpired: it has not ended in so many seconds.
        """
        if self._returncode is None:
            if not select.select([self._handle], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("worker", timeout or 0.0)
            self._returncode = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
            handle, self._handle = self._handle, -1
            os.close(handle)
        return self._returncode


def _live(loop: Loop, requests: int, replies: int, clock: int, mask: set[int | signal.Signals]) -> None:
    """The life of a copy. It never returns to what the process was doing."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        mine = [os.dup(fd) for fd in (requests, replies, clock)]  # one of those may be 0, where that was closed
        os.dup2(mine[0], 0)
        os.dup2(2, 1)
        kept = sorted(mine[1:])
        for low, high in zip((3, *(fd + 1 for fd in kept)), (*kept, os.sysconf("SC_OPEN_MAX")), strict=True):
            os.closerange(low, high)
        loop(os.fdopen(0, "rb", closefd=False), os.fdopen(mine[1], "wb"), mine[2])
        code = 0
    except BaseException as error:
        with contextlib.suppress(BaseException):
            os.write(2, f"a worker process ended: {error!a:.300}\n".encode())
    finally:
        os._exit(code)
