"""What is asked about groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, func, select, tuple_

from lydite.server.database import tables
from lydite.server.errors import NotFoundError
from lydite.server.index import cursors, run_queries
from lydite.server.index.rollout_queries import nothing, of_groups, rollout_row
from lydite.server.index.rows import GroupFilter, GroupRow, RolloutRow
from lydite.server.paging import Page

_NAMES = (
    "number", "phase", "stage", "step", "task", "n", "correct", "partial", "incorrect", "unparseable", "invalid",
    "mean", "std", "signal", "flagged",
)  # fmt: skip


def groups(connection: Connection, slug: str, which: GroupFilter, *, limit: int, after: str | None) -> Page[GroupRow]:
    """Groups in the order that is asked for; those without a mean or a deviation are the last ones."""
    run = run_queries.number(connection, slug)
    table = tables.groups.c
    where = [table.run == run, *conditions(which)]
    total = connection.execute(select(func.count()).select_from(tables.groups).where(*where)).scalar()
    limit = cursors.limited(limit)
    down, name = which.sort.startswith("-"), which.sort.lstrip("-")
    column = table[name]
    place = None
    if after is not None:
        query = select(column, table.number).where(table.run == run, table.number == cursors.whole(after))
        place = connection.execute(query).one_or_none()
        if place is None:
            raise cursors.refused()
    found: list[Mapping[Any, Any]] = []
    order = (column.desc(), table.number.desc()) if down else (column, table.number)
    if place is None or place[0] is not None:
        query_some = select(tables.groups).where(*where, column.is_not(None)).order_by(*order).limit(limit + 1)
        if place is not None:
            pair, last = tuple_(column, table.number), tuple_(*place)
            query_some = query_some.where(pair < last if down else pair > last)
        found.extend(connection.execute(query_some).mappings())
    if len(found) <= limit and name != "number":
        query_none = select(tables.groups).where(*where, column.is_(None)).order_by(table.number)
        if place is not None and place[0] is None:
            query_none = query_none.where(table.number > place[1])
        found.extend(connection.execute(query_none.limit(limit + 1 - len(found))).mappings())
    return cursors.page(found, limit, lambda row: group_row(row, slug), lambda row: str(row["number"]), total)


def conditions(which: GroupFilter) -> list[Any]:
    """What a filter asks of rows of the table."""
    table = tables.groups.c
    where = of_groups(table, which)
    if which.signals:
        where.append(table.signal.in_([run_queries.plain(one) for one in which.signals]))
    if which.flagged is not None:
        where.append(table.flagged > 0 if which.flagged else table.flagged == 0)
    return where


def group(connection: Connection, slug: str, number: int) -> tuple[GroupRow, tuple[RolloutRow, ...]]:
    """A group and its attempts, by their index."""
    run, table, rows = run_queries.number(connection, slug), tables.groups.c, tables.rollouts.c
    if nothing(number):
        raise NotFoundError("group", str(number))
    found = connection.execute(
        select(tables.groups).where(table.run == run, table.number == number)
    ).mappings().one_or_none()  # fmt: skip
    if found is None:
        raise NotFoundError("group", str(number))
    query = select(tables.rollouts).where(rows.run == run, rows.group == number).order_by(rows.index, rows.seq)
    attempts = connection.execute(query).mappings()
    return group_row(found, slug), tuple(rollout_row(row, slug) for row in attempts)


def beside(connection: Connection, slug: str, number: int) -> tuple[int | None, int | None]:
    """Numbers of the groups before and behind this one."""
    run, table = run_queries.number(connection, slug), tables.groups.c
    if nothing(number):
        raise NotFoundError("group", str(number))
    before = select(func.max(table.number)).where(table.run == run, table.number < number).scalar_subquery()
    behind = select(func.min(table.number)).where(table.run == run, table.number > number).scalar_subquery()
    here = select(table.number).where(table.run == run, table.number == number).scalar_subquery()
    found = connection.execute(select(before, behind, here)).one()
    if found[2] is None:
        raise NotFoundError("group", str(number))
    return found[0], found[1]


def group_row(row: Mapping[Any, Any], slug: str) -> GroupRow:
    """A row of the table, as it is answered with."""
    return GroupRow(run=slug, **{name: row[name] for name in _NAMES})
