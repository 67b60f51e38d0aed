"""What the dashboard says of a run as a whole, counted by the database: parts of a run, rates with their intervals,
reasons, tasks. Everything comes from rows of groups and attempts; no word of a policy is read.

What was counted is kept for as long as the run does not change.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar, cast

import msgspec
from sqlalchemy import ColumnElement, Engine, case, func, select

from lydite.evaluation.intervals import mean_interval
from lydite.evaluation.passk import pass_at_k
from lydite.server.database.tables import groups, rollouts, runs, steps
from lydite.server.index.rows import RunRow
from lydite.server.service import Service

T = TypeVar("T")
FLAT = 1e-6
"""Standard deviation of rewards up to which a group gives no gradient."""
_KEPT = 512


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a run: a phase that measures, or all steps of a training stage together.

    Attributes:
        name: of the phase, or ``stage 1``.
        phase: what to filter attempts by; ``None`` for a stage.
        stage: ``None`` for a phase that measures.
        first_step, last_step: of a stage.
        zero_std: share of groups whose rewards do not differ.
    """

    name: str
    phase: str | None
    stage: int | None
    first_step: int | None
    last_step: int | None
    groups: int
    n: int
    correct: int
    partial: int
    incorrect: int
    unparseable: int
    invalid: int
    flagged: int
    mean: float | None
    zero_std: float

    @property
    def valid(self) -> int:
        return self.n - self.invalid

    @property
    def rate(self) -> float | None:
        """Correct ones of those that could be judged."""
        return self.correct / self.valid if self.valid else None

    @property
    def outcomes(self) -> tuple[tuple[str, int], ...]:
        names = ("correct", "partial", "incorrect", "unparseable", "invalid")
        return tuple((name, cast("int", getattr(self, name))) for name in names)


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """A mean over tasks with its 95 % interval; ``tasks`` are those with enough valid attempts."""

    value: float
    low: float
    high: float
    tasks: int


