"""Following run folders: which there are, which have grown, and taking in what is new of them."""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, func, select, update
from sqlalchemy.exc import OperationalError

from lydite.server.database import tables
from lydite.server.events import Bus
from lydite.server.home import DEPTH, Home
from lydite.server.index import reading, storing
from lydite.server.index.news import News
from lydite.server.index.slices import ReplacedError, Slice
from lydite.server.index.taking import FILES, take

log = logging.getLogger(__name__)

_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+=@:,-]{0,199}")
_TRIES = 20
_SETTLED = 2_000_000_000
"""Nanoseconds after which a file that looks changed in its place is not just being written."""

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
            pending: dict[str, News] = {}
            while waiting and not self._stopped:
                for slug, path in list(waiting.items()):
                    news = pending.get(slug)
                    if news is None:
                        news = pending[slug] = News()
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

    def _safely(self, slug: str, path: str, news: News) -> bool:
        """A step; whatever a folder may hold, the others are followed."""
        signature = _signature(path)
        try:
            return self._step(slug, path, news)
        except OperationalError:
            raise
        except Exception as error:
            log.exception("%s cannot be indexed", slug)
            self._give_up(slug, signature, f"cannot be indexed: {type(error).__name__}")
            return False

    def _give_up(self, slug: str, signature: tuple[reading.Signature, ...], reason: str) -> None:
        """Say why a run cannot be read, and leave it alone until it changes."""
        runs = tables.runs
        with self.engine.begin() as connection:
            done = connection.execute(update(runs).where(runs.c.id == slug).values(state="unreadable", error=reason))
            if done.rowcount:
                self.bus.put(connection, f"run:{slug}", "run", {"state": "unreadable", "error": reason})
        self.bus.wake()
        self._looks[slug] = signature

    def _step(self, slug: str, path: str, news: News) -> bool:
        """Take in one slice of a run; whether there is more."""
        signature, old = _signature(path), self._looks.get(slug)
        with self.engine.connect() as connection:
            before = storing.known(connection, slug)
        if before is None:
            with self.engine.begin() as connection:
                storing.begin(connection, slug, _iso(signature[0][2]))
                before = storing.known(connection, slug)
            news.first = True
            assert before is not None
        try:
            if old is not None and (edited := _edited(old, signature)):
                if time.time_ns() - edited > _SETTLED:
                    raise ReplacedError
                signature = old  # perhaps it is written at this moment: to be looked at again
            found = take(Path(path), before)
        except ReplacedError:
            if news.replaced:
                self._give_up(
                    slug, signature, "ledger.jsonl: lines do not follow each other, or change while they are read"
                )
                return False
            with self.engine.begin() as connection:
                row = storing.known(connection, slug, lock=True)
                if storing.unchanged(before, row):
                    storing.drop(connection, before["number"])
                    storing.begin(connection, slug, _iso(signature[0][2]))
            self._looks.pop(slug, None)
            news.first = news.changed = news.replaced = True
            return True
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


def _edited(old: tuple[reading.Signature, ...], new: tuple[reading.Signature, ...]) -> int:
    """When a file that is only ever added to was last changed otherwise; 0 where none was."""
    return max(
        (
            now[2]
            for was, now in zip(old[1:], new[1:], strict=True)
            if reading.ABSENT not in (was, now) and (was[0] != now[0] or (was[1] == now[1] and was[2] != now[2]))
        ),
        default=0,
    )


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

    One run after the other, so that the others can be looked at meanwhile. A service that runs on the index sees it,
    and goes on with what this process may leave undone.
    """
    with follower.engine.connect() as connection:
        slugs = connection.execute(select(tables.runs.c.id).order_by(tables.runs.c.number)).scalars().all()
    for slug in slugs:
        with follower.engine.begin() as connection:
            row = storing.known(connection, slug, lock=True)
            if row is not None:
                storing.drop(connection, row["number"])
                storing.begin(connection, slug, row["created"])
            storing.add_mark(connection, "rebuilt")
        follower.refresh(slug, progress)
    follower.refresh(progress=progress)
    runs = tables.runs.c
    query = select(func.count(), func.sum(runs.rollouts), func.count().filter(runs.state == "unreadable"))
    with follower.engine.connect() as connection:
        found = connection.execute(query).one()
    return {"runs": found[0], "rollouts": int(found[1] or 0), "unreadable": found[2]}
