"""What happens, for those who watch: kept in the database with a number each, told to watchers at once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Engine, delete, func, insert, select, text

from lydite.server.database.tables import events

KEPT = 100_000
"""Events that are kept; older ones are forgotten."""
_PRUNE_EVERY = 1000
_TAIL = 1000
"""The newest events that the watchers of a loop share."""
_ORDER = 0x6C79657674  # of PostgreSQL: events become visible in the order of their numbers

log = logging.getLogger(__name__)


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something happened.

    Attributes:
        seq: grows; what ``Last-Event-ID`` names.
        time: seconds since the epoch.
        topic: ``run:SLUG`` or ``job:ID``.
        kind: of a run ``run`` (its state and counters; ``state`` is ``deleted`` where it is gone), ``metrics`` (a step:
            line, stage, step, values), ``rollouts`` (how many there are now: rollouts, correct, flagged, invalid),
            ``flags`` (flagged, suspected, new), ``review`` (seq, detector, version, decision, note); of a job
            ``status``, ``event``.
        data: plain JSON.
    """

    seq: int
    time: float
    topic: str
    kind: str
    data: dict[str, Any]


class Bus:
    """Writes events and tells watchers. One per process."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._tails: dict[asyncio.AbstractEventLoop, _Tail] = {}
        self._mutex = threading.Lock()

    def put(self, connection: Connection, topic: str, kind: str, data: dict[str, Any]) -> None:
        """Write an event in a transaction that is under way; any thread."""
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_ORDER})"))
        row = {"time": time.time(), "topic": topic, "kind": kind, "data": data}
        key = connection.execute(insert(events).values(row)).inserted_primary_key
        seq = 0 if key is None else int(key[0])
        if seq % _PRUNE_EVERY == 0:
            connection.execute(delete(events).where(events.c.seq <= seq - KEPT))

    def wake(self) -> None:
        """Tell watchers that there may be new events (after the commit); any thread."""
        with self._mutex:
            tails = list(self._tails.items())
        for loop, tail in tails:
            with contextlib.suppress(RuntimeError):  # that loop has ended
                loop.call_soon_threadsafe(tail.poke)

    def past(self, topics: Sequence[str] = (), *, after: int = 0, limit: int = 1000) -> list[Event]:
        """Events behind a number, the oldest first; of all topics where none is named."""
        after = min(max(after, 0), 2**31 - 1)
        query = select(events).where(events.c.seq > after).order_by(events.c.seq).limit(limit)
        if topics:
            query = query.where(events.c.topic.in_(list(topics)))
        with self.engine.connect() as connection:
            return [Event(**row) for row in connection.execute(query).mappings()]

    def last(self) -> int:
        """The number of the newest event, 0 where there is none."""
        with self.engine.connect() as connection:
            return int(connection.execute(select(func.max(events.c.seq))).scalar() or 0)

    def watch(self, topics: Sequence[str] = (), *, after: int | None = None) -> AsyncIterator[Event]:
        """Events from a number on (``None``: from this call on), for ever. A watcher costs next to nothing while idle.

        To be called in a running event loop.
        """
        last = self.last()
        return self._watch(tuple(topics), last if after is None else min(max(after, 0), last))

    async def _watch(self, topics: tuple[str, ...], at: int) -> AsyncIterator[Event]:
        tail = self._join()
        try:
            await tail.begin()
            wanted = frozenset(topics)
            while True:
                changed = tail.changed
                if at < tail.first:  # older than what is shared
                    known = tail.last
                    found = await asyncio.to_thread(self.past, topics, after=at, limit=_TAIL)
                    at = found[-1].seq if len(found) == _TAIL else max(at, known, found[-1].seq if found else 0)
                else:
                    found = [one for one in tail.events if one.seq > at and (not wanted or one.topic in wanted)]
                    at = max(at, tail.last)
                for one in found:
                    yield one
                if at >= tail.last:
                    await changed.wait()
        finally:
            self._leave(tail)

    def _join(self) -> _Tail:
        loop = asyncio.get_running_loop()
        with self._mutex:
            tail = self._tails.get(loop)
            if tail is None:
                tail = self._tails[loop] = _Tail(self, loop)
            tail.watchers += 1
            return tail

    def _leave(self, tail: _Tail) -> None:
        with self._mutex:
            tail.watchers -= 1
            if not tail.watchers and self._tails.get(tail.loop) is tail:
                del self._tails[tail.loop]


class _Tail:
    """What the watchers of one event loop share: the newest events, read once for all of them.

    Attributes:
        first: events behind this number are all in ``events`` ...
        last: ... up to this one.
        changed: set and replaced when ``last`` grows.
    """

    def __init__(self, bus: Bus, loop: asyncio.AbstractEventLoop) -> None:
        self.bus, self.loop = bus, loop
        self.watchers = 0
        self.events: deque[Event] = deque()
        self.first = self.last = 0
        self.changed = asyncio.Event()
        self._begun = False
        self._stale = False
        self._lock = asyncio.Lock()
        self._reader: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Find out where the newest event is, once."""
        async with self._lock:
            if not self._begun:
                self.first = self.last = await asyncio.to_thread(self.bus.last)
                self._begun = True
        self.poke()  # what was written in between

    def poke(self) -> None:
        """Read on; in the loop's own thread."""
        self._stale = True
        if self._begun and (self._reader is None or self._reader.done()):
            self._reader = self.loop.create_task(self._read())

    async def _read(self) -> None:
        while self._stale and self.watchers:
            self._stale = False
            try:
                found = await asyncio.to_thread(self.bus.past, after=self.last, limit=_TAIL)
            except Exception:
                log.exception("events cannot be read")
                self._stale = True
                await asyncio.sleep(1)
                continue
            if not found:
                continue
            self._stale = self._stale or len(found) == _TAIL
            self.events.extend(found)
            while len(self.events) > _TAIL:
                self.first = self.events.popleft().seq
            self.last = found[-1].seq
            changed, self.changed = self.changed, asyncio.Event()
            changed.set()
