"""Audits of ledgers, each made once for the files as they are: a whole run is read, so nobody pays twice."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from lydite.ledger import RunFolder, State, verify_run
from lydite.ledger.audit import Audit
from lydite.ledger.contents import LEDGER, ROLLOUTS
from lydite.ledger.info import FILE as INFO
from lydite.ledger.rescorings import FOLDER as RESCORINGS
from lydite.ledger.rescorings import standings
from lydite.ledger.states import FOLDER as STATES
from lydite.ledger.taskfile import FILE as TASKS
from lydite.server.errors import ApiError

KEPT = 64
"""Results that are remembered."""
AT_ONCE = 4
"""Whole runs that are read at once; more wait for some seconds, then are told to come again."""
_SECONDS = 5.0
_slots = threading.BoundedSemaphore(AT_ONCE)


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """While a whole run is read, so that a few large ones do not take all threads of the service.

    Raises:
        ApiError: 503, too many are read already.
    """
    if not _slots.acquire(timeout=_SECONDS):
        raise ApiError(503, "several whole runs are being read; come again in a moment", code="overloaded")
    try:
        yield
    finally:
        _slots.release()


class RescoringAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A rescoring: other verdicts beside the first. ``seq`` is the line at which it begins; ``done`` of ``covers``."""

    name: str
    seq: int
    done: int
    covers: int
    complete: bool
    verifiers: dict[str, str]
    settings: dict[str, Any]
    time: float


class LedgerAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run's ledger stands, as ``run.json`` notes it.

    Attributes:
        records: up to ``head``, which is the hash of the last of them.
        genesis: what the first record follows.
        root: of the Merkle tree over all records, hex; ``None`` until the ledger as it is now has been verified.
    """

    run: str
    kind: str
    created: str
    state: str
    records: int
    head: str
    genesis: str
    settings_digest: str
    tasks_sha256: str
    root: str | None
    rescorings: tuple[RescoringAnswer, ...]


class AuditAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What an audit found.

    Attributes:
        ok: whether every byte is in order.
        sealed: whether nothing waits for a resume.
        records, samples: that are in order, from the first.
        head, root: of these records.
        problem: the first thing that is wrong; ``file``, ``line`` and ``id`` say where.
        notes: what a reader must know of a run that is not complete.
        checked: when, seconds since the epoch; ``seconds`` it took.
    """

    run: str
    ok: bool
    sealed: bool
    state: str
    records: int
    samples: int
    head: str
    root: str
    problem: str | None
    file: str | None
    line: int | None
    id: str | None
    notes: tuple[str, ...]
    checked: float
    seconds: float


_Key = tuple[Any, ...]


class Audits:
    """What audits found, by run and the state of its files. Safe from threads; one audit of a run at a time."""

    def __init__(self) -> None:
        self._found: OrderedDict[_Key, AuditAnswer] = OrderedDict()
        self._rescored: OrderedDict[_Key, tuple[RescoringAnswer, ...]] = OrderedDict()
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def verify(self, run: str, folder: Path, *, head: str | None = None, extends: str | None = None) -> AuditAnswer:
        """Check every byte of a run; see ``ledger.verify.verify_run`` for arguments and errors."""
        with self._lock:
            lock = self._locks.setdefault(run, threading.Lock())
        with lock:
            key = (run, head, extends, _state(folder))
            found = self._found.get(key)
            if found is None:
                began = time.monotonic()
                with reading():
                    audit = verify_run(folder, head=head, extends=extends)
                found = _answer(run, audit, time.monotonic() - began)
                _keep(self._found, key, found)
        return found

    def known(self, run: str, folder: Path) -> AuditAnswer | None:
        """What was found of the files as they are now, where they were looked at."""
        return self._found.get((run, None, None, _state(folder)))

    def ledger(self, run: str, folder: Path) -> LedgerAnswer:
        """Where a run's ledger stands.

        Raises:
            InputError: ``run.json`` or the ledger cannot be read.
        """
        info, known = RunFolder.open(folder).info, self.known(run, folder)
        return LedgerAnswer(
            run=run,
            kind=info.kind,
            created=info.created,
            state=info.state,
            records=info.records,
            head=info.head,
            genesis=info.genesis,
            settings_digest=info.settings_digest,
            tasks_sha256=info.origin.sha256,
            root=known.root if known is not None and known.ok else None,
            rescorings=self.rescorings(run, folder),
        )

    def rescorings(self, run: str, folder: Path) -> tuple[RescoringAnswer, ...]:
        """The rescorings of a run, in their order."""
        if not (folder / RESCORINGS).is_dir():
            return ()
        key = (run, _state(folder))
        found = self._rescored.get(key)
        if found is None:
            found = tuple(
                RescoringAnswer(
                    name=name,
                    seq=one.seq,
                    done=one.done,
                    covers=one.header.covers,
                    complete=one.complete,
                    verifiers=one.header.verifiers,
                    settings=one.header.settings,
                    time=one.header.time,
                )
                for name, one in standings(folder).items()
            )
            _keep(self._rescored, key, found)
        return found


AUDITS = Audits()
"""Those of this process."""


def _answer(run: str, audit: Audit, seconds: float) -> AuditAnswer:
    problem = audit.problem
    return AuditAnswer(
        run=run,
        ok=problem is None,
        sealed=audit.sealed and audit.state == State.COMPLETE,
        state=audit.state,
        records=audit.records,
        samples=audit.samples,
        head=audit.head,
        root=audit.root,
        problem=None if problem is None else problem.message,
        file=None if problem is None else problem.file,
        line=None if problem is None else problem.line,
        id=None if problem is None else problem.id,
        notes=audit.standing,
        checked=time.time(),
        seconds=seconds,
    )


def _state(folder: Path) -> tuple[tuple[int, ...], ...]:
    """Sizes, times of change and inodes of all that an audit reads; of folders, of their entries' names too."""
    names = (INFO, TASKS, ROLLOUTS, LEDGER, RESCORINGS, STATES)
    found = [_stat(folder / name) for name in names]
    for name in (RESCORINGS, STATES):
        place = folder / name
        if place.is_dir():
            found += [_stat(entry) for entry in sorted(place.iterdir())]
    return tuple(found)


def _stat(path: Path) -> tuple[int, ...]:
    try:
        said = path.stat()
    except OSError:
        return ()
    return said.st_size, said.st_mtime_ns, said.st_ctime_ns, said.st_ino


def _keep(held: OrderedDict[_Key, Any], key: _Key, value: Any) -> None:
    held[key] = value
    while len(held) > KEPT:
        held.popitem(last=False)
