"""Work in fresh interpreters, in order, with a limit on each item's time.

Workers are started as plain subprocesses rather than through ``multiprocessing``: nothing is forked (so threads and
loaded native libraries do no harm), the caller's ``__main__`` is not imported again, and daemonic processes may have
them. A worker reads chunks of items from its standard input and answers on a private copy of its standard output; what
a verifier prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
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
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Literal, NamedTuple

import msgspec

from lydite.errors import UnavailableError

CHUNK_ITEMS = 256
CHUNK_BYTES = 1 << 20
_SIZE = struct.Struct("<Q")
_CLOCK = struct.Struct("<qd")  # index of the item under way (-1: none), monotonic time of its start
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]);"
    "from lydite.verifiers.pool import serve; serve(sys.argv[2], int(sys.argv[3]))"
)


class Lost(NamedTuple):
    """An item without a reply, and why: ``timeout`` or ``died``."""

    why: Literal["timeout", "died"]
    item: bytes


Reply = bytes | Lost


def map_in_processes(
    target: str, items: Iterable[bytes], jobs: int, timeout: float | None = None, setup: bytes = b""
) -> Iterator[Reply]:
    """Apply a function to items in worker processes, lazily and in order.

    Args: target: ``module:factory``, importable in a fresh interpreter; ``factory(setup)`` is the function, bytes to
        bytes. items: consumed in the caller's thread, a few chunks ahead of the replies. jobs: number of workers.
        timeout: seconds for one item, from when the function is entered; the worker is then killed and replaced.
        setup: handed to the factory in each worker.

    Raises:
        UnavailableError: a worker cannot be started.
    """
    idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
    workers = [_Worker(target, setup, timeout) for _ in range(jobs)]
    for worker in workers:
        idle.put(worker)

    def run(chunk: list[bytes]) -> list[Reply]:
        worker = idle.get()
        try:
            return worker.run(chunk)
        finally:
            idle.put(worker)

    pending: deque[Future[list[Reply]]] = deque()
    try:
        with ThreadPoolExecutor(jobs, thread_name_prefix="lydite-verify") as threads:
            try:
                for chunk in chunked(items):
                    pending.append(threads.submit(run, chunk))
                    if len(pending) > 2 * jobs:
                        yield from pending.popleft().result()
                while pending:
                    yield from pending.popleft().result()
            finally:
                for future in pending:
                    future.cancel()
                for worker in workers:
                    worker.stop()
    finally:
        for worker in workers:
            worker.close()


def chunked(items: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Lists of items, small at first so that short inputs are spread, bounded in number and in bytes."""
    chunk: list[bytes] = []
    size, limit = 0, 16
    for item in items:
        chunk.append(item)
        size += len(item)
        if len(chunk) >= limit or size >= CHUNK_BYTES:
            yield chunk
            chunk, size, limit = [], 0, min(2 * limit, CHUNK_ITEMS)
    if chunk:
        yield chunk


class _Worker:
    """One worker process and the parent's end of its pipes. Used by one thread at a time."""

    def __init__(self, target: str, setup: bytes, timeout: float | None) -> None:
        self._target, self._setup, self._timeout = target, setup, timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._clock_file = tempfile.TemporaryFile()  # noqa: SIM115  (closed in close)
        self._clock_file.truncate(_CLOCK.size)
        self._clock = mmap.mmap(self._clock_file.fileno(), _CLOCK.size)

    def run(self, chunk: list[bytes]) -> list[Reply]:
        """Replies to a chunk. Where the worker ended at one item, that item is lost and the others are done again."""
        replies = self._exchange(chunk)
        if isinstance(replies, list):
            return list(replies)
        why, at = replies
        if self._stopped:
            return [Lost("died", item) for item in chunk]
        if len(chunk) == 1:
            return [Lost(why, chunk[0])]
        if at is None:  # ended between two items
            return list(itertools.chain.from_iterable(self.run([item]) for item in chunk))
        before, after = chunk[:at], chunk[at + 1 :]
        return [*(self.run(before) if before else []), Lost(why, chunk[at]), *(self.run(after) if after else [])]

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

    def _start(self) -> subprocess.Popen[bytes]:
        process = self._process
        if process is not None:
            return process
        fd = self._clock_file.fileno()
        paths = msgspec.json.encode(sys.path).decode()
        process = self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", _BOOT, paths, self._target, str(fd)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(fd,),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _write(process.stdin, self._setup)
            ready = _read(process.stdout)
        except OSError:
            ready = None
        if ready is None and not self._stopped:
            self._end()
            raise UnavailableError("a worker process cannot start; its words are on standard error (use --jobs 1)")
        return process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError, AttributeError):
                    pipe.close()  # type: ignore[union-attr]

    def _exchange(self, chunk: list[bytes]) -> list[bytes] | tuple[Literal["timeout", "died"], int | None]:
        if self._stopped:
            return "died", None
        _CLOCK.pack_into(self._clock, 0, -1, 0.0)
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _write(process.stdin, msgspec.msgpack.encode(chunk))
            if self._timeout is not None and (late := self._wait(process.stdout, self._timeout)) is not None:
                self._end()
                return "timeout", late
            data = _read(process.stdout)
        except OSError:
            data = None
        if data is None:
            at = _CLOCK.unpack_from(self._clock, 0)[0]
            self._end()
            return "died", at if at >= 0 else None
        return msgspec.msgpack.decode(data, type=list[bytes])

    def _wait(self, pipe: IO[bytes], timeout: float) -> int | None:
        """Until the worker answers or ends; the index of an item that took too long."""
        pause = min(0.2, timeout / 4)
        while not select.select([pipe], [], [], pause)[0]:
            at, since = _CLOCK.unpack_from(self._clock, 0)
            if at >= 0 and time.monotonic() - since > timeout:
                return int(at)
        return None


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


def serve(target: str, clock_fd: int) -> None:
    """The worker's loop: a chunk in, its replies out, until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    clock = mmap.mmap(clock_fd, _CLOCK.size)
    module, _, name = target.partition(":")
    function: Callable[[bytes], bytes] = getattr(importlib.import_module(module), name)(_read(source))
    _write(sink, b"")
    while (data := _read(source)) is not None:
        replies = []
        for index, item in enumerate(msgspec.msgpack.decode(data, type=list[bytes])):
            _CLOCK.pack_into(clock, 0, index, time.monotonic())
            replies.append(function(item))
        _CLOCK.pack_into(clock, 0, -1, 0.0)
        try:
            _write(sink, msgspec.msgpack.encode(replies))
        except BrokenPipeError:
            return
