"""Slices of runs, written to the database: each in one transaction, so that nothing is lost or counted twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Connection, Dialect, Table, and_, delete, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from lydite.ledger.reviews import Decision, Key, Review
from lydite.server.database import tables
from lydite.server.index.attempts import decided
from lydite.server.index.gathered import Gathered
from lydite.server.index.slices import GROUP, Slice

SPARK = 60
"""Points of a sparkline."""
_MANY = 400
"""Values that one statement names."""
OF_RUN = (tables.flags, tables.rescored, tables.steps, tables.tasks, tables.rollouts, tables.groups)
_PLACES = (
    "generation", "ledger_offset", "tail", "rollouts_offset", "metrics_offset", "tasks_offset", "reviews_offset",
)  # fmt: skip


def begin(connection: Connection, slug: str, created: str) -> None:
    """A row for a run that is new, where there is none yet."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    row = {"id": slug, "kind": "", "created": created, "state": "running"}
    connection.execute(dialect.insert(tables.runs).values(row).on_conflict_do_nothing(index_elements=["id"]))


def known(connection: Connection, slug: str, *, lock: bool = False) -> dict[str, Any] | None:
    """The row of a run."""
    query = select(tables.runs).where(tables.runs.c.id == slug)
    found = connection.execute(query.with_for_update() if lock else query).mappings().one_or_none()
    return None if found is None else dict(found)


def unchanged(before: dict[str, Any], now: dict[str, Any] | None) -> bool:
    """Whether a run is taken in as far as it was: nobody else took in more of it meanwhile."""
    return now is not None and all(before[name] == now[name] for name in ("number", *_PLACES))


def drop(connection: Connection, number: int) -> None:
    """Forget a run."""
    for table in OF_RUN:
        connection.execute(delete(table).where(table.c.run == number))
    connection.execute(delete(tables.runs).where(tables.runs.c.number == number))


def store(connection: Connection, before: dict[str, Any], found: Slice) -> list[dict[str, Any]]:
    """Write a slice; what was decided on flags, for those who watch."""
    run = before["number"]
    if found.groups:
        _groups(connection, run, found, fresh=before["ledger_lines"] == 0)
    write(connection, tables.tasks, found.tasks)
    write(connection, tables.rollouts, found.rollouts)
    write(connection, tables.rescored, found.rescored)
    write(connection, tables.flags, found.flags)
    write(connection, tables.steps, found.steps)
    told = _decide(connection, run, found.decided) if found.decided else []
    values = dict(found.values)
    if (spark := _spark(connection, before, found)) is not None:
        values["spark"] = spark
    values = {name: value for name, value in values.items() if value != before[name]}
    if values:
        connection.execute(update(tables.runs).where(tables.runs.c.number == run).values(values))
    return told


