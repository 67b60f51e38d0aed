"""Looking for words in what was asked and said, without an index of words: ``rollouts.jsonl`` itself is searched.

A search takes bounded time. Where it runs out before the page is full, the page is what was found, and its cursor goes
on behind the last attempt that was looked at.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from sqlalchemy import Connection, func, select

from lydite.codec import well_formed
from lydite.ledger.contents import ROLLOUTS
from lydite.server.database import tables
from lydite.server.index import cursors, reading, rollout_queries, storing
from lydite.server.index.rows import RolloutFilter, RolloutRow
from lydite.server.paging import Page

SECONDS = 0.1
"""How long a search goes on, about."""
CHUNK = 4 << 20
"""Bytes that are searched at a time."""
_FEW = 2000
"""Attempts that are rather looked at one by one than found by searching the whole file."""
_LOWER = 0x20


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


class _Needle:
    """What is looked for: in the bytes of a file, and in words."""

    def __init__(self, q: str) -> None:
        self.words = well_formed(q).encode().lower()
        self.escaped = msgspec.json.encode(well_formed(q))[1:-1].lower()
        self.folded = bytes(byte | _LOWER for byte in self.escaped)

    def within(self, line: bytes) -> bool:
        """Whether an attempt has it in its words, and not only in how they are written down."""
        return self.escaped in line.lower() and self.really(line)

    def really(self, line: bytes) -> bool:
        """As ``within``, for lines that have the bytes."""
        try:
            said = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        return any(self.words in text.encode("utf-8", "replace").lower() for text in _texts(said))


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
    limit, deadline = cursors.limited(limit), time.monotonic() + SECONDS
    needle = _Needle((which.q or "")[:1000])
    place = None if after is None else rollout_queries.place(connection, run["number"], which, after)
    with reading.opened_if_there(folder / ROLLOUTS) as (descriptor, _):
        if descriptor < 0:
            return Page(items=())
        found = _one_by_one if _few(connection, run, which) else _through
        seqs, examined = found(connection, run, which, descriptor, needle, place, limit, deadline)
    rows = rollout_queries.fetched(connection, run["number"], seqs[:limit])
    following = str(seqs[limit - 1]) if len(seqs) > limit else None if examined is None else str(examined)
    return Page(items=tuple(rollout_queries.rollout_row(row, slug) for row in rows), next=following)


def _few(connection: Connection, run: Mapping[Any, Any], which: RolloutFilter) -> bool:
    """Whether attempts are to be looked at one by one: they are few, or in another order than that of the file."""
    if which.sort.lstrip("-") != "seq" or run["rollouts"] <= _FEW:
        return True
    where = rollout_queries.conditions(run["number"], which)
    if not where:
        return False
    table = tables.rollouts.c
    query = select(table.seq).where(table.run == run["number"], *where).limit(_FEW + 1)
    return len(connection.execute(query).all()) <= _FEW


def _one_by_one(
    connection: Connection,
    run: Mapping[Any, Any],
    which: RolloutFilter,
    descriptor: int,
    needle: _Needle,
    place: tuple[Any, int] | None,
    limit: int,
    deadline: float,
) -> tuple[list[int], int | None]:
    seqs: list[int] = []
    path = Path(ROLLOUTS)
    while True:
        batch = rollout_queries.seqs(connection, run["number"], which, place, _FEW // 4)
        for row in rollout_queries.places(connection, run["number"], batch):
            if needle.within(reading.piece(descriptor, row.rollout_offset, row.rollout_length, path)):
                seqs.append(row.seq)
                if len(seqs) > limit:
                    return seqs, None
        if len(batch) < _FEW // 4:
            return seqs, None
        if time.monotonic() > deadline:
            return seqs, batch[-1]
        place = rollout_queries.place(connection, run["number"], which, str(batch[-1]))


def _through(
    connection: Connection,
    run: Mapping[Any, Any],
    which: RolloutFilter,
    descriptor: int,
    needle: _Needle,
    place: tuple[Any, int] | None,
    limit: int,
    deadline: float,
) -> tuple[list[int], int | None]:
    down, table, end = which.sort == "-seq", tables.rollouts.c, run["rollouts_offset"]
    start = 0
    if place is not None:
        query = select(table.rollout_offset, table.rollout_length).where(
            table.run == run["number"], table.seq == place[1]
        )
        offset, length = connection.execute(query).one()
        start, end = (0, offset) if down else (offset + length + 1, end)
    where = rollout_queries.conditions(run["number"], which)
    seqs: list[int] = []
    hits: list[int] = []
    reached = start
    for at in (_backward if down else _forward)(descriptor, start, end, needle, deadline):
        if at.hit:
            hits.append(at.offset)
        reached = at.offset
        if len(hits) > limit or (hits and not at.hit):
            seqs.extend(_seqs(connection, run["number"], where, hits, down))
            hits.clear()
            if len(seqs) > limit:
                return seqs, None
        if not at.hit and time.monotonic() > deadline:
            return seqs, _seq_at(connection, run["number"], reached, down)
    seqs.extend(_seqs(connection, run["number"], where, hits, down))
    return seqs, None


class _At(msgspec.Struct, frozen=True):
    """A place in the file: of a line that has what is looked for, or how far the search has come."""

    offset: int
    hit: bool


def _forward(descriptor: int, start: int, end: int, needle: _Needle, deadline: float) -> Iterator[_At]:
    size = CHUNK
    while start < end:
        chunk = _Chunk(descriptor, start, min(size, end - start))
        last = chunk.raw.rfind(b"\n", 0, chunk.size)
        if last < 0:
            if chunk.size < size:
                return
            size *= 2
            continue
        at = 0
        while (place := chunk.find(needle.folded, at, last)) >= 0:
            begin, stop = chunk.raw.rfind(b"\n", 0, place) + 1, chunk.raw.find(b"\n", place)
            if needle.really(bytes(chunk.raw[begin:stop])):
                yield _At(start + begin, True)
            at = stop + 1
            if time.monotonic() > deadline:
                yield _At(start + begin, False)
        start, size = start + last + 1, CHUNK
        if start < end:
            yield _At(start, False)


def _backward(descriptor: int, start: int, end: int, needle: _Needle, deadline: float) -> Iterator[_At]:
    size = CHUNK
    while start < end:
        low = max(start, end - size)
        chunk = _Chunk(descriptor, low, end - low)
        if chunk.size < end - low:
            return
        first = 0 if low == start else chunk.raw.find(b"\n", 0, chunk.size - 1) + 1
        if first == 0 and low > start:
            size *= 2
            continue
        stop = chunk.size
        while (place := chunk.rfind(needle.folded, first, stop)) >= 0:
            begin, finish = chunk.raw.rfind(b"\n", 0, place) + 1, chunk.raw.find(b"\n", place)
            if needle.really(bytes(chunk.raw[begin:finish])):
                yield _At(low + begin, True)
            stop = begin
            if time.monotonic() > deadline:
                yield _At(low + begin, False)
        end, size = low + first, CHUNK
        if start < end:
            yield _At(end, False)


class _Chunk:
    """Bytes of a file, and the same with capital letters made small (and other bytes changed: to be looked at again).

    Attributes:
        raw: as they are.
        size: how many there are.
    """

    def __init__(self, descriptor: int, offset: int, length: int) -> None:
        self.raw = bytearray(length)
        self.size = os.preadv(descriptor, [self.raw], offset)
        self._folded = bytearray(length)
        np.bitwise_or(np.frombuffer(self.raw, np.uint8), np.uint8(_LOWER), out=np.frombuffer(self._folded, np.uint8))
        self.find: Callable[[bytes, int, int], int] = self._folded.find
        self.rfind: Callable[[bytes, int, int], int] = self._folded.rfind


def _seqs(connection: Connection, run: int, where: list[Any], offsets: list[int], down: bool) -> list[int]:
    """The attempts whose samples begin there, those that a filter leaves."""
    table = tables.rollouts.c
    found: list[int] = []
    for some in storing.chunks(offsets):
        query = select(table.seq).where(table.run == run, table.rollout_offset.in_(some), *where)
        found.extend(connection.execute(query.order_by(table.seq.desc() if down else table.seq)).scalars())
    return found


def _seq_at(connection: Connection, run: int, offset: int, down: bool) -> int | None:
    """The last attempt that was looked at when the search had come to this place of the file."""
    table = tables.rollouts.c
    beyond = table.rollout_offset >= offset if down else table.rollout_offset < offset
    which = func.min(table.seq) if down else func.max(table.seq)
    return connection.execute(select(which).where(table.run == run, beyond)).scalar()
