"""What is asked about flags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, func, select, tuple_

from lydite.evaluation.intervals import wilson
from lydite.evaluation.suspicions import DetectorSummary
from lydite.server.database import tables
from lydite.server.index import cursors, run_queries
from lydite.server.index.rollout_queries import nothing
from lydite.server.index.rows import FlagFilter


def flags(
    connection: Connection, which: FlagFilter, *, limit: int, after: str | None
) -> tuple[list[Mapping[Any, Any]], int | None]:
    """Rows of flags, with the slug of their run as ``slug``: one more than ``limit`` where there are more."""
    table = tables.flags.c
    where: list[Any] = []
    if which.run is not None:
        where.append(table.run == run_queries.number(connection, which.run))
    if which.detector is not None:
        where.append(table.detector == run_queries.plain(which.detector))
    if which.decision == "open":
        where.append(table.decision.is_(None))
    elif which.decision is not None:
        where.append(table.decision == run_queries.plain(which.decision))
    if which.correct is not None:
        where.append(table.correct.is_(which.correct))
    total = connection.execute(select(func.count()).select_from(tables.flags).where(*where)).scalar()
    order = (table.rank, table.run, table.seq, table.version)
    if after is not None:
        where.append(tuple_(*order) > tuple_(*_place(connection, after)))
    query = select(tables.flags, tables.runs.c.id.label("slug")).join(tables.runs, tables.runs.c.number == table.run)
    found = connection.execute(query.where(*where).order_by(*order).limit(limit + 1)).mappings().all()
    return list(found), total


def _place(connection: Connection, cursor: str) -> tuple[Any, ...]:
    """Where a flag stands in the order."""
    parts = cursor.rsplit(":", 3)
    if len(parts) != 4:
        raise cursors.refused()
    slug, seq, detector, version = parts
    row = known(connection, slug, cursors.whole(seq), detector, cursors.whole(version))
    if row is None:
        raise cursors.refused()
    return row["rank"], row["run"], row["seq"], row["version"]


def known(connection: Connection, slug: str, seq: int, detector: str, version: int) -> Mapping[Any, Any] | None:
    """The row of a flag, with the slug of its run; ``None`` where there is none."""
    if nothing(seq) or not 0 <= version <= cursors.MOST:
        return None
    table = tables.flags.c
    query = select(tables.flags, tables.runs.c.id.label("slug")).join(tables.runs, tables.runs.c.number == table.run)
    query = query.where(
        tables.runs.c.id == run_queries.plain(slug)[:640],
        table.seq == seq,
        table.detector == run_queries.plain(detector),
        table.version == version,
    )
    return connection.execute(query).mappings().one_or_none()


def name(row: Mapping[Any, Any]) -> str:
    """The cursor behind a flag."""
    return f"{row['slug']}:{row['seq']}:{row['detector']}:{row['version']}"


def bars(row: Mapping[Any, Any]) -> bool:
    """Whether a flag bars, as people decided."""
    return bool(row["bars"]) if row["decision"] is None else row["decision"] == "confirmed"


def detectors(connection: Connection, slug: str | None) -> list[DetectorSummary]:
    """Counts and precision per detector, as ``evaluation.suspicions.summarise_flags``."""
    table = tables.flags.c

    def how_many(condition: Any) -> Any:
        return func.count().filter(condition)

    confirmed, dismissed = table.decision == "confirmed", table.decision == "dismissed"
    query = select(
        table.detector,
        table.version,
        func.count().label("flags"),
        how_many(table.correct.is_(True)).label("correct"),
        how_many(confirmed | (table.decision.is_(None) & table.bars.is_(True))).label("bars"),
        how_many(confirmed).label("confirmed"),
        how_many(dismissed).label("dismissed"),
    )
    if slug is not None:
        query = query.where(table.run == run_queries.number(connection, slug))
    query = query.group_by(table.detector, table.version)
    found = [DetectorSummary(**row) for row in connection.execute(query).mappings()]
    for one in found:
        reviewed = one.confirmed + one.dismissed
        if reviewed:
            bounds = wilson(one.confirmed, reviewed)
            one.precision, one.low, one.high = one.confirmed / reviewed, bounds.low, bounds.high
    return sorted(found, key=lambda one: (one.detector, one.version))