def write(connection: Connection, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows, their values in the order of the table's columns."""
    if not rows:
        return
    connection.exec_driver_sql(_statement(table, connection.dialect), list(rows))


@cache
def _statement(table: Table, dialect: Dialect) -> str:
    quote = dialect.identifier_preparer.quote
    names = ", ".join(quote(column.name) for column in table.columns)
    places = ", ".join(["?" if dialect.name == "sqlite" else "%s"] * len(table.columns))
    return f"INSERT INTO {quote(table.name)} ({names}) VALUES ({places})"  # noqa: S608


def _groups(connection: Connection, run: int, found: Slice, *, fresh: bool) -> None:
    """Add the groups of a slice; those that had begun before get their new attempts, under their old number."""
    old = {} if fresh else _begun(connection, run, found.groups)
    moved: dict[int, int] = {}
    for key, number in old.items():
        group = found.groups[key]
        moved[group.number] = group.number = number
    if old:
        _earlier(connection, run, {group.number: group for group in map(found.groups.__getitem__, old)})
        found.rollouts = [_moved(row, moved) for row in found.rollouts]
        groups = tables.groups
        for numbers in chunks(moved.values()):
            connection.execute(delete(groups).where(groups.c.run == run, groups.c.number.in_(numbers)))
    write(connection, tables.groups, [group.row(run) for group in found.groups.values()])


def _moved(row: tuple[Any, ...], moved: dict[int, int]) -> tuple[Any, ...]:
    number = moved.get(row[GROUP])
    return row if number is None else (*row[:GROUP], number, *row[GROUP + 1 :])


def _begun(connection: Connection, run: int, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Numbers of those groups that there are already."""
    groups = tables.groups.c
    tasks: dict[str, list[str]] = {}
    for phase, task in keys:
        tasks.setdefault(phase, []).append(task)
    found: dict[tuple[str, str], int] = {}
    for phase, names in tasks.items():
        for some in chunks(names):
            query = select(groups.task, groups.number).where(
                groups.run == run, groups.phase == phase, groups.task.in_(some)
            )
            found.update(((phase, row.task), row.number) for row in connection.execute(query))
    return found


def _earlier(connection: Connection, run: int, groups: dict[int, Gathered]) -> None:
    """Add what earlier slices took in of these groups."""
    rows = tables.rollouts.c
    for numbers in chunks(groups):
        query = select(rows.group, rows.outcome, rows.score, rows.reward, rows.flags).where(
            rows.run == run, rows.group.in_(numbers)
        )
        for row in connection.execute(query):
            groups[row.group].add(row.outcome, row.score, row.reward, bool(row.flags))


def _spark(connection: Connection, before: dict[str, Any], found: Slice) -> dict[str, Any] | None:
    """The sparkline of a run, where it changes: rewards of its last training steps, else means of its last groups."""
    old = before["spark"] or {}
    rewards = [msgspec.json.decode(row[-1]).get("reward") for row in found.steps]
    fresh = [float(value) for value in rewards if value is not None]
    if fresh or old.get("of") == "steps":
        kept = old["values"] if old.get("of") == "steps" else []
        return {"of": "steps", "values": [*kept, *fresh][-SPARK:]} if fresh else None
    if not found.groups:
        return None
    groups = tables.groups.c
    query = select(groups.mean).where(groups.run == before["number"], groups.mean.is_not(None))
    means = connection.execute(query.order_by(groups.number.desc()).limit(SPARK)).scalars().all()
    return {"of": "groups", "values": means[::-1]}


def _decide(connection: Connection, run: int, reviews: dict[Key, Review]) -> list[dict[str, Any]]:
    """Write decisions beside the flags that they are about."""
    flags, rollouts = tables.flags, tables.rollouts
    seqs = find(connection, run, {key[0] for key in reviews})
    told = []
    for (rollout, detector, version), review in reviews.items():
        seq = seqs.get(rollout)
        if seq is None:
            continue
        decision, note, time = decided(review)
        where = (flags.c.run == run, flags.c.seq == seq)
        done = connection.execute(
            update(flags)
            .where(*where, flags.c.detector == detector, flags.c.version == version)
            .values(decision=decision, note=note, decided=time)
        )
        if not done.rowcount:
            continue
        bars = any(
            row.bars if row.decision is None else row.decision == Decision.CONFIRMED
            for row in connection.execute(select(flags.c.bars, flags.c.decision).where(*where))
        )
        connection.execute(update(rollouts).where(rollouts.c.run == run, rollouts.c.seq == seq).values(bars=bars))
        told.append({"seq": seq, "detector": detector, "version": version, "decision": decision, "note": note})
    return told


def find(connection: Connection, run: int, names: Iterable[str]) -> dict[str, int]:
    """Lines of the ledger of attempts, by their ids: ``phase/task/index``, where tasks may have slashes, too."""
    groups, rollouts = tables.groups.c, tables.rollouts.c
    found: dict[str, int] = {}
    for some in chunks(names, 100):
        keys = {key for name in some for key in _keys(name)}
        numbers: list[int] = []
        for pairs in chunks(keys, 50):
            either = or_(
                *(and_(groups.run == run, groups.phase == phase, groups.task == task) for phase, task in pairs)
            )
            numbers.extend(connection.execute(select(groups.number).where(either)).scalars())
        for held in chunks(numbers):
            query_ids = select(rollouts.id, rollouts.seq).where(rollouts.run == run, rollouts.group.in_(held))
            for row in connection.execute(query_ids.where(rollouts.id.in_(some))):
                found[row.id] = min(row.seq, found.get(row.id, row.seq))
    return found


def _keys(name: str) -> Iterator[tuple[str, str]]:
    head, _, _ = name.rpartition("/")
    at = head.find("/")
    for _ in range(8):
        if at < 0:
            return
        yield head[:at], head[at + 1 :]
        at = head.find("/", at + 1)


def chunks(items: Iterable[Any], size: int = _MANY) -> Iterator[list[Any]]:
    """Items in lists of bounded length."""
    held = list(items)
    for at in range(0, len(held), size):
        yield held[at : at + size]


def add_mark(connection: Connection, name: str) -> None:
    """Count one more of what a mark counts."""
    marks = tables.marks
    done = connection.execute(update(marks).where(marks.c.name == name).values(value=marks.c.value + 1))
    if not done.rowcount:
        connection.execute(insert(marks).values(name=name, value=1))
