"""The index: what is asked about runs, answered from the database; words are read from the run folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, select

from lydite.errors import InputError
from lydite.evaluation.suspicions import DetectorSummary
from lydite.flag import Flag
from lydite.ledger import Row
from lydite.ledger.reviews import FILE as REVIEWS
from lydite.ledger.reviews import Decision, Reviews
from lydite.server.database import tables
from lydite.server.errors import NotFoundError, RefusedError
from lydite.server.events import Bus
from lydite.server.home import Home
from lydite.server.index import (
    cursors,
    flag_queries,
    following,
    group_queries,
    rollout_queries,
    run_queries,
    search,
    words,
)
from lydite.server.index.rows import (
    FlagFilter,
    FlagRow,
    GroupFilter,
    GroupRow,
    OtherVerdict,
    PhaseRow,
    RolloutFilter,
    RolloutRow,
    RunRow,
    Series,
    TaskRow,
)
from lydite.server.paging import Page
from lydite.task import Task


class Index:
    """Blocking; safe from threads. Every method that names a run, group, attempt or task raises ``NotFoundError`` where
    there is none. Cursors (``after``) are those of ``Page.next``; a cursor that is none raises ``RefusedError``."""

    def __init__(self, home: Home, engine: Engine, bus: Bus) -> None:
        self.home, self.engine, self.bus = home, engine, bus
        self.follower = following.Follower(home, engine, bus)

    def refresh(self, run: str | None = None) -> list[str]:
        """Take in what is new in run folders, all or one; slugs of those that changed. Events are written with it."""
        return self.follower.refresh(run)

    def rebuild(self, progress: following.Progress | None = None) -> dict[str, int]:
        """Make the index again from the folders; how many runs and attempts there are, and how many of the runs cannot
        be read."""
        return following.rebuild(self.follower, progress)

    def runs(
        self,
        *,
        kind: str | None = None,
        state: str | None = None,
        standing: str | None = None,
        q: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[RunRow]:
        """Runs, the newest first.

        Args:
            kind: of the run.
            state: of the run.
            standing: the state of the job that makes it, or the run's own where none does, or that succeeded.
            q: what its name or policy has in it.
            limit, after: the page.
        """
        with self.engine.connect() as connection:
            asked = {"kind": kind, "state": state, "standing": standing, "q": q}
            return run_queries.runs(connection, **asked, limit=limit, after=after)

    def run(self, run: str) -> RunRow:
        with self.engine.connect() as connection:
            return run_queries.run(connection, run)

    def phases(self, run: str) -> tuple[PhaseRow, ...]:
        """Phases in the order in which they began."""
        with self.engine.connect() as connection:
            return run_queries.phases(connection, run)

    def series(
        self, run: str, keys: Sequence[str] | None = None, *, start: int | None = None, end: int | None = None
    ) -> Series:
        """Metrics of lines ``start`` to ``end`` (both included, from 1); all keys where none are named."""
        with self.engine.connect() as connection:
            return run_queries.series(connection, run, keys, start=start, end=end)

    def groups(self, run: str, which: GroupFilter, *, limit: int = 50, after: str | None = None) -> Page[GroupRow]:
        with self.engine.connect() as connection:
            return group_queries.groups(connection, run, which, limit=limit, after=after)

    def group(self, run: str, number: int) -> tuple[GroupRow, tuple[RolloutRow, ...]]:
        """A group and its attempts, by their index."""
        with self.engine.connect() as connection:
            return group_queries.group(connection, run, number)

    def beside(self, run: str, number: int) -> tuple[int | None, int | None]:
        """Numbers of the groups before and behind this one."""
        with self.engine.connect() as connection:
            return group_queries.beside(connection, run, number)

    def rollouts(
        self, run: str, which: RolloutFilter, *, limit: int = 50, after: str | None = None
    ) -> Page[RolloutRow]:
        """Attempts. Looking for words (``q``) takes bounded time: its page may have fewer items than ``limit``, even
        none, and yet a ``next``, which goes on behind the last attempt that was looked at."""
        with self.engine.connect() as connection:
            if not which.q:
                return rollout_queries.rollouts(connection, run, which, limit=limit, after=after)
            known = run_queries.known(connection, run)
            return search.rollouts(connection, self._folder(run), run, known, which, limit=limit, after=after)

    def rollout(self, run: str, seq: int) -> RolloutRow:
        with self.engine.connect() as connection:
            return rollout_queries.rollout_row(rollout_queries.known(connection, run, seq), run)

    def find(self, run: str, rollout: str) -> RolloutRow:
        """The attempt with this id (``phase/task/index``)."""
        with self.engine.connect() as connection:
            return rollout_queries.find(connection, run, rollout)

    def row(self, run: str, seq: int) -> Row:
        """An attempt with its words and its record, read from the run folder.

        Raises:
            InputError: the folder does not hold any more what was indexed.
        """
        return self.rows(run, [seq])[0]

    def rows(self, run: str, seqs: Sequence[int]) -> list[Row]:
        """Several of them, in the order asked."""
        with self.engine.connect() as connection:
            number = run_queries.number(connection, run)
            asked = [seq for seq in seqs if not rollout_queries.nothing(seq)]
            found = rollout_queries.fetched(connection, number, asked)
        for seq, row in zip(seqs, found, strict=False):
            if row["seq"] != seq:
                raise NotFoundError("rollout", str(seq))
        if len(found) < len(seqs):
            raise NotFoundError("rollout", str(seqs[len(found)]))
        return words.rows(self._folder(run), found) if found else []

    def others(self, run: str, seq: int) -> tuple[OtherVerdict, ...]:
        """What rescorings said of an attempt."""
        with self.engine.connect() as connection:
            return rollout_queries.others(connection, run, seq)

    def tasks(self, run: str, *, q: str | None = None, limit: int = 50, after: str | None = None) -> Page[TaskRow]:
        with self.engine.connect() as connection:
            return run_queries.tasks(connection, run, q=q, limit=limit, after=after)

    def task(self, run: str, task: str) -> Task:
        """The task as attempted, read from the run folder."""
        with self.engine.connect() as connection:
            number, table = run_queries.number(connection, run), tables.tasks.c
            query = select(tables.tasks).where(table.run == number, table.id == run_queries.plain(task))
            row = connection.execute(query.order_by(table.line).limit(1)).mappings().one_or_none()
        if row is None:
            raise NotFoundError("task", task)
        return words.task(self._folder(run), row)

    def flags(self, which: FlagFilter, *, limit: int = 50, after: str | None = None) -> Page[FlagRow]:
        """Flags, in an order whose beginning is a fair sample (``evaluation.suspicions``), with their evidence."""
        limit = cursors.limited(limit)
        with self.engine.connect() as connection:
            found, total = flag_queries.flags(connection, which, limit=limit, after=after)
            made = self._flags(connection, found[:limit])
        following = flag_queries.name(found[limit - 1]) if len(found) > limit else None
        return Page(items=tuple(made), next=following, total=total)

    def detectors(self, run: str | None = None) -> list[DetectorSummary]:
        """Counts and precision per detector."""
        with self.engine.connect() as connection:
            return flag_queries.detectors(connection, run)

    def decide(self, run: str, seq: int, detector: str, version: int, decision: Decision, note: str = "") -> FlagRow:
        """Write a person's decision to the run's ``flags-review.jsonl`` and take it in."""
        with self.engine.connect() as connection:
            run_queries.number(connection, run)
            row = flag_queries.known(connection, run, seq, detector, version)
            if row is None:
                raise NotFoundError("flag", f"{run}:{seq}:{detector}:{version}")
            rollout = rollout_queries.known(connection, run, seq)["id"]
        folder = self._folder(run)
        place = folder / REVIEWS
        if place.is_symlink() or (place.exists() and not place.is_file()):
            raise RefusedError(f"{REVIEWS} of this run is no regular file")
        flag = Flag(detector=detector, version=version, bars=row["bars"])
        Reviews(folder).add([(rollout, flag, decision)], note)
        self.refresh(run)
        with self.engine.connect() as connection:
            now = flag_queries.known(connection, run, seq, detector, version)
            if now is None:
                raise NotFoundError("flag", f"{run}:{seq}:{detector}:{version}")
            return self._flags(connection, [now])[0]

    def stop(self) -> None:
        """Let a refresh that is under way end soon: the service is going down."""
        self.follower.stop()

    def _folder(self, run: str) -> Path:
        return self.home.run_folder(run)

    def _flags(self, connection: Connection, found: Sequence[Mapping[Any, Any]]) -> list[FlagRow]:
        """Flags with their attempts and evidence."""
        seqs: dict[tuple[int, str], list[int]] = {}
        for row in found:
            seqs.setdefault((row["run"], row["slug"]), []).append(row["seq"])
        attempts: dict[tuple[int, int], Mapping[Any, Any]] = {}
        evidence: dict[tuple[int, int, str, int], dict[str, Any]] = {}
        for (run, slug), some in seqs.items():
            rows = rollout_queries.fetched(connection, run, list(dict.fromkeys(some)))
            attempts.update(((run, row["seq"]), row) for row in rows)
            try:
                records = words.records(self._folder(slug), rows)
            except (InputError, NotFoundError):
                continue  # the folder is not what was indexed any more; the next refresh will say so
            for row, record in zip(rows, records, strict=True):
                for flag in record.flags:
                    evidence.setdefault((run, row["seq"], flag.detector, flag.version), flag.evidence)
        return [
            FlagRow(
                run=row["slug"],
                seq=row["seq"],
                detector=row["detector"],
                version=row["version"],
                bars=flag_queries.bars(row),
                rollout=rollout_queries.rollout_row(attempts[row["run"], row["seq"]], row["slug"]),
                evidence=evidence.get((row["run"], row["seq"], row["detector"], row["version"]), {}),
                decision=row["decision"],
                note=row["note"],
                decided=row["decided"],
            )
            for row in found
            if (row["run"], row["seq"]) in attempts
        ]
