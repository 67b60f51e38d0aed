"""The heartbeat of a job: a thread that says about twice a second how far it is, whatever the rest is busy with."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from lydite.server.jobs.store import JobFolder, State

SECONDS = 0.5


class Heart:
    """A context manager; ``at`` and ``end`` from any thread."""

    def __init__(self, folder: JobFolder, session: int) -> None:
        self._folder = folder
        self._state = State(time=time.time(), pid=os.getpid(), session=session)
        self._lock, self._over = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heart", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._say()

    def at(
        self, part: str, done: int = 0, total: int = 0, share: float | None = None, estimated: float | None = None
    ) -> None:
        """How far it is now; told with the next beat."""
        share = self._state.share if share is None else max(share, self._state.share)
        self._change(part=part, done=done, total=total, share=share, estimated=estimated)

    def end(
        self,
        how: Literal["complete", "interrupted", "failed"],
        error: str = "",
        *,
        code: str = "",
        param: str | None = None,
    ) -> None:
        """How it ended; told when the context is left."""
        share = 1.0 if how == "complete" else self._state.share
        self._change(end=how, share=share, error=error, code=code, param=param, estimated=None)

    def _change(self, **changes: Any) -> None:
        with self._lock:
            self._state = msgspec.structs.replace(self._state, **changes)

    def _say(self) -> None:
        with self._lock:
            state = msgspec.structs.replace(self._state, time=time.time())
        with contextlib.suppress(OSError):  # a full disk: what the job itself writes will say so
            self._folder.say(state)

    def _beat(self) -> None:
        while True:
            self._say()
            if self._over.wait(SECONDS):
                return
