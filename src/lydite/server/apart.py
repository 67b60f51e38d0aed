"""What strangers' checkers make long is done apart: in worker processes of the service, each call within a time.

Building a checker may take as long as its author likes, and so may judging by it. A thread that does so cannot be
ended, and code in C or Rust holds up all others; a process can be ended.

Covered: time; a process that ends at what it is given (for want of memory, or by a fault). Not covered: what runs there
can do all that the service can: programs of strangers still belong into the sandbox.
"""

from __future__ import annotations

import atexit
import importlib
import threading
from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec

from lydite.codec import canonical
from lydite.errors import InputError, LyditeError, MissingExtraError, UnavailableError
from lydite.server.errors import ApiError
from lydite.server.judging import KEPT, is_quick
from lydite.task import Checker
from lydite.verifiers.build import build, forget
from lydite.verifiers.chunks import Clock, Framing, Lost, Work
from lydite.verifiers.pool import Workers

SECONDS = 30.0
"""For building a checker."""
PLACES = 2
"""Processes for calls of one limit."""
WAITING, PATIENCE = 16, 10.0
"""Calls that may wait for a process, and seconds that they do; others are told to come again."""

Apart = Callable[[bytes, Clock], bytes]
"""What is done apart. ``clock.start`` gives it its time once more: at the next of several things."""


class Built(NamedTuple):
    """What a checker was built to; see ``CompiledChecker``."""

    id: str
    source: str


class TooLongError(InputError):
    """It takes too long, or more than a process can give."""


class _Said(msgspec.Struct, array_like=True):
    """A reply: bytes, or what was raised."""

    kind: Literal["data", "input", "missing", "unavailable", "api", "fault"]
    data: bytes = b""
    message: str = ""
    path: str | None = None
    line: int | None = None
    field: str | None = None
    remedy: str | None = None
    status: int = 0


def apart(target: str, data: bytes, seconds: float = SECONDS) -> bytes:
    """The reply of a function in another process.

    Args:
        target: ``module:function`` of the type ``Apart``.
        data: handed to it.
        seconds: that it may take.

    Raises:
        TooLongError: it took longer, or the process ended.
        ApiError: 503, too many wait for a process.
        LyditeError: what the function raised.
    """
    return _pool(seconds).call(target, data)


def built(checker: Checker) -> Built:
    """What a checker is built to: here where that is bounded, else apart. Raises as ``build`` does, and

    Raises:
        TooLongError: it takes longer than ``SECONDS``; names the checker.
        ApiError: as ``apart``.
    """
    try:
        data = canonical(checker)
    except (TypeError, ValueError, OverflowError, RecursionError):
        data = b""  # no JSON: refused before it is compiled
    if not data or is_quick({"type": checker.type, "config": checker.config}):
        check = build(checker)
        return Built(check.id, check.source)
    try:
        return msgspec.json.decode(apart("lydite.server.apart:build_it", data), type=Built)
    except TooLongError as error:
        raise TooLongError(error.message, field="checker", remedy=error.remedy) from None


def build_it(data: bytes, clock: Clock) -> bytes:
    """``built``, apart."""
    check = build(msgspec.json.decode(data, type=Checker))
    return msgspec.json.encode(Built(check.id, check.source))


class _Pool:
    """Processes for calls of one limit, started when they are needed. They end with this one."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._workers = Workers("lydite.server.apart:make_work", PLACES, _WHOLE, seconds, prepare=seconds)
        self._room = threading.BoundedSemaphore(PLACES)
        self._lock = threading.Lock()
        self._waiting = 0
        atexit.register(self._workers.stop)

    def call(self, target: str, data: bytes) -> bytes:
        self._enter()
        try:
            (reply,) = self._workers.run(msgspec.msgpack.encode((target, data)))
        finally:
            self._room.release()
        if isinstance(reply, Lost):
            if reply.why == "died":
                raise TooLongError("the process that looked at it ended", remedy="is it too large? make it smaller")
            raise TooLongError(f"takes longer than {self.seconds:g} s", remedy="make it smaller")
        return _heard(msgspec.msgpack.decode(reply, type=_Said))

    def _enter(self) -> None:
        with self._lock:
            full = self._waiting >= WAITING
            self._waiting += not full
        if not full:
            entered = self._room.acquire(timeout=PATIENCE)
            with self._lock:
                self._waiting -= 1
            if entered:
                return
        raise ApiError(503, "several others are being looked at; come again in a moment", code="busy")


_pools: dict[float, _Pool] = {}
_making = threading.Lock()
_WHOLE = Framing(lambda chunk: [chunk], lambda items: items[0])


def _pool(seconds: float) -> _Pool:
    with _making:
        if seconds not in _pools:
            _pools[seconds] = _Pool(seconds)
        return _pools[seconds]


def make_work(setup: bytes) -> Work:
    """The workers' function: what is named is done, and what it raises is told."""
    held = 0

    def work(chunk: bytes, clock: Clock) -> bytes:
        nonlocal held
        held += len(chunk)
        if held > KEPT:
            held = 0
            forget()
        clock.item(0)
        clock.start("")
        target, data = msgspec.msgpack.decode(chunk, type=tuple[str, bytes])
        return msgspec.msgpack.encode(_said(target, data, clock))

    return work


def _said(target: str, data: bytes, clock: Clock) -> _Said:
    module, _, name = target.partition(":")
    try:
        function: Apart = getattr(importlib.import_module(module), name)
        return _Said("data", function(data, clock))
    except InputError as error:
        path = None if error.path is None else str(error.path)
        return _Said("input", b"", error.message, path, error.line, error.field, error.remedy)
    except ApiError as error:
        return _Said("api", b"", error.message, field=error.param, remedy=error.code, status=error.status)
    except MissingExtraError as error:
        return _Said("missing", b"", str(error), field=error.extra)
    except UnavailableError as error:
        return _Said("unavailable", b"", str(error))
    except LyditeError as error:
        return _Said("fault", b"", str(error))
    except Exception as error:
        return _Said("fault", b"", type(error).__name__)


def _heard(said: _Said) -> bytes:
    """The reply.

    Raises:
        LyditeError: what was raised.
    """
    match said.kind:
        case "data":
            return said.data
        case "input":
            raise InputError(said.message, path=said.path, line=said.line, field=said.field, remedy=said.remedy)
        case "api":
            raise ApiError(said.status, said.message, param=said.field, code=said.remedy)
        case "missing" | "unavailable":
            raise UnavailableError(said.message)
        case "fault":
            raise LyditeError(said.message)
