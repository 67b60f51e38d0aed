"""Probing as a service: one task after another, each in a process of its own, cards kept by digest.

cards/DIGEST.json       the checker card of the task with this digest
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Literal

import msgspec

from lydite.codec import canonical
from lydite.ledger.files import replace
from lydite.server.errors import RefusedError
from lydite.server.home import Home
from lydite.server.tokens import FROM_ENVIRONMENT
from lydite.task import Task

if TYPE_CHECKING:
    from lydite.probes.card import Card

MOST_WAITING = 100
"""Tasks that may wait for their turn."""
SECONDS = 900.0
"""Of one task."""
_KEPT = 1000
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Probing(msgspec.Struct, frozen=True, kw_only=True):
    """How far the probing of a task is.

    Attributes:
        digest: of the task; names the card.
        status: ``queued``, ``running``, ``done`` or ``failed`` (then ``error`` says why).
        attacks: how many steps were taken so far; how many there will be is not known before.
        began: seconds since the epoch; ``seconds``: that it has taken.
    """

    digest: str
    status: Literal["queued", "running", "done", "failed"] = "queued"
    attacks: int = 0
    began: float | None = None
    seconds: float = 0.0
    error: str | None = None

    @property
    def over(self) -> bool:
        return self.status in ("done", "failed")


class Probes:
    """Blocking; safe from threads."""

    def __init__(self, home: Home, *, at_once: int = 1, seconds: float = SECONDS) -> None:
        self._home, self._seconds = home, seconds
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="lydite-probe")
        self._lock = threading.Lock()
        self._states: OrderedDict[str, Probing] = OrderedDict()
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._closed = False

    def begin(self, task: Task) -> Probing:
        """Have a task probed; one that waits or is under way is not begun again.

        Raises:
            RefusedError: too many wait.
        """
        with self._lock:
            known = self._states.get(task.digest)
            if known is not None and not known.over:
                return known
            if sum(not state.over for state in self._states.values()) >= MOST_WAITING or self._closed:
                raise RefusedError(f"{MOST_WAITING} tasks wait to be probed already (try again later)", code="too_many")
            state = self._states[task.digest] = Probing(digest=task.digest)
            self._states.move_to_end(task.digest)
            while len(self._states) > _KEPT and next(iter(self._states.values())).over:
                self._states.popitem(last=False)
            self._threads.submit(self._run, task)
        return state

    def state(self, digest: str) -> Probing | None:
        with self._lock:
            return self._states.get(digest)

    def card(self, digest: str) -> Card | None:
        from lydite.probes.card import Card  # with all attacks: not before somebody asks

        if _DIGEST.fullmatch(digest) is None:
            return None
        try:
            data = (self._home.folder("cards") / f"{digest}.json").read_bytes()
            return msgspec.json.decode(data, type=Card)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def has_card(self, digest: str) -> bool:
        return _DIGEST.fullmatch(digest) is not None and (self._home.folder("cards") / f"{digest}.json").exists()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            running = list(self._running.values())
        for process in running:
            process.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _run(self, task: Task) -> None:
        began = time.time()
        self._note(task.digest, status="running", began=began)
        try:
            card = self._probed(task, began)
            replace(self._home.folder("cards") / f"{task.digest}.json", canonical(card) + b"\n")
            self._note(task.digest, status="done", attacks=card.attacks, seconds=round(time.time() - began, 2))
        except Exception as error:
            told = str(error) if isinstance(error, _FailedError) else f"{type(error).__name__}"
            self._note(task.digest, status="failed", error=told[:300], seconds=round(time.time() - began, 2))

    def _probed(self, task: Task, began: float) -> Card:
        from lydite.probes.card import Card

        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "lydite.server.probing"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={name: value for name, value in os.environ.items() if name != FROM_ENVIRONMENT},
        )
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            process.kill()

        late = threading.Timer(self._seconds, expire)
        late.daemon = True
        with self._lock:
            self._running[task.digest] = process
            if self._closed:
                process.kill()
        late.start()
        card: Card | None = None
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(OSError):
                process.stdin.write(canonical(task) + b"\n")
                process.stdin.flush()  # the pipe stays open: the process ends with us
            for line in process.stdout:
                if line.startswith(b"{"):
                    card = msgspec.json.decode(line, type=Card)
                    break
                self._note(task.digest, attacks=int(line), seconds=round(time.time() - began, 2))
        finally:
            late.cancel()
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError, AttributeError):
                    pipe.close()  # type: ignore[union-attr]
            with self._lock:
                del self._running[task.digest]
        if card is None:
            if expired.is_set():
                raise _FailedError(f"not done within {self._seconds:.0f} s")
            raise _FailedError("the process that probed it ended")
        return card

    def _note(self, digest: str, **fields: object) -> None:
        with self._lock:
            self._states[digest] = msgspec.structs.replace(self._states[digest], **fields)


class _FailedError(Exception):
    """Why there is no card, in words for everybody."""
