"""Looking for words in what was asked and said, without an index of words: ``rollouts.jsonl`` itself is searched.

A search takes bounded time. Where it runs out before the page is full, the page is what was found, and its cursor goes
on behind the last attempt that was looked at.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select

from lydite.codec import well_formed
from lydite.ledger.contents import ROLLOUTS
from lydite.server.database import tables
from lydite.server.index import cursors, reading, rollout_queries, storing
from lydite.server.index.rows import RolloutFilter, RolloutRow
from lydite.server.index.scanning import Needle, scan
from lydite.server.paging import Page

SECONDS = 0.1
"""How long a search goes on, about."""
_LONGEST = 1000
"""Characters of what can be looked for."""
_BATCH = 500
_FEW = 4 * _BATCH
"""Attempts that are rather looked at one by one than found by searching the whole file."""
_MANY_HITS = 5000


class _Call(msgspec.Struct):
    name: str = ""
    arguments: dict[str, Any] = {}


class _Message(msgspec.Struct):
    content: str = ""
    tool_calls: list[_Call] = []


class _Words(msgspec.Struct):
    """What is looked at in an attempt."""

    id: str
    task: str
    prompt: list[_Message] = []
    completion: list[_Message] = []


_decode = msgspec.json.Decoder(_Words).decode


class _Search:
    """One search in one run.

    Args:
        connection: to the index.
        descriptor: of ``rollouts.jsonl``.
        run: the row of the run in the table ``runs``.
        which: what is asked for.
        limit: of the page.
    """

    def __init__(
        self, connection: Connection, descriptor: int, run: Mapping[Any, Any], which: RolloutFilter, limit: int
    ) -> None:
        self.connection, self.descriptor, self.which, self.limit = connection, descriptor, which, limit
        self.run, self.attempts, self.size = run["number"], run["rollouts"], run["rollouts_offset"]
        self.deadline = time.monotonic() + SECONDS
        q = well_formed((which.q or "")[:_LONGEST])
        self.words, self.escaped = q.encode().lower(), msgspec.json.encode(q)[1:-1].lower()
        self.needle = Needle(self.escaped)
        self.conditions, _ = rollout_queries.narrowed(connection, self.run, which)

    def within(self, line: bytes) -> bool:
        """Whether an attempt has it in its words, and not only in how they are written down."""
        try:
            said = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        return any(self.words in text.encode("utf-8", "replace").lower() for text in _texts(said))

    def page(self, place: rollout_queries.Place | None) -> tuple[list[int], int | None]:
        """Lines of the ledger of what was found, one more than the page has where there are more; and the last attempt
        that was looked at, where the time was over."""
        if self.which.sort.lstrip("-") == "seq":
            return self._one_by_one(place, None) if self._few() else self._through(place)
        seqs, examined = self._one_by_one(place, None if self.attempts <= _FEW else 2)
        if examined is None:
            return seqs, None
        # Not many have it. All that do are found, then put in order, if the time is enough for that.
        hits = self._all()
        if hits is None:
            place = rollout_queries.place(self.connection, self.run, self.which, str(examined))
            more, examined = self._one_by_one(place, None)
            return [*seqs, *more][: self.limit + 1], examined
        return rollout_queries.ordered(self.connection, self.run, self.which, hits, place, self.limit + 1), None

    def _few(self) -> bool:
        if self.attempts <= _FEW:
            return True
        if not self.conditions:
            return False
        table = tables.rollouts.c
        query = select(table.seq).where(table.run == self.run, *self.conditions).limit(_FEW + 1)
        return len(self.connection.execute(query).all()) <= _FEW

    def _one_by_one(self, place: rollout_queries.Place | None, batches: int | None) -> tuple[list[int], int | None]:
        """Look at attempts in the order that is asked for."""
        seqs: list[int] = []
        path, done = Path(ROLLOUTS), 0
        while True:
            batch = rollout_queries.seqs(self.connection, self.run, self.which, place, _BATCH)
            for row in rollout_queries.places(self.connection, self.run, batch):
                line = reading.piece(self.descriptor, row.rollout_offset, row.rollout_length, path)
                if self.escaped in line.lower() and self.within(line):
                    seqs.append(row.seq)
                    if len(seqs) > self.limit:
                        return seqs, None
            done += 1
            if len(batch) < _BATCH:
                return seqs, None
            if done == batches or time.monotonic() > self.deadline:
                return seqs, batch[-1]
            place = rollout_queries.place(self.connection, self.run, self.which, str(batch[-1]))

    def _through(self, place: rollout_queries.Place | None) -> tuple[list[int], int | None]:
        """Search the file, in its order or from its end."""
        down, start, end = self.which.sort == "-seq", 0, self.size
        if place is not None:
            (row,) = rollout_queries.places(self.connection, self.run, [place[1]])
            start, end = (0, row.rollout_offset) if down else (row.rollout_offset + row.rollout_length + 1, end)
        seqs: list[int] = []
        hits: list[int] = []
        for at in scan(self.descriptor, start, end, self.needle, self.within, down=down, deadline=self.deadline):
            if at.hit:
                hits.append(at.offset)
            over = not at.hit and time.monotonic() > self.deadline
            if over or len(hits) > self.limit:
                seqs.extend(self._seqs(hits, down))
                hits.clear()
            if len(seqs) > self.limit:
                return seqs[: self.limit + 1], None
            if over:
                return seqs, self._last_before(at.offset, down)
        seqs.extend(self._seqs(hits, down))
        return seqs, None

    def _all(self) -> list[int] | None:
        """Everything that has it; ``None`` where that is too much, or takes too long."""
        hits: list[int] = []
        for at in scan(self.descriptor, 0, self.size, self.needle, self.within, deadline=self.deadline):
            if at.hit:
                hits.append(at.offset)
            if len(hits) > _MANY_HITS or (not at.hit and time.monotonic() > self.deadline):
                return None
        return self._seqs(hits, down=False)

    def _seqs(self, offsets: list[int], down: bool) -> list[int]:
        """The attempts whose samples begin there, those that the filter leaves."""
        table = tables.rollouts.c
        found: list[int] = []
        for some in storing.chunks(offsets):
            query = select(table.seq).where(table.run == self.run, table.rollout_offset.in_(some), *self.conditions)
            found.extend(self.connection.execute(query).scalars())
        return sorted(found, reverse=down)

    def _last_before(self, offset: int, down: bool) -> int | None:
        """The last attempt that was looked at when the search had come to this place of the file."""
        table = tables.rollouts.c
        beyond = table.rollout_offset >= offset if down else table.rollout_offset < offset
        which = func.min(table.seq) if down else func.max(table.seq)
        return self.connection.execute(select(which).where(table.run == self.run, beyond)).scalar()


def rollouts(
    connection: Connection,
    folder: Path,
    slug: str,
    run: Mapping[Any, Any],
    which: RolloutFilter,
    *,
    limit: int,
    after: str | None,
) -> Page[RolloutRow]:
    """Attempts that have ``which.q`` in their id, their task, their prompt or their completion.

    Args:
        connection: to the index.
        folder: of the run.
        slug, run: the run, and its row in the table ``runs``.
        which, limit, after: as of ``rollout_queries.rollouts``.
    """
    limit = cursors.limited(limit)
    place = None if after is None else rollout_queries.place(connection, run["number"], which, after)
    with reading.opened_if_there(folder / ROLLOUTS) as (descriptor, _):
        if descriptor < 0:
            return Page(items=())
        seqs, examined = _Search(connection, descriptor, run, which, limit).page(place)
    rows = rollout_queries.fetched(connection, run["number"], seqs[:limit])
    following = str(seqs[limit - 1]) if len(seqs) > limit else None if examined is None else str(examined)
    return Page(items=tuple(rollout_queries.rollout_row(row, slug) for row in rows), next=following)


def _texts(said: _Words) -> Iterator[str]:
    yield said.id
    yield said.task
    for message in (*said.prompt, *said.completion):
        yield message.content
        for call in message.tool_calls:
            yield call.name
            yield from _inside(call.arguments)


def _inside(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting.extend((*one, *one.values()))
        elif isinstance(one, list):
            waiting.extend(one)
