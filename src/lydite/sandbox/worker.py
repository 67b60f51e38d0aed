"""One zygote as its supervisor sees it: what is sent to it, and what its answers mean."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from lydite.errors import UnavailableError
from lydite.sandbox.classify import Ending, classify
from lydite.sandbox.jail import wire
from lydite.sandbox.keeper import Keeper
from lydite.sandbox.piped import exchange
from lydite.sandbox.result import MIB, ExecResult, Job, Limits, Status

GRACE_S = 10.0  # beyond a job's own limits, before its zygote is given up
_TIMEVAL = struct.Struct("ll")


class Cancel:
    """Stops the job that carries it, from any thread, whether it runs or still waits for its turn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.asked = False

    def __call__(self) -> None:
        with self._lock:
            self.asked = True
            if self._socket is not None:
                with contextlib.suppress(OSError):
                    self._socket.send(wire.STOP)

    def under_way(self, sock: socket.socket | None) -> None:
        """The job has been sent here; None: its answer has come."""
        with self._lock:
            self._socket = sock
            if self.asked and sock is not None:
                with contextlib.suppress(OSError):
                    sock.send(wire.STOP)


class Owner(Protocol):
    """The back end that a worker belongs to."""

    name: str
    limits: Limits

    @property
    def closed(self) -> bool: ...
    @property
    def recycle_after(self) -> int: ...
    def spawn(self, kind: str, limits: Limits) -> tuple[Keeper, int, int, socket.socket]: ...


def cpu_limit(limits: Limits) -> float:
    """Seconds of processor time that a job may use."""
    return limits.cpu if limits.cpu is not None else limits.timeout * (os.cpu_count() or 1)


def request(kind: int, job: Job, program: Any, stdins: Sequence[bytes] = ()) -> wire.Request:
    """What a job's process reads (jail.job)."""
    limits = job.limits
    stdin = b"".join(stdins) if kind == wire.CODE else b""
    head = wire.Head(
        kind=kind,
        timeout=limits.timeout,
        cpu=cpu_limit(limits),
        memory=limits.memory_mb * MIB,
        processes=limits.processes,
        descriptors=limits.descriptors,
        file_bytes=limits.file_mb * MIB,
        output_bytes=limits.output_kb * 1024 + 1,
        runs=max(1, len(stdins)),
        stdin_bytes=len(stdin),
        has_files=bool(job.files),
    )
    sizes = tuple(map(len, stdins)) if kind == wire.BATCH else ()
    return wire.Request(head, stdin, job.files, job.env, program, sizes)


