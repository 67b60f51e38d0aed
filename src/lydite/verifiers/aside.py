"""A process at the side, for work of ours that a candidate's text could make long or large.

For our own code on data that a candidate chose: a symbolic proof of equality, a regular expression, a query. The
process is started before it is needed, has a limit on memory, and each call a budget of processor time that the kernel
enforces: code in C that never returns to the interpreter is ended too. No signal handlers, no ``multiprocessing``: so
that it works alike from the main thread, from threads, asyncio and daemonic workers, and after a fork.

Covered: time, memory, recursion, crashes of the interpreter. Not covered: what runs there can do all that the user can.
Code of a candidate belongs into the sandbox.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import IO

from lydite.errors import LyditeError
from lydite.verifiers.caller import end_with_caller

WALL_FACTOR, WALL_GRACE = 20, 10.0
"""A call may wait this much longer than its budget, on a busy machine, before the process counts as lost."""
_FRAME = struct.Struct("<cdQ")  # kind of message, CPU seconds, length
_REPLY, _MEMORY, _RECURSION, _FAULT, _READY = b"r", b"m", b"s", b"f", b"!"
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]);"
    "from lydite.verifiers.aside import serve; serve(sys.argv[2], int(sys.argv[3]))"
)


class OverBudgetError(Exception):
    """What the candidate chose cost too much. ``what``: ``time``, ``memory`` (also recursion that ends the process)."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"ran out of {what}")


class LostError(LyditeError):
    """The process did not start, ended for a reason that is not the call's, or its function raised: our fault."""


