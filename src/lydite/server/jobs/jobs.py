"""The jobs of a service: made, watched, stopped, gone on with. Each is a process group of its own."""

from __future__ import annotations

import fcntl
import logging
import os
import threading
import time
from collections.abc import Mapping, Sequence

import msgspec
from sqlalchemy import Engine

from lydite.server.errors import NotFoundError, RefusedError
from lydite.server.events import Bus
from lydite.server.home import Home
from lydite.server.jobs import making, table
from lydite.server.jobs.checkpoints import checkpoints_of
from lydite.server.jobs.desk import Desk
from lydite.server.jobs.keeper import Keeper
from lydite.server.jobs.outcome import scrubbed
from lydite.server.jobs.status import Checkpoint, JobEvent, JobRow, Plan, Status
from lydite.server.jobs.store import JobFolder, Standing, State
from lydite.server.paging import Page
from lydite.server.settings import Settings

PATIENCE = 8.0
"""Seconds that ``cancel`` waits for the process to be gone, so that mostly it can say so."""
_log = logging.getLogger("lydite.server.jobs")


class Jobs:
    """Blocking; safe from threads. Unknown ids raise ``NotFoundError``, a state that does not allow it
    ``RefusedError``.

    Of several services over one home only one looks after jobs; the next takes over when that one is gone.
    """

    def __init__(self, home: Home, engine: Engine, bus: Bus, settings: Settings) -> None:
        self.home, self.engine, self.bus, self.settings = home, engine, bus, settings
        self._desk = Desk(home, engine, bus)
        self.keeper = Keeper(self._desk, settings)
        self._stopped, self._soon = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._mine: int | None = None

    def start(self) -> None:
        """Find the jobs that there are, and begin to watch them."""
        if self._thread is not None:
            return
        self.reload()
        self._take_over()
        self._stopped.clear()
        self._thread = threading.Thread(target=self._watch, name="jobs", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End watching. Jobs go on without the service."""
        self._stopped.set()
        self._soon.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._mine is not None:
            os.close(self._mine)
            self._mine = None

    def create(self, plan: Plan) -> JobRow:
        """Make a job; it runs when there is room.

        Raises:
            RefusedError: the recipe or its tasks are unusable; names the field, and the line of a file.
        """
        folder = making.make(self.home, plan)
        for note in plan.notes:
            folder.append(note, level="warn")
        self._desk.change(folder, folder.standing(), f"Created fine-tuning job: {folder.id}")
        self._soon.set()
        return self.get(folder.id)

    def get(self, job: str) -> JobRow:
        row = table.find(self.engine, job)
        if row is None:
            raise NotFoundError("job", job)
        return self._told(row)

    def state(self, job: str) -> State | None:
        """How far the process of a job is; ``None`` before it said anything."""
        return self._desk.folder(self.get(job).id).state()

    def queue(self) -> list[str]:
        """Ids of the jobs that wait, the next one first."""
        return self.keeper.queue()

    def active(self) -> list[JobRow]:
        """Jobs that wait or have a process, the newest first."""
        return [self._told(row) for row in reversed(table.active(self.engine))]

    def of_run(self, run: str) -> JobRow | None:
        row = table.of_run(self.engine, run)
        return self._told(row) if row else None

    def page(
        self,
        *,
        kinds: Sequence[str] = (),
        metadata: Mapping[str, str] | None = None,
        bare: bool = False,
        limit: int = 20,
        after: str | None = None,
    ) -> Page[JobRow]:
        """The newest first. ``metadata``: those that have all of it; ``bare``: those that have none at all."""
        before = None
        if after is not None:
            last = table.find(self.engine, after)
            if last is None:
                raise RefusedError(f"there is no job {after[:80]!r}", param="after")
            before = last.created, last.id
        found: list[JobRow] = []
        for row in table.newest(self.engine, kinds, before):
            held = row.document.get("metadata") or {}
            if (bare and held) or any(held.get(name) != value for name, value in (metadata or {}).items()):
                continue
            found.append(self._told(row))
            if len(found) > limit:
                break
        more = len(found) > limit
        return Page(items=tuple(found[:limit]), next=found[limit - 1].id if more and limit else None)

    def cancel(self, job: str) -> JobRow:
        """Stop a job for good: at once where it waits or is paused; else with signals, and its run stays as it is."""
        with self._desk.lock:
            folder, standing = self._open(job)
            if standing.status.over:
                raise _refused(job, standing.status, "cancelled")
            if standing.status in (Status.QUEUED, Status.PAUSED) or standing.pid is None:
                self.keeper.cancelled(folder, standing)
                return self.get(job)
            if standing.asked != "cancel":
                self.keeper.ask(folder, "cancel")
        self._await(folder)
        return self.get(job)

    def pause(self, job: str) -> JobRow:
        """Write a checkpoint, then stop."""
        with self._desk.lock:
            folder, standing = self._open(job)
            if standing.status in (Status.PAUSING, Status.PAUSED):
                return self.get(job)
            if standing.status is Status.QUEUED:
                self._desk.change(folder, standing, "Paused", status=Status.PAUSED)
            elif standing.status.over or standing.pid is None or standing.asked:
                raise _refused(job, standing.status, "paused")
            else:
                self.keeper.ask(folder, "pause")
        return self.get(job)

    def resume(self, job: str) -> JobRow:
        """Go on with a job that was paused, failed or killed, from its last checkpoint."""
        with self._desk.lock:
            folder, standing = self._open(job)
            if standing.status not in (Status.PAUSED, Status.FAILED):
                raise _refused(job, standing.status, "resumed")
            self._desk.change(
                folder,
                standing,
                "Waiting to go on",
                status=Status.QUEUED,
                order=time.time(),
                asked="",
                pid=None,
                error=None,
                error_code=None,
                error_param=None,
                finished=None,
            )
        self._soon.set()
        return self.get(job)

    def events(self, job: str, *, limit: int = 20, after: str | None = None) -> Page[JobEvent]:
        """The newest first."""
        found, more = self._desk.folder(self.get(job).id).latest(limit, after)
        return Page(items=tuple(found), next=found[-1].id if more and found else None)

    def checkpoints(self, job: str, *, limit: int = 10, after: str | None = None) -> Page[Checkpoint]:
        """The newest first."""
        row = self.get(job)
        found = checkpoints_of(self.home.runs / row.run, row.run)
        if after is not None:
            ids = [checkpoint.id for checkpoint in found]
            if after not in ids:
                raise RefusedError(f"{after[:80]!r} is no checkpoint of this job", param="after")
            found = found[ids.index(after) + 1 :]
        more = len(found) > limit
        return Page(items=tuple(found[:limit]), next=found[limit - 1].id if more and limit else None)

    def log(self, job: str, *, lines: int = 40) -> str:
        """The last lines of what the job printed. Places of this machine are told by other names."""
        return scrubbed(self._desk.folder(self.get(job).id).log(lines), self.home)

    def reload(self) -> int:
        """Fill the table from the jobs' folders; how many there are."""
        return self._desk.reload()

    def _open(self, job: str) -> tuple[JobFolder, Standing]:
        folder = self._desk.folder(self.get(job).id)
        self.keeper.look(folder)
        return folder, folder.standing()

    def _told(self, row: JobRow) -> JobRow:
        """A job that runs, with what its process said last."""
        if row.status not in (Status.VALIDATING, Status.RUNNING, Status.PAUSING):
            return row
        state = self._desk.folder(row.id).state()
        if state is None:
            return row
        return msgspec.structs.replace(row, heartbeat=state.time, estimated=state.estimated)

    def _await(self, folder: JobFolder) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.keeper.look(folder):
            time.sleep(0.05)

    def _take_over(self) -> None:
        """Become the one who looks after this home's jobs, where nobody else does."""
        descriptor = os.open(self.home.folder("jobs") / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return
        self._mine = descriptor
        making.sweep(self.home)
        self.keeper.adopt()

    def _watch(self) -> None:
        while not self._stopped.is_set():
            try:
                if self._mine is None:
                    self._take_over()
                if self._mine is not None:
                    self.keeper.tick()
            except Exception:  # whatever it is, jobs are not left alone for it
                _log.exception("looking after jobs")
            self._soon.wait(self.settings.poll_seconds)
            self._soon.clear()


def _refused(job: str, status: Status, what: str) -> RefusedError:
    return RefusedError(f"the job {job} is {status.value} and cannot be {what}", code="invalid_state")
