"""What is asked about attempts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select, tuple_

from lydite.server.database import tables
from lydite.server.errors import NotFoundError
from lydite.server.index import cursors, run_queries, storing
from lydite.server.index.rows import GroupFilter, OtherVerdict, RolloutFilter, RolloutRow
from lydite.server.paging import Page

_NAMES = (
    "seq", "id", "group", "task", "phase", "stage", "step", "index", "outcome", "score", "reward", "reason",
    "extracted", "verifier", "policy", "finish", "prompt_tokens", "completion_tokens", "seconds", "time", "bars",
)  # fmt: skip
_COLUMNS = {"seq": "seq", "reward": "reward", "tokens": "completion_tokens", "seconds": "seconds"}
Place = tuple[float | None, int]
"""In an order of attempts: the value that is sorted by, and the line of the ledger."""
_FEW_GROUPS = 64
_AGGREGATED = frozenset({"correct", "partial", "incorrect", "unparseable", "invalid"})


def rollouts(
    connection: Connection, slug: str, which: RolloutFilter, *, limit: int, after: str | None
) -> Page[RolloutRow]:
    """Attempts in the order that is asked for; those without a reward or without counted tokens are the last ones."""
    run = run_queries.number(connection, slug)
    limit = cursors.limited(limit)
    found = seqs(connection, run, which, None if after is None else place(connection, run, which, after), limit + 1)
    rows = fetched(connection, run, found[:limit])
    following = str(found[limit - 1]) if len(found) > limit else None
    total = count(connection, run, which)
    return Page(items=tuple(rollout_row(row, slug) for row in rows), next=following, total=total)


def place(connection: Connection, run: int, which: RolloutFilter, cursor: str) -> Place:
    """Where in an order a cursor stands.

    Raises:
        RefusedError: it is no cursor.
    """
    table = tables.rollouts.c
    query = select(_column(which), table.seq).where(table.run == run, table.seq == cursors.whole(cursor))
    found = connection.execute(query).one_or_none()
    if found is None:
        raise cursors.refused()
    return found[0], found[1]


def seqs(connection: Connection, run: int, which: RolloutFilter, behind: Place | None, limit: int) -> list[int]:
    """Lines of the ledger of attempts that a filter leaves (``q`` left aside), in its order, from a place on."""
    table, column = tables.rollouts.c, _column(which)
    filters, groups = narrowed(connection, run, which)
    # A sum keeps the database from choosing an index by the order that is asked for. Attempts of a few groups are
    # fetched and sorted; with other filters all are read through in one narrow index, rather than each being fetched in
    # the order of another one to be looked at.
    seq = table.seq + 0 if groups else table.seq
    where, down = [table.run == run, *filters], which.sort.startswith("-")
    if column is table.seq:
        if behind is not None:
            where.append(seq < behind[1] if down else seq > behind[1])
        query = select(table.seq).where(*where).order_by(seq.desc() if down else seq)
        return list(connection.execute(query.limit(limit)).scalars())
    value = column + 0 if filters else column
    found: list[int] = []
    if behind is None or behind[0] is not None:
        some = select(table.seq).where(*where, value.is_not(None))
        if behind is not None:
            pair, last = tuple_(value, seq), tuple_(*behind)
            some = some.where(pair < last if down else pair > last)
        some = some.order_by(value.desc(), seq.desc()) if down else some.order_by(value, seq)
        found.extend(connection.execute(some.limit(limit)).scalars())
    if len(found) < limit and column.nullable:
        rest = select(table.seq).where(*where, value.is_(None)).order_by(seq)
        if behind is not None and behind[0] is None:
            rest = rest.where(seq > behind[1])
        found.extend(connection.execute(rest.limit(limit - len(found))).scalars())
    return found


def narrowed(connection: Connection, run: int, which: RolloutFilter) -> tuple[list[Any], bool]:
    """What a filter asks of rows of the table; the groups themselves, and true, where it leaves only a few of them."""
    groups = tables.groups.c
    of_them = of_groups(groups, which)
    if of_them:
        query = select(groups.number).where(groups.run == run, *of_them).limit(_FEW_GROUPS + 1)
        numbers = list(connection.execute(query).scalars())
        if len(numbers) <= _FEW_GROUPS:
            rest = msgspec.structs.replace(which, phase=None, stage=None, steps=(None, None), task=None)
            # That every record has a length is said for what is not in the narrow index: it is not read through then.
            table = tables.rollouts.c
            return [table.group.in_(numbers), table.ledger_length > 0, *conditions(run, rest)], True
    return conditions(run, which), False


def of_groups(table: Any, which: RolloutFilter | GroupFilter) -> list[Any]:
    """What a filter asks of groups, or of the columns of attempts that say the same."""
    where: list[Any] = []
    if which.phase is not None:
        where.append(table.phase == run_queries.plain(which.phase))
    if which.stage is not None:
        where.append(table.stage == cursors.bound(which.stage))
    low, high = map(cursors.bound, which.steps)
    if low is not None:
        where.append(table.step >= low)
    if high is not None:
        where.append(table.step <= high)
    if which.task is not None:
        where.append(table.task == run_queries.plain(which.task))
    return where


def ordered(
    connection: Connection, run: int, which: RolloutFilter, some: list[int], behind: Place | None, limit: int
) -> list[int]:
    """Some attempts in the order that is asked for, from a place on."""
    table = tables.rollouts.c
    found: list[Place] = []
    for chunk in storing.chunks(some):
        query = select(_column(which), table.seq).where(table.run == run, table.seq.in_(chunk))
        found.extend((row[0], row[1]) for row in connection.execute(query))
    down = which.sort.startswith("-")

    def key(one: Place) -> tuple[bool, float, int]:
        value, seq = one
        if value is None:
            return True, 0.0, seq
        return False, -value if down else value, -seq if down else seq

    return [seq for value, seq in sorted(found, key=key) if behind is None or key((value, seq)) > key(behind)][:limit]


def _column(which: RolloutFilter) -> Any:
    return tables.rollouts.c[_COLUMNS[which.sort.lstrip("-")]]


def places(connection: Connection, run: int, found: list[int]) -> list[Any]:
    """Where the samples of attempts lie, in the order asked."""
    table = tables.rollouts.c
    rows: dict[int, Any] = {}
    for some in storing.chunks(found):
        query = select(table.seq, table.rollout_offset, table.rollout_length)
        query = query.where(table.run == run, table.seq.in_(some))
        rows.update((row.seq, row) for row in connection.execute(query))
    return [rows[seq] for seq in found if seq in rows]


def fetched(connection: Connection, run: int, seqs: list[int]) -> list[Mapping[Any, Any]]:
    """Rows of attempts, in the order asked; without those that there are not."""
    table = tables.rollouts.c
    found: dict[int, Mapping[Any, Any]] = {}
    for some in storing.chunks(seqs):
        query = select(tables.rollouts).where(table.run == run, table.seq.in_(some))
        found.update((row["seq"], row) for row in connection.execute(query).mappings())
    return [found[seq] for seq in seqs if seq in found]


def conditions(run: int, which: RolloutFilter) -> list[Any]:
    """What a filter asks of rows of the table, ``q`` left aside."""
    table, plain = tables.rollouts.c, run_queries.plain
    where = of_groups(table, msgspec.structs.replace(which, task=None))
    if which.task is not None:
        groups = tables.groups.c
        of_task = select(groups.number).where(groups.run == run, groups.task == plain(which.task))
        where.append(table.group.in_(of_task))
    for column, value in ((table.reason, which.reason), (table.finish, which.finish)):
        if value is not None:
            where.append(column == plain(value))
    if which.outcomes:
        where.append(table.outcome.in_([plain(one) for one in which.outcomes]))
    if which.flag == "none":
        where.append(table.flags == "")
    elif which.flag == "any":
        where.append(table.flags != "")
    elif which.flag is not None:
        where.append(table.flags.contains(f",{plain(which.flag)[:200]},", autoescape=True))
    least, most = which.rewards
    if least is not None:
        where.append(table.reward + 0 >= least)
    if most is not None:
        where.append(table.reward + 0 <= most)
    return where


def count(connection: Connection, run: int, which: RolloutFilter) -> int | None:
    """How many there are, where groups know it."""
    if which.q or (which.flag, which.rewards, which.reason, which.finish) != (None, (None, None), None, None):
        return None
    if not which.outcomes and not of_groups(tables.groups.c, which):
        return connection.execute(select(tables.runs.c.rollouts).where(tables.runs.c.number == run)).scalar()
    if not _AGGREGATED.issuperset(which.outcomes):
        return 0
    groups = tables.groups.c
    named = [groups[one] for one in dict.fromkeys(which.outcomes)] or [groups.n]
    total: Any = named[0]
    for one in named[1:]:
        total = total + one
    query = select(func.sum(total)).where(groups.run == run, *of_groups(groups, which))
    return int(connection.execute(query).scalar() or 0)


def nothing(number: int) -> bool:
    """Whether a number names nothing, whatever the tables hold."""
    return not 0 < number <= cursors.MOST


def known(connection: Connection, slug: str, seq: int) -> Mapping[Any, Any]:
    """The row of an attempt.

    Raises:
        NotFoundError: there is none.
    """
    run, table = run_queries.number(connection, slug), tables.rollouts.c
    found = None
    if not nothing(seq):
        query = select(tables.rollouts).where(table.run == run, table.seq == seq)
        found = connection.execute(query).mappings().one_or_none()
    if found is None:
        raise NotFoundError("rollout", str(seq))
    return found


def find(connection: Connection, slug: str, rollout: str) -> RolloutRow:
    """The attempt with this id."""
    name = run_queries.plain(rollout)[:1000]
    run = run_queries.number(connection, slug)
    seq = storing.find(connection, run, [name]).get(name)
    if seq is None:
        raise NotFoundError("rollout", rollout)
    return rollout_row(known(connection, slug, seq), slug)


def others(connection: Connection, slug: str, seq: int) -> tuple[OtherVerdict, ...]:
    """What rescorings said of an attempt, in their order."""
    row, table = known(connection, slug, seq), tables.rescored.c
    query = select(tables.rescored).where(table.run == row["run"], table.of == seq).order_by(table.seq)
    names = ("name", "seq", "outcome", "score", "reason", "verifier")
    return tuple(OtherVerdict(**{name: one[name] for name in names}) for one in connection.execute(query).mappings())


def rollout_row(row: Mapping[Any, Any], slug: str) -> RolloutRow:
    """A row of the table, as it is answered with."""
    flags = tuple(row["flags"][1:-1].split(",")) if row["flags"] else ()
    return RolloutRow(run=slug, **{name: row[name] for name in _NAMES}, flags=flags)
