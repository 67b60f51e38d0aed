"""Where jobs stand: every change goes to the job's folder first, then to the table, then to those who watch."""

from __future__ import annotations

import threading
from typing import Any, Literal

import msgspec
from sqlalchemy import Engine

from lydite.errors import InputError
from lydite.server.events import Bus
from lydite.server.home import Home
from lydite.server.jobs import table
from lydite.server.jobs.making import PREFIX
from lydite.server.jobs.store import JobFolder, Standing, State

BEAT = 1.0
"""Seconds between two notes of a heartbeat in the table."""


class Desk:
    """Safe from threads: ``lock`` is held by whoever looks at a job and changes it."""

    def __init__(self, home: Home, engine: Engine, bus: Bus) -> None:
        self.home, self.engine, self.bus = home, engine, bus
        self.lock = threading.RLock()
        self._taken: dict[str, int] = {}
        self._beats: dict[str, float] = {}

    def folder(self, job: str) -> JobFolder:
        return JobFolder(self.home.folder("jobs") / job)

    def folders(self) -> list[JobFolder]:
        """Of all jobs that can be read, the oldest first."""
        found: list[tuple[float, JobFolder]] = []
        for path in self.home.folder("jobs").glob(f"{PREFIX}*"):
            folder = JobFolder(path)
            try:
                found.append((float(folder.document()["created"]), folder))
            except (InputError, KeyError, TypeError, ValueError):
                continue
        return [folder for _, folder in sorted(found, key=lambda item: (item[0], item[1].id))]

    def reload(self) -> int:
        """Fill the table from the folders."""
        with self.lock:
            folders = self.folders()
            with self.engine.begin() as connection:
                for folder in folders:
                    table.put(connection, self._row(folder, folder.standing(), folder.state()))
                table.forget_others(connection, [folder.id for folder in folders])
            return len(folders)

    def change(
        self,
        folder: JobFolder,
        standing: Standing,
        message: str = "",
        *,
        level: Literal["info", "warn", "error"] = "info",
        data: dict[str, Any] | None = None,
        **changes: Any,
    ) -> Standing:
        """Write down where a job stands now, and say so."""
        with self.lock:
            before, standing = standing, msgspec.structs.replace(standing, **changes)
            folder.stand(standing)
            if message:
                folder.append(message, level=level, data=data)
            with self.engine.begin() as connection:
                table.put(connection, self._row(folder, standing, folder.state()))
                if before.status is not standing.status or message:
                    told = {"id": folder.id, "status": standing.status.value, "error": standing.error}
                    self.bus.put(connection, f"job:{folder.id}", "status", told)
            self.take_in(folder)
            self.bus.wake()
            return standing

    def take_in(self, folder: JobFolder, state: State | None = None) -> None:
        """Tell watchers what is new in ``events.jsonl``, and note the heartbeat."""
        topic = f"job:{folder.id}"
        with self.lock:
            start = self._taken.get(folder.id)
            path = folder.path / "events.jsonl"
            beat = state.time if state is not None else 0.0
            late = beat - self._beats.get(folder.id, 0.0) >= BEAT
            if start is not None and not late and (not path.exists() or path.stat().st_size == start):
                return
            with self.engine.begin() as connection:
                if start is None:
                    told = table.last_event(connection, topic)
                    start = folder.offset_behind(told) if told else 0
                new = list(folder.events(start))
                for _, event in new:
                    self.bus.put(connection, topic, "event", msgspec.to_builtins(event))
                if late:
                    table.heartbeat(connection, folder.id, beat)
                    self._beats[folder.id] = beat
            self._taken[folder.id] = new[-1][0] if new else start
        if new:
            self.bus.wake()

    def done_with(self, folder: JobFolder) -> None:
        """A job that is over has nothing new."""
        self._taken.pop(folder.id, None)
        self._beats.pop(folder.id, None)

    def _row(self, folder: JobFolder, standing: Standing, state: State | None) -> dict[str, Any]:
        return table.fields(folder, folder.document(), standing, state)