class TaskCount(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a task; ``number`` is its first group."""

    task: str
    number: int
    n: int
    correct: int
    invalid: int


class StageLines(msgspec.Struct, frozen=True, kw_only=True):
    """Where a stage stands in ``metrics.jsonl``."""

    stage: int
    kind: str
    first: int
    last: int
    steps: int
    last_step: int


class Measured:
    """Counts of runs.

    Args:
        engine: the database of the index.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def parts(self, run: RunRow) -> tuple[Part, ...]:
        """In the order in which they began."""
        return self._once(run, "parts", lambda: self._parts(run.id))

    def rate(self, run: RunRow, phase: str, k: int = 1) -> Rate | None:
        """pass@k over the tasks of a phase with at least k valid attempts; ``None`` where there is none."""
        return self._once(run, ("rate", phase, k), lambda: _rate(self._attempts(run, phase).values(), k))

    def attempts_per_task(self, run: RunRow, phase: str) -> int:
        """The least number of attempts that a task got in a phase."""
        return min((valid for valid, _ in self._attempts(run, phase).values()), default=0)

    def difference(self, run: RunRow, a: str, b: str) -> Rate | None:
        """pass@1 of phase b less that of a, over the tasks of both; the interval is paired."""

        def make() -> Rate | None:
            left, right = self._attempts(run, a), self._attempts(run, b)
            both = [task for task in left if task in right and left[task][0] and right[task][0]]
            values = [right[task][1] / right[task][0] - left[task][1] / left[task][0] for task in both]
            return _mean(values, (-1.0, 1.0)) if values else None

        return self._once(run, ("difference", a, b), make)

    def reasons(self, run: RunRow, limit: int = 12) -> tuple[tuple[str, str, int], ...]:
        """Outcome, reason, how often: the most frequent first."""

        def make() -> tuple[tuple[str, str, int], ...]:
            many = func.count().label("many")
            query = (
                select(rollouts.c.outcome, rollouts.c.reason, many)
                .where(rollouts.c.run == _number(run.id))
                .group_by(rollouts.c.outcome, rollouts.c.reason)
                .order_by(many.desc(), rollouts.c.reason)
                .limit(limit)
            )
            with self._engine.connect() as connection:
                return tuple((outcome, reason, int(count)) for outcome, reason, count in connection.execute(query))

        return self._once(run, ("reasons", limit), make)

    def signals(self, run: RunRow) -> dict[str, int]:
        """How many groups can teach what."""

        def make() -> dict[str, int]:
            query = (
                select(groups.c.signal, func.count()).where(groups.c.run == _number(run.id)).group_by(groups.c.signal)
            )
            with self._engine.connect() as connection:
                return {signal: int(count) for signal, count in connection.execute(query)}

        return self._once(run, "signals", make)

    def tasks(self, run: RunRow, *, hardest: bool, limit: int = 6) -> tuple[TaskCount, ...]:
        """The tasks that were solved least often (or most often), invalid attempts left aside."""

        def make() -> tuple[TaskCount, ...]:
            n, correct, invalid = (func.sum(groups.c[name]) for name in ("n", "correct", "invalid"))
            share = correct * 1.0 / func.nullif(n - invalid, 0)
            order = (share.asc(), n.desc()) if hardest else (share.desc(), n.desc())
            query = (
                select(groups.c.task, func.min(groups.c.number), n, correct, invalid)
                .where(groups.c.run == _number(run.id))
                .group_by(groups.c.task)
                .having(n > invalid)
                .order_by(*order, func.min(groups.c.number))
                .limit(limit)
            )
            with self._engine.connect() as connection:
                return tuple(
                    TaskCount(task=task, number=number, n=int(n), correct=int(right), invalid=int(lost))
                    for task, number, n, right, lost in connection.execute(query)
                )

        return self._once(run, ("tasks", hardest, limit), make)

    def stages(self, run: RunRow) -> tuple[StageLines, ...]:
        """Training stages that have metrics."""

        def make() -> tuple[StageLines, ...]:
            query = (
                select(
                    steps.c.stage,
                    func.max(steps.c.kind),
                    func.min(steps.c.line),
                    func.max(steps.c.line),
                    func.count(),
                    func.max(steps.c.step),
                )
                .where(steps.c.run == _number(run.id))
                .group_by(steps.c.stage)
                .order_by(steps.c.stage)
            )
            with self._engine.connect() as connection:
                return tuple(
                    StageLines(stage=stage, kind=kind, first=first, last=last, steps=int(count), last_step=step)
                    for stage, kind, first, last, count, step in connection.execute(query)
                )

        return self._once(run, ("stages", run.steps), make)

    def few(self, run: RunRow, stage: StageLines, most: int) -> list[dict[str, Any]]:
        """Metrics of at most about so many steps of a stage, evenly apart, the last one among them."""
        every = max(1, -(-(stage.last - stage.first + 1) // most))
        query = (
            select(steps.c["values"])
            .where(
                steps.c.run == _number(run.id),
                steps.c.stage == stage.stage,
                (stage.last - steps.c.line) % every == 0,
            )
            .order_by(steps.c.line)
        )
        with self._engine.connect() as connection:
            return [values for (values,) in connection.execute(query)]

    def _attempts(self, run: RunRow, phase: str) -> dict[str, tuple[int, int]]:
        """Per task: valid attempts, correct ones."""
        return self._once(run, ("attempts", phase), lambda: self._count_attempts(run.id, phase))

    def _count_attempts(self, run: str, phase: str) -> dict[str, tuple[int, int]]:
        query = (
            select(groups.c.task, func.sum(groups.c.n - groups.c.invalid), func.sum(groups.c.correct))
            .where(groups.c.run == _number(run), groups.c.phase == phase)
            .group_by(groups.c.task)
        )
        with self._engine.connect() as connection:
            return {task: (int(valid), int(correct)) for task, valid, correct in connection.execute(query)}

    def _parts(self, run: str) -> tuple[Part, ...]:
        phase = case((groups.c.stage.is_(None), groups.c.phase), else_=None)
        valid = groups.c.n - groups.c.invalid
        counted = [func.sum(groups.c[name]) for name in _COUNTS]
        flat = case((groups.c.std > FLAT, 0), else_=1)
        rewarded = case((groups.c.mean.is_(None), 0), else_=valid)
        query = (
            select(
                phase,
                groups.c.stage,
                func.min(groups.c.step),
                func.max(groups.c.step),
                func.count(),
                func.sum(groups.c.mean * valid) / func.nullif(func.sum(rewarded), 0),
                func.sum(flat),
                *counted,
            )
            .where(groups.c.run == _number(run))
            .group_by(phase, groups.c.stage)
            .order_by(func.min(groups.c.number))
        )
        with self._engine.connect() as connection:
            return tuple(
                Part(
                    name=name if stage is None else f"stage {stage}",
                    phase=name,
                    stage=stage,
                    first_step=first,
                    last_step=last,
                    groups=int(many),
                    mean=mean,
                    zero_std=int(zero) / int(many),
                    **dict(zip(_COUNTS, map(int, counts), strict=True)),
                )
                for name, stage, first, last, many, mean, zero, *counts in connection.execute(query)
            )

    def _once(self, run: RunRow, what: Hashable, make: Callable[[], T]) -> T:
        key = (run.id, run.created, run.updated, run.rollouts, what)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast("T", self._kept[key])
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return made


_COUNTS = ("n", "correct", "partial", "incorrect", "unparseable", "invalid", "flagged")


def _number(run: str) -> ColumnElement[int]:
    return select(runs.c.number).where(runs.c.id == run).scalar_subquery()


def _rate(counts: Any, k: int) -> Rate | None:
    values = [pass_at_k(valid, correct, k) for valid, correct in counts if valid >= k]
    return _mean(values, (0.0, 1.0)) if values else None


def _mean(values: Sequence[float], bounds: tuple[float, float]) -> Rate:
    interval = mean_interval(values, bounds=bounds)
    return Rate(value=sum(values) / len(values), low=interval.low, high=interval.high, tasks=len(values))


_OF: weakref.WeakKeyDictionary[Service, Measured] = weakref.WeakKeyDictionary()


def measured(service: Service) -> Measured:
    """The counts of a service's runs; one per service."""
    found = _OF.get(service)
    if found is None:
        found = _OF.setdefault(service, Measured(service.engine))
    return found
