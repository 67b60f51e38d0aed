"""Two runs, or two parts of runs, beside each other: counted by the database, task by task. No word is read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from sqlalchemy import ColumnElement, Engine, func, select

from lydite.errors import InputError
from lydite.evaluation.paired import Paired, paired_tallies
from lydite.evaluation.tally import Tally, TaskTally
from lydite.server.database.tables import groups, rollouts, runs, tasks
from lydite.server.errors import NotFoundError, RefusedError
from lydite.server.index.rows import RunRow
from lydite.server.page.measured import Part, measured
from lydite.server.service import Service
from lydite.verdict import Outcome

_KEPT = 64
_MANY = 1000
"""Tasks above which intervals are drawn less often: they are narrow then."""
_FEW_DRAWS = 2000
BUDGETS = ("max_tokens", "temperature", "top_p")
"""Settings without which two policies are not asked the same (as ``lydite compare``)."""

Change = Literal["fixed", "broken", "same"]


class Count(msgspec.Struct, frozen=True):
    """Attempts at a task on one side. ``number`` is its first group."""

    number: int
    n: int
    invalid: int
    correct: int

    @property
    def valid(self) -> int:
        return self.n - self.invalid


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One side.

    Attributes:
        run: the run.
        part: the phase, or ``train-0`` for all steps of a stage.
        parts: the run's others, too.
        tally: counts, as ``evaluation`` reads them.
        counts: by task.
        prompts: beginnings of the tasks' prompts.
    """

    run: RunRow
    part: str
    parts: tuple[str, ...]
    tally: Tally
    counts: dict[str, Count]
    prompts: dict[str, str]

    @property
    def name(self) -> str:
        return f"{self.run.id}:{self.part}"


class TaskChange(msgspec.Struct, frozen=True, kw_only=True):
    """A task that both sides attempted. ``difference`` is of its rates, B less A; ``None`` where a side has nothing
    valid."""

    task: str
    prompt: str
    a: Count
    b: Count
    difference: float | None

    @property
    def change(self) -> Change | None:
        if self.difference is None:
            return None
        return "fixed" if self.difference > 0 else "broken" if self.difference < 0 else "same"


class Setting(msgspec.Struct, frozen=True):
    """A setting that differs; ``None`` where a side does not have it."""

    name: str
    a: str | None
    b: str | None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison says.

    Attributes:
        pairs: paired difference of pass@k for each k, ``pairs[0]`` of pass@1.
        tasks: the common ones, the greatest change first.
        warnings: why a difference may not be the policies'.
        settings: those that differ; ``alike`` do not.
    """

    a: Side
    b: Side
    pairs: tuple[Paired, ...]
    tasks: tuple[TaskChange, ...]
    warnings: tuple[str, ...]
    settings: tuple[Setting, ...]
    alike: int


class Comparing:
    """Comparisons, each kept for as long as its runs do not change. Safe from threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, Any] = OrderedDict()
        self._lock = threading.Lock()

    def side(self, service: Service, name: str) -> Side:
        """One side by ``RUN`` or ``RUN:PHASE``; without a phase the only one that measures, or the last of them.

        Raises:
            NotFoundError: there is no such run.
            RefusedError: the run has no such part, or no attempts.
        """
        run, part = _named(service, name)
        parts = measured(service).parts(run)
        if not parts:
            raise RefusedError(f"{run.id} has no attempts to compare")
        known = tuple(one.phase if one.phase is not None else f"train-{one.stage}" for one in parts)
        if not part:
            part = next((name for name in reversed(known) if not name.startswith("train-")), known[-1])
        if part not in known and not part.startswith("train-"):
            raise RefusedError(f"{run.id} has no part {part!r:.80}: there are {', '.join(known[:20])}")
        chosen = next((one for one, name in zip(parts, known, strict=True) if name == part), None)
        key = ("side", service.engine, run.id, run.head, run.rollouts, part)
        found: Side | None = self._get(key)
        if found is None:
            found = self._put(key, _side(service.engine, run, part, known, chosen))
        return found

    def compare(self, service: Service, a: str, b: str) -> Compared:
        """Both sides and what lies between them.

        Raises:
            NotFoundError, RefusedError: see ``side``.
            InputError: the sides have no task in common, or none that could be judged on both.
        """
        left, right = self.side(service, a), self.side(service, b)
        key = (*(("pair", one.run.id, one.run.head, one.run.rollouts, one.part) for one in (left, right)),)
        found: Compared | None = self._get((service.engine, key))
        if found is None:
            found = self._put((service.engine, key), _compared(left, right))
        return found

    def _get(self, key: Any) -> Any:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            return None

    def _put(self, key: Any, value: Any) -> Any:
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return value


COMPARING = Comparing()
"""That of this process."""


def _named(service: Service, name: str) -> tuple[RunRow, str]:
    try:
        return service.index.run(name), ""
    except NotFoundError:
        run, colon, part = name.rpartition(":")
        if not colon:
            raise
        return service.index.run(run), part


