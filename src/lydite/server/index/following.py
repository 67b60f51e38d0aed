"""Following run folders: which there are, which have grown, and taking in what is new of them."""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Engine, delete, func, select, update
from sqlalchemy.exc import OperationalError

from lydite.server.database import tables
from lydite.server.events import Bus
from lydite.server.home import DEPTH, Home
from lydite.server.index import reading, storing
from lydite.server.index.taking import FILES, ReplacedError, Slice, take

log = logging.getLogger(__name__)

_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+=@:,-]{0,199}")
_FEW = 20
"""Lines of metrics of which each is told; more of them at once are not news but history."""
_TRIES = 20

Progress = Callable[[str, int], None]
"""Told, slice by slice, of a run: how many attempts of it are taken in."""


class Follower:
    """Takes in run folders. Safe from threads; several processes may follow one home."""

    def __init__(self, home: Home, engine: Engine, bus: Bus) -> None:
        self.home, self.engine, self.bus = home, engine, bus
        self._looks: dict[str, tuple[reading.Signature, ...]] = {}
        self._mutex = threading.Lock()
        self._file = str(engine.url.database or "") if engine.dialect.name == "sqlite" else ""
        self._inode = reading.sign(self._file)[0] if self._file else 0
        self._rebuilt: int | None = -1
        self._told: int | None = -1
        self._begun = self._stopped = False

    def stop(self) -> None:
        """Let a refresh that is under way end after the slice that it is at."""
        self._stopped = True

    def refresh(self, run: str | None = None, progress: Progress | None = None) -> list[str]:
        """Take in what is new; slugs of runs that changed. Where the database cannot be written, the rest waits for the
        next time."""
        changed: dict[str, None] = {}
        try:
            self._look_around()
            folders = scan(self.home.runs)
            if run is not None:
                folders = {slug: path for slug, path in folders.items() if slug == run}
            waiting = {slug: path for slug, path in folders.items() if self._looks.get(slug) != _signature(path)}
            if waiting or not self._begun or self._gone(folders, run):
                self._drop_missing(folders, run, changed)
                self._begun = self._begun or run is None
            pending: dict[str, _News] = {}
            while waiting and not self._stopped:
                for slug, path in list(waiting.items()):
                    news = pending.get(slug)
                    if news is None:
                        news = pending[slug] = _News()
                    with self._mutex:
                        more = self._safely(slug, path, news)
                    if news.changed:
                        changed[slug] = None
                    if progress is not None:
                        progress(slug, news.rollouts)
                    if not more:
                        del waiting[slug]
        except OperationalError as error:
            log.warning("the index cannot be written just now: %s", str(error.orig).strip())
        return list(changed)

    def forget(self) -> None:
        """Look at everything again."""
        with self._mutex:
            self._looks.clear()

    def _look_around(self) -> None:
        """See whether another process made the index again, or wrote events."""
        if self._file and (inode := reading.sign(self._file)[0]) != self._inode:
            self._inode = inode  # a new file in the place of one that was broken
            self.engine.dispose()
            self.forget()
        with self.engine.connect() as connection:
            rebuilt = connection.execute(select(tables.marks.c.value).where(tables.marks.c.name == "rebuilt")).scalar()
            newest = connection.execute(select(func.max(tables.events.c.seq))).scalar()
        if rebuilt != self._rebuilt:
            self._rebuilt = rebuilt
            self.forget()
        if newest != self._told:
            self._told = newest
            self.bus.wake()

    def _gone(self, folders: dict[str, str], run: str | None) -> bool:
        if run is not None:
            return run not in folders
        return any(slug not in folders for slug in list(self._looks))

    def _drop_missing(self, folders: dict[str, str], run: str | None, changed: dict[str, None]) -> None:
        runs = tables.runs.c
        with self.engine.connect() as connection:
            query = select(runs.id) if run is None else select(runs.id).where(runs.id == run)
            gone = [slug for slug in connection.execute(query).scalars() if slug not in folders]
        for slug in gone:
            with self._mutex:
                with self.engine.begin() as connection:
                    row = storing.known(connection, slug, lock=True)
                    if row is not None:
                        storing.drop(connection, row["number"])
                        self.bus.put(connection, f"run:{slug}", "run", {"state": "deleted"})
                        changed[slug] = None
                self._looks.pop(slug, None)
        for slug in [slug for slug in list(self._looks) if slug not in folders and (run is None or slug == run)]:
            self._looks.pop(slug, None)
        if gone:
            self.bus.wake()

    def _safely(self, slug: str, path: str, news: _News) -> bool:
        """A step; whatever a folder may hold, the others are followed."""
        signature = _signature(path)
        try:
            return self._step(slug, path, news)
        except OperationalError:
            raise
        except Exception as error:
            log.exception("%s cannot be indexed", slug)
            reason = f"cannot be indexed: {type(error).__name__}"
            runs = tables.runs
            with self.engine.begin() as connection:
                done = connection.execute(
                    update(runs).where(runs.c.id == slug).values(state="unreadable", error=reason)
                )
                if done.rowcount:
                    self.bus.put(connection, f"run:{slug}", "run", {"state": "unreadable", "error": reason})
            self.bus.wake()
            self._looks[slug] = signature
            return False

    def _step(self, slug: str, path: str, news: _News) -> bool:
        """Take in one slice of a run; whether there is more."""
        signature = _signature(path)
        with self.engine.connect() as connection:
            before = storing.known(connection, slug)
        if before is None:
            with self.engine.begin() as connection:
                storing.begin(connection, slug, _iso(signature[0][2]))
                before = storing.known(connection, slug)
            news.first = True
            assert before is not None
        try:
            found = take(Path(path), before)
        except ReplacedError:
            with self.engine.begin() as connection:
                row = storing.known(connection, slug, lock=True)
                if storing.unchanged(before, row):
                    storing.drop(connection, before["number"])
                    storing.begin(connection, slug, _iso(signature[0][2]))
            news.first = news.changed = True
            news.tries += 1
            return news.tries < _TRIES
        news.first = news.first or not (before["ledger_lines"] or before["metrics_lines"] or before["generation"])
        if not found.more and not found.tasks and _same(before, found):
            self._looks[slug] = signature
            return False
        with self.engine.begin() as connection:
            now = storing.known(connection, slug, lock=True)
            if not storing.unchanged(before, now):
                news.tries += 1
                return news.tries < _TRIES
            decided = storing.store(connection, before, found)
            news.add(before, found)
            for kind, data in news.told(before, found, decided):
                self.bus.put(connection, f"run:{slug}", kind, data)
        self.bus.wake()
        news.changed = True
        if not found.more:
            self._looks[slug] = signature
        return found.more