class Worker:
    """One zygote and our end of its socket. Used by one thread at a time."""

    def __init__(self, native: Owner) -> None:
        self._native = native
        self._socket: socket.socket | None = None
        self._keeper: Keeper | None = None
        self._number = -1
        self._uid = 0
        self._jobs = 0
        self._kills = 0  # processes killed for memory, as far as its replies told
        self._timeout = 0.0
        self._cancel: Cancel | None = None

    def run(self, job: Job, cancel: Cancel | None = None) -> list[ExecResult]:
        """Run the program once per input."""
        self._cancel = cancel
        try:
            return self._run(job)
        finally:
            if cancel is not None and cancel.asked:
                self.drop()  # the stop may have come too late for this job, and must not meet the next
            self._cancel = None

    def _run(self, job: Job) -> list[ExecResult]:
        results: list[ExecResult] = []
        failures = 0
        while len(results) < len(job.stdins):
            rest = job.stdins[len(results) :]
            if self._cancel is not None and self._cancel.asked:
                return results + [self._ended(Status.KILLED, "cancelled")] * len(rest)
            try:
                # With files each input is a job of its own: nobody could tell whether a run has changed them.
                if job.argv or job.files or len(rest) == 1:
                    results.append(self._one(job, rest[0]))
                else:
                    results += self._batch(job, rest)
                failures = 0
            except OSError as error:
                memory = self.drop()
                failures += 1
                if memory:
                    results.append(
                        self._ended(Status.MEMORY, "its memory ran out, and took the sandbox along", "memory_mb")
                    )
                    failures = 0
                elif self._native.closed:
                    results += [self._ended(Status.KILLED, "the sandbox was closed")] * len(rest)
                elif failures == 2:
                    # Twice in a row, with a fresh zygote the second time: told as ours, for no program can do this.
                    results.append(self._ended(Status.INVALID, f"the sandbox was lost: {error}"))
                    failures = 0
            except UnavailableError as error:
                status = Status.KILLED if self._native.closed else Status.INVALID
                return results + [self._ended(status, str(error))] * len(rest)
            except BaseException:
                self.drop()  # interrupted: nobody will read the answer
                raise
            finally:
                if self._cancel is not None:
                    self._cancel.under_way(None)
        return results

    def _ended(self, status: Status, detail: str, limit: str | None = None) -> ExecResult:
        return ExecResult(status=status, exit_code=None, backend=self._native.name, limit=limit, detail=detail)

    def connect(self) -> socket.socket:
        if self._jobs >= self._native.recycle_after:
            self.drop()
        if self._socket is None:
            self._keeper, self._number, self._uid, self._socket = self._native.spawn("worker", self._native.limits)
            self._jobs = self._kills = 0
            self._timeout = 0.0
        return self._socket

    def _send(self, message: wire.Request, fds: tuple[int, ...], seconds: float) -> socket.socket:
        for attempt in (1, 2):
            sock = self.connect()
            if seconds != self._timeout:
                whole = int(seconds)
                option = _TIMEVAL.pack(whole, int((seconds - whole) * 1e6))
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, option)
                self._timeout = seconds
            try:
                wire.send(sock, message, fds)
                self._jobs += 1
                if self._cancel is not None:
                    self._cancel.under_way(sock)
                return sock
            except OSError:
                if attempt == 2:
                    raise
                self.drop()  # it died while it was idle
        raise AssertionError

    def _one(self, job: Job, stdin: bytes) -> ExecResult:
        if job.argv:
            return self._command(job, stdin)
        wanted = request(wire.CODE, job, job.code, [stdin])
        sock = self._send(wanted, (), job.limits.timeout + GRACE_S)
        reply, fds = _receive(sock)
        try:
            cap = job.limits.output_kb * 1024
            out, err = (wire.read_all(fd, cap + 1) for fd in fds)
        finally:
            for fd in fds:
                os.close(fd)
        return classify(self._ending(reply), out, err, job.limits, self._native.name)

    def _command(self, job: Job, stdin: bytes) -> ExecResult:
        self.connect()  # the pipes are given to the uid of the zygote that will run it
        message = request(wire.ARGV, job, list(job.argv))
        cap, patience = job.limits.output_kb * 1024, job.limits.timeout + GRACE_S
        reply, fds, out, err = exchange(self._send, lambda: self._uid, message, stdin, cap, patience)
        for fd in fds:
            os.close(fd)
        return classify(self._ending(reply), out, err, job.limits, self._native.name)

    def _batch(self, job: Job, stdins: tuple[bytes, ...]) -> list[ExecResult]:
        limits = job.limits
        wanted = request(wire.BATCH, job, job.code, stdins)
        # In a file and not in the request: a run must not find the inputs of others in its memory.
        inputs = wire.sealed(b"".join(stdins), "inputs")
        try:
            sock = self._send(wanted, (inputs,), limits.timeout * len(stdins) * 1.1 + GRACE_S)
        finally:
            os.close(inputs)
        reply, fds = _receive(sock)
        try:
            data = wire.read_all(fds[0])
        finally:
            for fd in fds:
                os.close(fd)
        ending = self._ending(reply)
        results = list(_runs(data, limits, self._native.name))
        if len(results) < len(stdins) and (ending.status or not results):
            # The program ended the process that forks its runs, or memory ran out: the run under way is to blame.
            results.append(classify(ending, b"", b"", limits, self._native.name, unfinished=True))
        return results

    def _ending(self, reply: bytes) -> Ending:
        ending = ending_of(reply)
        self._kills += abs(ending.killed)
        if ending.killed:
            self.drop()  # its memory is given back in a moment, but the next job may not pay for that
        return ending

    def drop(self) -> bool:
        """Give up this zygote; the next job starts another. Returns whether its job had met its memory limit."""
        sock, self._socket = self._socket, None
        if sock is None:
            return False
        sock.close()
        if self._keeper is None or self._native.closed:
            return False
        return self._keeper.end(self._number) > self._kills

    def forget(self) -> None:
        """After a fork, in the child."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _receive(sock: socket.socket) -> tuple[bytes, list[int]]:
    """The zygote's reply.

    Raises:
        OSError: it is gone or does not answer.
    """
    try:
        reply, fds, _, _ = socket.recv_fds(sock, 8192, 4)
    except BlockingIOError:
        raise OSError("no answer") from None
    if not reply:
        raise OSError("the zygote is gone")
    return reply, fds


def ending_of(reply: bytes) -> Ending:
    """A zygote's reply, read."""
    started, status, stopped, killed, denied, full, wall, cpu = wire.REPLY.unpack_from(reply)
    reason = reply[wire.REPLY.size :].decode(errors="replace")
    return Ending(bool(started), status, stopped, killed, denied, full, wall, cpu, reason)


def _runs(data: bytes, limits: Limits, backend: str) -> Iterator[ExecResult]:
    offset, cap = 0, limits.output_kb * 1024
    while offset + wire.RUN.size <= len(data):
        status, stopped, killed, denied, full, wall, cpu, out, err = wire.RUN.unpack_from(data, offset)
        offset += wire.RUN.size
        if offset + out + err > len(data):
            return  # the results file itself was cut short
        ending = Ending(True, status, stopped, killed, denied, full, wall, cpu, "")
        start = offset
        offset += out + err
        yield classify(
            ending,
            data[start : start + min(out, cap + 1)],
            data[start + out : start + out + min(err, cap + 1)],
            limits,
            backend,
        )
