"""Work in other processes, in order, with a limit on each item's time.

Workers are started as plain subprocesses rather than through ``multiprocessing``: nothing is forked (so threads and
loaded native libraries do no harm), the caller's ``__main__`` is not imported again, and daemonic processes may have
them. A worker reads chunks from its standard input and answers on a private copy of its standard output; what a
verifier prints goes to standard error. A command, whose process is its own, may have copies of itself work instead
(``forked``): they are there at once. One that ends is replaced by a fresh interpreter.

What a chunk is, the caller says (``Framing``): the pool hands it on as one piece of bytes, and takes it apart only
where a worker was lost at one of its items. So the caller's process does little, and the workers have the cores.
"""

from __future__ import annotations

import contextlib
import importlib
import mmap
import os
import queue
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import chain, islice
from typing import IO, Literal

import msgspec

from lydite.errors import UnavailableError
from lydite.verifiers.caller import end_with_caller, end_with_silent_pipe
from lydite.verifiers.chunks import CLOCK, Clock, Framing, Lost, Pace, Reply, Work
from lydite.verifiers.forked import Forked

AHEAD_CHUNKS, AHEAD_BYTES = 16, 16 << 20
"""Chunks per worker, and bytes in all, that are taken ahead of the replies; a slow chunk then holds nobody up."""
PREPARE_SECONDS = 120.0
"""How long a worker may take between two checks (to compile a checker, to start what it needs), where there is a limit
on the checks. No attempt is charged for it."""
START_PAUSES = 0.2, 0.8, 3.2
"""Seconds before another try, where a worker is killed while it starts or the system has no room for it."""

_KILLED = -signal.SIGKILL, -signal.SIGTERM
"""How a process ends that somebody else ended: a person, a batch system, a kernel that is out of memory."""

_SIZE = struct.Struct("<Q")
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]);"
    "from lydite.verifiers.pool import serve; serve(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))"
)


def map_in_processes(
    target: str,
    chunks: Iterable[bytes],
    jobs: int,
    framing: Framing,
    pace: Pace,
    timeout: float | None = None,
    setup: bytes = b"",
    work: Work | None = None,
) -> Iterator[Reply]:
    """Apply a function to chunks in worker processes, lazily and in order.

    Args: target: ``module:factory``, importable in a fresh interpreter; ``factory(setup)`` is the function, of the
        type ``Work``. chunks: consumed in the caller's thread, some ahead of the replies. jobs: number of workers.
        framing: how a chunk comes apart. pace: told how long chunks take. timeout: seconds for one check, from
        ``clock.start``; the worker is then killed and replaced. setup: handed to the factory in each worker. work: the
        function, where the first workers may be copies of this process, which then has to have one thread.

    Yields:
        A reply for each chunk; where an item of it was lost, replies for what came before and behind, and ``Lost``
        between them.

    Raises:
        UnavailableError: a worker cannot be started.
    """
    chunks = iter(chunks)
    first = list(islice(chunks, jobs))
    workers = Workers(target, len(first), framing, timeout, setup, work)

    def run(chunk: bytes) -> list[Reply]:
        started = time.monotonic()
        replies = workers.run(chunk)
        pace.note(len(chunk), time.monotonic() - started)
        return replies

    pending: deque[tuple[int, Future[list[Reply]]]] = deque()
    ahead = 0
    try:
        with ThreadPoolExecutor(max(1, len(first)), thread_name_prefix="lydite-verify") as threads:
            try:
                for chunk in chain(first, chunks):
                    pending.append((len(chunk), threads.submit(run, chunk)))
                    ahead += len(chunk)
                    while pending and (
                        pending[0][1].done()
                        or len(pending) > AHEAD_CHUNKS * jobs
                        or (ahead > AHEAD_BYTES and len(pending) > jobs)
                    ):
                        size, future = pending.popleft()
                        ahead -= size
                        yield from future.result()
                while pending:
                    yield from pending.popleft()[1].result()
            finally:
                for _, future in pending:
                    future.cancel()
                workers.stop()
    finally:
        workers.close()