def _side(engine: Engine, run: RunRow, part: str, parts: tuple[str, ...], chosen: Part | None) -> Side:
    number = select(runs.c.number).where(runs.c.id == run.id).scalar_subquery()
    stage = chosen.stage if chosen is not None else None
    where: list[ColumnElement[bool]] = [groups.c.run == number]
    here: list[ColumnElement[bool]] = [rollouts.c.run == number]
    if stage is None:
        where.append(groups.c.phase == part)
        here.append(rollouts.c.phase == part)
    else:
        where.append(groups.c.stage == stage)
        here.append(rollouts.c.stage == stage)
    total = [func.sum(groups.c[name]) for name in ("n", "invalid", "correct", "flagged")]
    by_task = select(groups.c.task, func.min(groups.c.number), *total).where(*where).group_by(groups.c.task)
    known = select(tasks.c.id, tasks.c.digest, tasks.c.prompt).where(tasks.c.run == number)
    tally, counts = Tally(), {}
    with engine.connect() as connection:
        documents = {name: (digest, prompt) for name, digest, prompt in connection.execute(known)}
        for task, first, n, invalid, correct, flagged in connection.execute(by_task):
            counts[task] = count = Count(int(first), int(n), int(invalid), int(correct))
            made = tally.tasks[task] = TaskTally(documents.get(task, ("", ""))[0])
            made.n, made.valid, made.correct = count.n, count.valid, count.correct
            tally.attempts += count.n
            tally.flagged += int(flagged)
            tally.outcomes[Outcome.INVALID] += count.invalid
            tally.outcomes[Outcome.CORRECT] += count.correct
        asked = select(rollouts.c.verifier).where(*here, rollouts.c.outcome != "invalid").distinct()
        tally.verifiers = {verifier for (verifier,) in connection.execute(asked) if verifier}
    if not counts:
        raise RefusedError(f"{run.id} has no part {part!r:.80}: there are {', '.join(parts[:20])}")
    prompts = {task: documents[task][1] for task in counts if task in documents}
    return Side(run=run, part=part, parts=parts, tally=tally, counts=counts, prompts=prompts)


def _compared(a: Side, b: Side) -> Compared:
    common = [task for task in a.counts if task in b.counts]
    draws = {} if len(common) <= _MANY else {"draws": _FEW_DRAWS}
    most = min((min(a.counts[task].valid, b.counts[task].valid) for task in common), default=0)
    ks = sorted({k for k in (2, 4, 8, 16, 32, 64) if k < most} | ({most} if most > 1 else set()))
    pairs = [paired_tallies(a.tally, b.tally, k=1, **draws)]
    pairs += [paired_tallies(a.tally, b.tally, k=k, draws=_FEW_DRAWS) for k in ks]
    settings = tuple(_settings(a.run, b.run))
    changes = sorted((_change(a, b, task) for task in common), key=_order)
    return Compared(
        a=a,
        b=b,
        pairs=tuple(pairs),
        tasks=tuple(changes),
        warnings=tuple(_warnings(a, b)),
        settings=tuple(one for one in settings if one.a != one.b),
        alike=sum(one.a == one.b for one in settings),
    )


def _change(a: Side, b: Side, task: str) -> TaskChange:
    left, right = a.counts[task], b.counts[task]
    both = left.valid and right.valid
    return TaskChange(
        task=task,
        prompt=a.prompts.get(task, ""),
        a=left,
        b=right,
        difference=right.correct / right.valid - left.correct / left.valid if both else None,
    )


def _order(one: TaskChange) -> tuple[bool, float, bool, int]:
    """The greatest change first, what broke before what was fixed; then as the run has them."""
    difference = one.difference
    return difference is None, -abs(difference or 0.0), (difference or 0.0) > 0, one.a.number


def _warnings(a: Side, b: Side) -> Iterator[str]:
    only = [len(one.counts.keys() - two.counts.keys()) for one, two in ((a, b), (b, a))]
    if any(only):
        yield f"the sets of tasks differ: {only[0]} in A only, {only[1]} in B only; the common ones are compared"
    if a.tally.verifiers != b.tally.verifiers:
        sides = " / ".join(", ".join(sorted(side.tally.verifiers)) or "none" for side in (a, b))
        yield f"verifiers differ, so a difference may be theirs: {sides}"
    for name in BUDGETS:
        values = a.run.settings.get(name), b.run.settings.get(name)
        if None not in values and values[0] != values[1]:
            yield f"{name} differs: {values[0]} / {values[1]}"
    invalid = [side.tally.invalid / side.tally.attempts for side in (a, b)]
    if max(invalid) > 0:
        yield f"invalid attempts are left aside: {invalid[0]:.1%} / {invalid[1]:.1%}"
    for side, name in ((a, "A"), (b, "B")):
        if side.run.state == "running":
            yield f"{name} is still being written"


def _settings(a: RunRow, b: RunRow) -> Iterator[Setting]:
    """All settings of both runs, by their dotted names."""
    left, right = (dict(_flat({"kind": run.kind, "policy": run.policy, **run.settings})) for run in (a, b))
    for name in {**left, **right}:
        yield Setting(name, left.get(name), right.get(name))


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        for index, inner in enumerate(value):
            yield from _flat(inner, f"{name}.{index}")
    else:
        yield name, value if isinstance(value, str) else msgspec.json.encode(value).decode("utf-8", "replace")


def reason(error: InputError) -> str:
    """Why two sides cannot be compared, for a person."""
    return error.message + (f"; {error.remedy}" if error.remedy else "")
