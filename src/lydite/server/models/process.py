"""The service's end of the process that holds weights."""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path

import msgspec

from lydite.errors import UnavailableError
from lydite.server.models.frames import Answer, Ask, Bye, Cancel, Failed, Reply, pack, read
from lydite.server.tokens import FROM_ENVIRONMENT

ENDING = 5.0
"""Seconds that the process has to end by itself."""


def environment() -> dict[str, str]:
    """Of processes that hold models: the service's, without its token."""
    return {name: value for name, value in os.environ.items() if name != FROM_ENVIRONMENT}


class GoneError(Exception):
    """The process ended before it had answered. ``left``: of its own accord, so that one may ask again."""

    def __init__(self, left: bool) -> None:
        self.left = left
        super().__init__("the process left" if left else "the process ended")


class Process:
    """One process, in a group of its own. Safe from threads; nothing here waits but ``end``.

    Args:
        idle: seconds without a question after which it leaves.
        log: where its standard error goes.

    Raises:
        UnavailableError: it cannot be started.
    """

    def __init__(self, idle: float, log: Path) -> None:
        command = [sys.executable, "-P", "-m", "lydite.server.models.worker", str(idle)]
        try:
            with open(log, "wb") as errors:
                self._popen = subprocess.Popen(  # noqa: S603
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,
                    env=environment(),
                )
        except OSError as error:
            raise UnavailableError(f"the process for models cannot start: {error}") from error
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._open: dict[int, Future[Answer | Failed]] = {}
        self._left, self.gone = False, False
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="models-read", daemon=True)
        self._reader.start()
        threading.Thread(target=self._write, name="models-write", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._popen.pid

    def ask(self, ask: Ask) -> tuple[int, Future[Answer | Failed]]:
        """Ask; the number with which ``cancel`` takes it back, and what will hold the answer, or ``GoneError``.

        Raises:
            UnicodeEncodeError: the question holds lone surrogates.
        """
        number = next(self._numbers)
        data = pack(msgspec.structs.replace(ask, number=number))
        future: Future[Answer | Failed] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            if self.gone:
                future.set_exception(GoneError(True))
                return number, future
            self._open[number] = future
        self._outbox.put(data)
        return number, future

    def cancel(self, number: int) -> None:
        """Nobody waits for this answer any more."""
        with self._lock:
            known = self._open.pop(number, None) is not None
        if known:
            self._outbox.put(pack(Cancel(number=number)))

    def end(self) -> None:
        """End it, and wait until it is gone."""
        self._outbox.put(None)
        try:
            self._popen.wait(ENDING)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._popen.pid, signal.SIGKILL)
            self._popen.wait()
        self._reader.join(ENDING)

    def _write(self) -> None:
        assert self._popen.stdin is not None
        with contextlib.suppress(OSError), self._popen.stdin as sink:
            while (data := self._outbox.get()) is not None:
                sink.write(data)
                sink.flush()

    def _read(self) -> None:
        assert self._popen.stdout is not None
        with contextlib.suppress(OSError, msgspec.DecodeError), self._popen.stdout as source:
            while (data := read(source)) is not None:
                self._heard(msgspec.json.decode(data, type=Reply))
        with self._lock:
            self.gone = True
            waiting, self._open = list(self._open.values()), {}
        self._outbox.put(None)
        self._popen.wait()
        for future in waiting:
            future.set_exception(GoneError(self._left))

    def _heard(self, reply: Reply) -> None:
        if isinstance(reply, Bye):
            self._left = True
            return
        with self._lock:
            future = self._open.pop(reply.number, None)
        if future is not None:
            future.set_result(reply)