class Workers:
    """Some worker processes, each started when there is work for it. Safe from threads."""

    def __init__(
        self,
        target: str,
        jobs: int,
        framing: Framing,
        timeout: float | None = None,
        setup: bytes = b"",
        work: Work | None = None,
        *,
        prepare: float | None = None,
    ) -> None:
        """Take what ``map_in_processes`` takes; ``work`` before any thread is started. ``prepare``: seconds between two
        checks, in place of ``PREPARE_SECONDS``."""
        self._workers = [_Worker(target, setup, timeout, framing, prepare) for _ in range(jobs)]
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for worker in self._workers:
            if work is not None:
                worker.fork(work)
            self._idle.put(worker)

    def run(self, chunk: bytes) -> list[Reply]:
        """The replies to a chunk, by the next worker that is free."""
        worker = self._idle.get()
        try:
            return worker.run(chunk)
        finally:
            self._idle.put(worker)

    def stop(self) -> None:
        """End the processes, whatever they are doing; threads that wait for them then return."""
        for worker in self._workers:
            worker.stop()

    def close(self) -> None:
        """Release everything. No thread may be in ``run`` any more."""
        for worker in self._workers:
            worker.close()


class _Worker:
    """One worker process and the parent's end of its pipes. Used by one thread at a time."""

    def __init__(
        self, target: str, setup: bytes, timeout: float | None, framing: Framing, prepare: float | None = None
    ) -> None:
        self._target, self._setup, self._timeout, self._framing = target, setup, timeout, framing
        self._prepare = prepare
        self._process: subprocess.Popen[bytes] | Forked | None = None
        self._stopped = False
        self._lifeline: int | None = None  # nothing is written to it; the worker ends when it is closed
        self._clock_file = tempfile.TemporaryFile()  # noqa: SIM115  (closed in close)
        self._clock_file.truncate(CLOCK.size)
        self._clock_fd = self._clock_file.fileno()
        self._clock = mmap.mmap(self._clock_fd, CLOCK.size)

    def run(self, chunk: bytes, again: bool = True) -> list[Reply]:
        """Replies to a chunk. Where the worker ended at one item, that item is lost and the others are done again; so
        is it, once (``again``), where the worker was killed: that need not be its doing."""
        reply = self._exchange(chunk)
        if isinstance(reply, bytes):
            return [reply]
        why, at, verifier = reply
        items = self._framing.split(chunk)
        if self._stopped:
            return [Lost("died", item) for item in items]
        if len(items) == 1:
            if why == "killed" and again:
                return self.run(chunk, again=False)
            return [Lost("died" if why == "killed" else why, items[0], verifier)]
        if at is None:  # ended between two items
            return [reply for item in items for reply in self.run(item)]
        around = items[:at], items[at + 1 :]
        before = self.run(self._framing.join(around[0])) if around[0] else []
        here: list[Reply] = [Lost("died" if why == "killed" else why, items[at], verifier)]
        if why == "killed":
            here = self.run(items[at], again=False)
        after = self.run(self._framing.join(around[1])) if around[1] else []
        return [*before, *here, *after]

    def stop(self) -> None:
        """End the process, whatever it is doing; a thread that waits for it then returns."""
        self._stopped = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Release everything. No thread may be using the worker any more."""
        self._end()
        self._clock.close()
        self._clock_file.close()

    def fork(self, work: Work) -> None:
        """Have a copy of this process do the work. Before any thread is started."""
        with contextlib.suppress(OSError):  # no room for it now: a fresh one is tried when there is work
            self._process = Forked(partial(_serve, work), self._clock_fd)

    def _start(self) -> subprocess.Popen[bytes] | Forked:
        """The process, started where there is none.

        Raises:
            UnavailableError: it cannot be.
        """
        if self._process is not None:
            return self._process
        for pause in (*START_PAUSES, None):
            found = self._try_start()
            if isinstance(found, subprocess.Popen):
                return found
            if pause is None or not found:
                break
            time.sleep(pause)
        raise UnavailableError("a worker process cannot start; its words are on standard error (use --jobs 1)")

    def _try_start(self) -> subprocess.Popen[bytes] | bool:
        """The process, or whether another try is worth it: what Python raised, it would raise again."""
        fd = self._clock_fd
        paths = msgspec.json.encode(sys.path).decode()
        line, self._lifeline = os.pipe()
        try:
            process = self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", _BOOT, paths, self._target, str(fd), str(line)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=(fd, line),
            )
        except BlockingIOError:  # too many processes, for now
            self._end()
            return True
        finally:
            os.close(line)
        if self._stopped:  # while it was started
            process.kill()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _write(process.stdin, self._setup)
            ready = _read(process.stdout)
        except OSError:
            ready = None
        if ready is None and not self._stopped:
            killed = _was_killed(process)
            self._end()
            return killed
        return process

    def _end(self) -> None:
        process, self._process = self._process, None
        lifeline, self._lifeline = self._lifeline, None
        if lifeline is not None:
            os.close(lifeline)
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError, AttributeError):
                    pipe.close()  # type: ignore[union-attr]

    def _exchange(self, chunk: bytes) -> bytes | tuple[Literal["timeout", "stuck", "died", "killed"], int | None, str]:
        if self._stopped:
            return "died", None, ""
        CLOCK.pack_into(self._clock, 0, -1, False, 0.0, b"")
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _write(process.stdin, chunk)
            if self._timeout is not None and (late := self._wait(process.stdout, self._timeout)) is not None:
                self._end()
                return late
            data = _read(process.stdout)
        except OSError:
            data = None
        if data is None:
            at, _, _, verifier = CLOCK.unpack_from(self._clock, 0)
            killed = _was_killed(process)
            self._end()
            return "killed" if killed else "died", at if at >= 0 else None, _name(verifier)
        return data

    def _wait(self, pipe: IO[bytes], timeout: float) -> tuple[Literal["timeout", "stuck"], int, str] | None:
        """Until the worker answers or ends; why it must be ended and at which item, where one took too long."""
        pause = min(0.2, timeout / 4)
        prepare = PREPARE_SECONDS if self._prepare is None else self._prepare
        while not select.select([pipe], [], [], pause)[0]:
            read = CLOCK.unpack_from(self._clock, 0)
            at, runs, since, verifier = read
            if at < 0 or time.monotonic() - since <= (timeout if runs else prepare):
                continue
            if CLOCK.unpack_from(self._clock, 0) == read:  # else it was read while it was written
                return "timeout" if runs else "stuck", int(at), _name(verifier)
        return None


def _was_killed(process: subprocess.Popen[bytes] | Forked) -> bool:
    """Whether a process that has closed its pipes was ended by somebody else."""
    try:
        return process.wait(2.0) in _KILLED
    except subprocess.TimeoutExpired:
        return False


def _name(field: bytes) -> str:
    return field.rstrip(b"\0").decode("utf-8", "replace")


def _write(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(_SIZE.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes | None:
    head = pipe.read(_SIZE.size)
    if len(head) < _SIZE.size:
        return None
    (size,) = _SIZE.unpack(head)
    data = pipe.read(size)
    return data if len(data) == size else None


def serve(target: str, clock_fd: int, lifeline: int) -> None:
    """The life of a fresh worker: it is told how to judge, and then what."""
    end_with_silent_pipe(lifeline)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    end_with_caller()
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, _, name = target.partition(":")
    work: Work = getattr(importlib.import_module(module), name)(_read(source))
    _write(sink, b"")
    _answer(work, source, sink, clock_fd)


def _serve(work: Work, source: IO[bytes], sink: IO[bytes], clock_fd: int) -> None:
    """The life of a worker that is a copy."""
    end_with_caller()
    _answer(work, source, sink, clock_fd)


def _answer(work: Work, source: IO[bytes], sink: IO[bytes], clock_fd: int) -> None:
    """A chunk in, its reply out, until nothing more comes."""
    clock = Clock(mmap.mmap(clock_fd, CLOCK.size))
    while (chunk := _read(source)) is not None:
        reply = work(chunk, clock)
        clock.item(-1)
        try:
            _write(sink, reply)
        except BrokenPipeError:
            return