class Aside:
    """Processes that apply one function to bytes, each call within a budget.

    Args:
        target: ``module:function``, bytes to bytes, importable in a fresh interpreter; what its module imports is
            loaded when the process starts, not in a call's budget.
        cpu_seconds: processor time of a call.
        memory_mb: address space that the process may have beyond what it has once it is ready.
        processes: how many may run at once; further calls wait.
        recycle: calls after which a process is replaced.
    """

    def __init__(
        self, target: str, *, cpu_seconds: float = 1.0, memory_mb: int = 512, processes: int = 2, recycle: int = 10_000
    ) -> None:
        self.target, self.cpu_seconds, self.memory_mb, self.recycle = target, cpu_seconds, memory_mb, recycle
        self._processes = processes
        self._reset()
        _ALL.add(self)

    def _reset(self) -> None:
        self._idle: list[_Process] = []
        self._lock = threading.Lock()
        self._room = threading.Semaphore(self._processes)

    def start(self) -> None:
        """Have a process ready, without waiting for it."""
        with self._lock:
            if not self._idle:
                self._idle.append(_Process(self))

    def call(self, data: bytes, cpu_seconds: float | None = None) -> bytes:
        """The function's reply.

        Args:
            cpu_seconds: this call's budget, instead of the usual one.

        Raises:
            OverBudgetError: by the data's doing.
            LostError: by ours.
        """
        budget = self.cpu_seconds if cpu_seconds is None else cpu_seconds
        with self._room:
            for again in (True, False):
                with self._lock:
                    process = self._idle.pop() if self._idle else None
                process = process or _Process(self)
                try:
                    reply = process.call(data, budget)
                except LostError:
                    process.end()
                    if again:  # killed from outside, perhaps while it was idle
                        continue
                    raise
                except BaseException:
                    process.end()
                    raise
                if process.calls >= self.recycle:
                    process.end()
                else:
                    with self._lock:
                        self._idle.append(process)
                return reply
        raise AssertionError

    def close(self) -> None:
        """End the idle processes. A later call starts another."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()


_ALL: weakref.WeakSet[Aside] = weakref.WeakSet()


def _after_fork() -> None:
    # The processes and locks are the parent's. The copies of the pipes close with the objects.
    for aside in list(_ALL):
        for process in aside._idle:
            process.forget()
        aside._reset()


os.register_at_fork(after_in_child=_after_fork)


class _Process:
    """One process and our end of its pipes. Used by one thread at a time."""

    def __init__(self, aside: Aside) -> None:
        self.calls = 0
        paths = json.dumps(sys.path)
        try:
            self._popen = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", _BOOT, paths, aside.target, str(aside.memory_mb)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONHASHSEED": "0"},
            )
        except OSError as error:
            raise LostError(f"a process of the verifier's cannot start: {error}") from error
        self._ready = False

    @property
    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        return self._popen.stdin, self._popen.stdout

    def call(self, data: bytes, budget: float) -> bytes:
        sink, source = self._pipes
        if not self._ready:
            if _read(source, time.monotonic() + 120)[0] != _READY:
                raise LostError("a process of the verifier's did not start; its words are on standard error")
            self._ready = True
        self.calls += 1
        try:
            sink.write(_FRAME.pack(b"c", budget, len(data)))
            sink.write(data)
            sink.flush()
        except OSError as error:
            raise LostError("a process of the verifier's is gone") from error
        kind, reply = _read(source, time.monotonic() + WALL_FACTOR * budget + WALL_GRACE)
        if kind == _REPLY:
            return reply
        if kind in (_MEMORY, _RECURSION):
            raise OverBudgetError("memory")
        if kind == _FAULT:
            raise LostError(reply.decode("utf-8", "replace"))
        if kind == b"late":
            raise LostError("a process of the verifier's did not answer in time: is this machine overloaded?")
        code = self._popen.wait()
        if code == -signal.SIGPROF:
            raise OverBudgetError("time")
        if code in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS):
            raise OverBudgetError("memory")
        raise LostError(f"a process of the verifier's ended ({code})")

    def end(self) -> None:
        self._popen.kill()
        self.forget()
        self._popen.wait()

    def forget(self) -> None:
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                pipe.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.forget()
            self._popen.poll()


def _read(source: IO[bytes], until: float) -> tuple[bytes, bytes]:
    """One message's kind and content; kind ``late`` where none came in time, empty where the process ended."""
    fd = source.fileno()

    def exactly(size: int) -> bytes | None:
        pieces = bytearray()
        while len(pieces) < size:
            rest = until - time.monotonic()
            if rest <= 0 or not select.select([fd], [], [], rest)[0]:
                return None
            piece = os.read(fd, min(size - len(pieces), 1 << 20))
            if not piece:
                return b""
            pieces += piece
        return bytes(pieces)

    head = exactly(_FRAME.size)
    if not head:
        return (b"late" if head is None else b""), b""
    kind, _, size = _FRAME.unpack(head)
    body = exactly(size) if size else b""
    return (kind, body) if body is not None and len(body) == size else (b"late" if body is None else b"", b"")


def serve(target: str, memory_mb: int) -> None:
    """The process's loop: one call at a time, until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller decides when to stop
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process, whatever it is doing
    end_with_caller()  # a caller that is killed leaves nothing behind that goes on until its budget is spent
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, _, name = target.partition(":")
    function: Callable[[bytes], bytes] = getattr(importlib.import_module(module), name)
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    limit = used + memory_mb * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def say(kind: bytes, data: bytes = b"") -> None:
        sink.write(_FRAME.pack(kind, 0.0, len(data)))
        sink.write(data)
        sink.flush()

    with contextlib.suppress(BrokenPipeError):
        say(_READY)
        while len(head := source.read(_FRAME.size)) == _FRAME.size:
            _, budget, size = _FRAME.unpack(head)
            data = source.read(size)
            signal.setitimer(signal.ITIMER_PROF, budget)
            try:
                kind, reply = _REPLY, function(data)
            except MemoryError:
                kind, reply = _MEMORY, b""
            except RecursionError:
                kind, reply = _RECURSION, b""
            except Exception as error:
                kind, reply = _FAULT, f"{type(error).__name__}: {str(error)[:300]}".encode("utf-8", "replace")
            signal.setitimer(signal.ITIMER_PROF, 0)
            say(kind, reply)