class _News:
    """What a refresh has to tell of a run."""

    def __init__(self) -> None:
        self.first = self.changed = self.history = False
        self.tries = 0
        self.new_rollouts = self.new_flags = 0
        self.rollouts = 0
        self.state: str | None = None

    def add(self, before: dict[str, Any], found: Slice) -> None:
        if self.state is None:
            self.state = before["state"]
        self.new_rollouts += len(found.rollouts)
        self.new_flags += len(found.flags)
        self.rollouts = found.values.get("rollouts", before["rollouts"])

    def told(
        self, before: dict[str, Any], found: Slice, decided: list[dict[str, Any]]
    ) -> list[tuple[str, dict[str, Any]]]:
        """Kinds and data of the events that belong to a slice."""
        row = {**before, **found.values}
        told: list[tuple[str, dict[str, Any]]] = []
        if len(found.steps) > _FEW:
            self.history = True
        else:
            for _, line, stage, step, _, values in found.steps:
                told.append(
                    ("metrics", {"line": line, "stage": stage, "step": step, "values": msgspec.json.decode(values)})
                )
        told.extend(("review", data) for data in decided)
        if found.more:
            return told if before["generation"] else [*told, ("run", summary(row))]
        if not self.first and self.new_rollouts:
            told.append(("rollouts", {name: row[name] for name in ("rollouts", "correct", "flagged", "invalid")}))
        if not self.first and self.new_flags:
            counts = {name: row[name] for name in ("flagged", "suspected")}
            told.append(("flags", {**counts, "new": self.new_flags}))
        if self.first or row["state"] != self.state or self.history:
            told.append(("run", summary(row)))
        return told


def summary(row: dict[str, Any]) -> dict[str, Any]:
    """A run in the data of an event."""
    names = ("kind", "state", "error", "rollouts", "correct", "invalid", "flagged", "suspected", "tasks", "head")
    return {**{name: row[name] for name in names}, "steps": row["metrics_lines"]}


def _same(before: dict[str, Any], found: Slice) -> bool:
    return all(before[name] == value for name, value in found.values.items()) and not found.decided


def _iso(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat(timespec="microseconds")


def _signature(path: str) -> tuple[reading.Signature, ...]:
    return tuple([reading.sign(f"{path}/{name}") for name in FILES])


def scan(folder: Path) -> dict[str, str]:
    """Slug and path of every run folder, as ``Home.run_folders`` gives them, at the cost of a few calls each."""
    found: dict[str, str] = {}
    _scan(str(folder), "", DEPTH, found)
    return found


def _scan(folder: str, before: str, depth: int, found: dict[str, str]) -> None:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return
    for name in names:
        if _PART.fullmatch(name) is None:
            continue
        path = f"{folder}/{name}"
        if reading.sign(f"{path}/run.json") is not reading.ABSENT:
            found[f"{before}{name}"] = path
        elif depth > 1:
            _scan(path, f"{before}{name}~", depth - 1, found)


def rebuild(follower: Follower, progress: Progress | None = None) -> dict[str, int]:
    """Make the tables of runs again; how many runs and attempts there are, and how many of the runs are unreadable.

    A service that runs on the index meanwhile sees it empty at first, and helps to fill it.
    """
    with follower.engine.begin() as connection:
        for table in (*storing.OF_RUN, tables.runs):
            connection.execute(delete(table))
        storing.add_mark(connection, "rebuilt")
    follower.refresh(progress=progress)
    runs = tables.runs.c
    query = select(func.count(), func.sum(runs.rollouts), func.count().filter(runs.state == "unreadable"))
    with follower.engine.connect() as connection:
        found = connection.execute(query).one()
    return {"runs": found[0], "rollouts": int(found[1] or 0), "unreadable": found[2]}
