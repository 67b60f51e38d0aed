"""The index: what is asked about runs, answered from the database; words are read from the run folders."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Engine

from lydite.evaluation.suspicions import DetectorSummary
from lydite.ledger import Row
from lydite.ledger.reviews import Decision
from lydite.server.events import Bus
from lydite.server.home import Home
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

    def refresh(self, run: str | None = None) -> list[str]:
        """Take in what is new in run folders, all or one; slugs of those that changed. Events are written with it."""
        raise NotImplementedError

    def rebuild(self) -> int:
        """Make the index again from the folders; how many runs there are."""
        raise NotImplementedError

    def runs(
        self,
        *,
        kind: str | None = None,
        state: str | None = None,
        q: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[RunRow]:
        """Runs, the newest first."""
        raise NotImplementedError

    def run(self, run: str) -> RunRow:
        raise NotImplementedError

    def phases(self, run: str) -> tuple[PhaseRow, ...]:
        """Phases in the order in which they began."""
        raise NotImplementedError

    def series(
        self, run: str, keys: Sequence[str] | None = None, *, start: int | None = None, end: int | None = None
    ) -> Series:
        """Metrics of lines ``start`` to ``end`` (both included, from 1); all keys where none are named."""
        raise NotImplementedError

    def groups(self, run: str, which: GroupFilter, *, limit: int = 50, after: str | None = None) -> Page[GroupRow]:
        raise NotImplementedError

    def group(self, run: str, number: int) -> tuple[GroupRow, tuple[RolloutRow, ...]]:
        """A group and its attempts, by their index."""
        raise NotImplementedError

    def beside(self, run: str, number: int) -> tuple[int | None, int | None]:
        """Numbers of the groups before and behind this one."""
        raise NotImplementedError

    def rollouts(
        self, run: str, which: RolloutFilter, *, limit: int = 50, after: str | None = None
    ) -> Page[RolloutRow]:
        raise NotImplementedError

    def rollout(self, run: str, seq: int) -> RolloutRow:
        raise NotImplementedError

    def find(self, run: str, rollout: str) -> RolloutRow:
        """The attempt with this id (``phase/task/index``)."""
        raise NotImplementedError

    def row(self, run: str, seq: int) -> Row:
        """An attempt with its words and its record, read from the run folder.

        Raises:
            InputError: the folder does not hold any more what was indexed.
        """
        raise NotImplementedError

    def rows(self, run: str, seqs: Sequence[int]) -> list[Row]:
        """Several of them, in the order asked."""
        raise NotImplementedError

    def others(self, run: str, seq: int) -> tuple[OtherVerdict, ...]:
        """What rescorings said of an attempt."""
        raise NotImplementedError

    def tasks(self, run: str, *, q: str | None = None, limit: int = 50, after: str | None = None) -> Page[TaskRow]:
        raise NotImplementedError

    def task(self, run: str, task: str) -> Task:
        """The task as attempted, read from the run folder."""
        raise NotImplementedError

    def flags(self, which: FlagFilter, *, limit: int = 50, after: str | None = None) -> Page[FlagRow]:
        """Flags, in an order whose beginning is a fair sample (``evaluation.suspicions``), with their evidence."""
        raise NotImplementedError

    def detectors(self, run: str | None = None) -> list[DetectorSummary]:
        """Counts and precision per detector."""
        raise NotImplementedError

    def decide(self, run: str, seq: int, detector: str, version: int, decision: Decision, note: str = "") -> FlagRow:
        """Write a person's decision to the run's ``flags-review.jsonl`` and take it in."""
        raise NotImplementedError
