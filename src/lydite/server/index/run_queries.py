"""What is asked about runs as a whole: the list, phases, metrics, tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Text, and_, cast, func, or_, select, tuple_

from lydite.codec import well_formed
from lydite.server.database import tables
from lydite.server.errors import NotFoundError
from lydite.server.index import cursors
from lydite.server.index.reading import without_nul
from lydite.server.index.rows import PhaseRow, RunRow, Series, TaskRow
from lydite.server.paging import Page

_ZERO_STD = 1e-6
"""As ``reward.group_stats``."""


def known(connection: Connection, run: str) -> Mapping[Any, Any]:
    """The row of a run.

    Raises:
        NotFoundError: there is none.
    """
    found = connection.execute(select(tables.runs).where(tables.runs.c.id == plain(run)[:640])).mappings().one_or_none()
    if found is None:
        raise NotFoundError("run", run)
    return found


def number(connection: Connection, run: str) -> int:
    """The number of a run in the tables. Errors as of ``known``."""
    query = select(tables.runs.c.number).where(tables.runs.c.id == plain(run)[:640])
    found = connection.execute(query).scalar()
    if found is None:
        raise NotFoundError("run", run)
    return int(found)


def plain(text: str) -> str:
    """Text that a database takes: no lone surrogates, no NUL."""
    return without_nul(well_formed(text))


def runs(
    connection: Connection,
    *,
    kind: str | None,
    state: str | None,
    standing: str | None,
    q: str | None,
    limit: int,
    after: str | None,
) -> Page[RunRow]:
    """Runs, the newest first; see ``Index.runs``."""
    table = tables.runs.c
    query = select(tables.runs).order_by(table.created.desc(), table.number.desc())
    where = []
    if kind is not None:
        where.append(table.kind == plain(kind))
    if state is not None:
        where.append(table.state == plain(state))
    if standing is not None:
        jobs = tables.jobs.c
        spoken_for = select(jobs.run).where(jobs.status != "succeeded")
        by_job = table.id.in_(select(jobs.run).where(jobs.status == plain(standing), jobs.status != "succeeded"))
        where.append(or_(by_job, and_(table.state == plain(standing), table.id.not_in(spoken_for))))
    if q:
        where.append(or_(*(column.icontains(plain(q)[:1000], autoescape=True) for column in (table.id, table.policy))))
    total = connection.execute(select(func.count()).select_from(tables.runs).where(*where)).scalar()
    if after is not None:
        place = select(table.created, table.number).where(table.id == plain(after))
        last = connection.execute(place).one_or_none()
        if last is None:
            raise cursors.refused()
        where.append(tuple_(table.created, table.number) < tuple_(last.created, last.number))
    limit = cursors.limited(limit)
    found = connection.execute(query.where(*where).limit(limit + 1)).mappings().all()
    makers = _jobs(connection, [row["id"] for row in found])
    return cursors.page(found, limit, lambda row: run_row(row, makers.get(row["id"])), lambda row: row["id"], total)


def run(connection: Connection, slug: str) -> RunRow:
    row = known(connection, slug)
    return run_row(row, _jobs(connection, [slug]).get(slug))


def _jobs(connection: Connection, slugs: Sequence[str]) -> dict[str, str]:
    jobs = tables.jobs.c
    query = select(jobs.run, jobs.id).where(jobs.run.in_([plain(slug) for slug in slugs])).order_by(jobs.created)
    return {row.run: row.id for row in connection.execute(query)}


def run_row(row: Mapping[Any, Any], job: str | None) -> RunRow:
    """A row of the table, as it is answered with."""
    names = (
        "id", "kind", "created", "state", "policy", "head", "error", "updated", "rollouts", "correct", "invalid",
        "flagged", "suspected", "tasks", "settings", "notes",
    )  # fmt: skip
    return RunRow(
        **{name: row[name] for name in names},
        mean_reward=row["reward_sum"] / row["rewarded"] if row["rewarded"] else None,
        steps=row["metrics_lines"],
        spark=tuple((row["spark"] or {}).get("values", ())),
        job=job,
    )


def phases(connection: Connection, slug: str) -> tuple[PhaseRow, ...]:
    """Phases in the order in which they began."""
    groups = tables.groups.c
    flat = func.coalesce(groups.std, 0.0) <= _ZERO_STD
    query = (
        select(
            groups.phase,
            func.min(groups.stage).label("stage"),
            func.min(groups.step).label("step"),
            func.count().label("groups"),
            func.sum(groups.n).label("n"),
            func.sum(groups.correct).label("correct"),
            func.sum(groups.invalid).label("invalid"),
            func.sum(groups.flagged).label("flagged"),
            func.sum(groups.mean * groups.rewarded).label("total"),
            func.sum(groups.rewarded).label("rewarded"),
            func.count().filter(flat).label("flat"),
        )
        .where(groups.run == number(connection, slug))
        .group_by(groups.phase)
        .order_by(func.min(groups.number))
    )
    return tuple(
        PhaseRow(
            phase=row.phase,
            stage=row.stage,
            step=row.step,
            groups=row.groups,
            n=row.n,
            correct=row.correct,
            invalid=row.invalid,
            flagged=row.flagged,
            mean=row.total / row.rewarded if row.rewarded else None,
            zero_std=row.flat / row.groups,
        )
        for row in connection.execute(query)
    )


def series(
    connection: Connection, slug: str, keys: Sequence[str] | None, *, start: int | None, end: int | None
) -> Series:
    """Metrics by column. Only the keys that are asked for are decoded."""
    row = known(connection, slug)
    known_keys = tuple(row["keys"])
    wanted = known_keys if keys is None else tuple(dict.fromkeys(keys))
    steps = tables.steps.c
    query = select(steps.line, steps.stage, steps.step, cast(steps["values"], Text).label("text"))
    query = query.where(steps.run == row["number"]).order_by(steps.line)
    if start is not None:
        query = query.where(steps.line >= cursors.bound(start))
    if end is not None:
        query = query.where(steps.line <= cursors.bound(end))
    found = connection.execute(query).all()
    values = _values([one.text for one in found], [key for key in wanted if key in known_keys])
    nothing = (None,) * len(found)
    return Series(
        line=tuple(one.line for one in found),
        stage=tuple(one.stage for one in found),
        step=tuple(one.step for one in found),
        columns={key: values.get(key, nothing) for key in wanted},
        known=known_keys,
    )


def _values(texts: Sequence[str], keys: Sequence[str]) -> dict[str, tuple[float | None, ...]]:
    """Columns of JSON objects. Most keys can be names of fields, and only what is asked for is decoded."""
    if not texts or not keys:
        return dict.fromkeys(keys, ())
    try:
        fields = [(f"f{at}", float | None, msgspec.field(name=key, default=None)) for at, key in enumerate(keys)]
        decode = msgspec.json.Decoder(msgspec.defstruct("Values", fields)).decode
    except ValueError:
        rows = [msgspec.json.decode(text, type=dict[str, float | None]) for text in texts]
        return {key: tuple(row.get(key) for row in rows) for key in keys}
    return dict(zip(keys, zip(*(msgspec.structs.astuple(decode(text)) for text in texts), strict=True), strict=True))


def tasks(connection: Connection, slug: str, *, q: str | None, limit: int, after: str | None) -> Page[TaskRow]:
    """Tasks in the order in which they were added, with what came of them."""
    row = known(connection, slug)
    table = tables.tasks.c
    query = select(tables.tasks).where(table.run == row["number"]).order_by(table.line)
    if q:
        query = query.where(
            or_(*(column.icontains(plain(q)[:1000], autoescape=True) for column in (table.id, table.prompt)))
        )
    if after is not None:
        query = query.where(table.line > cursors.whole(after))
    limit = cursors.limited(limit)
    found = connection.execute(query.limit(limit + 1)).mappings().all()
    counts = _attempts(connection, row["number"], [one["id"] for one in found])

    def make(one: Mapping[Any, Any]) -> TaskRow:
        names = ("line", "id", "digest", "prompt", "checker", "split", "difficulty")
        attempts, correct = counts.get(one["id"], (0, 0))
        return TaskRow(run=slug, **{name: one[name] for name in names}, attempts=attempts, correct=correct)

    return cursors.page(found, limit, make, lambda one: str(one["line"]), None if q else row["tasks"])


def _attempts(connection: Connection, run: int, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    groups = tables.groups.c
    query = select(groups.task, func.sum(groups.n), func.sum(groups.correct))
    query = query.where(and_(groups.run == run, groups.task.in_(names))).group_by(groups.task)
    return {task: (int(n), int(correct)) for task, n, correct in connection.execute(query)}
