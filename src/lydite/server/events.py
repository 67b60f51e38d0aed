"""What happens, for those who watch: kept in the database with a number each, told to watchers at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Engine

KEPT = 100_000
"""Events that are kept; older ones are forgotten."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something happened.

    Attributes:
        seq: grows; what ``Last-Event-ID`` names.
        time: seconds since the epoch.
        topic: ``run:SLUG`` or ``job:ID``.
        kind: of a run ``run`` (its state), ``metrics`` (a step: line, stage, step, values), ``rollouts`` (how many
            there are now), ``flags``, ``review``; of a job ``status``, ``event``.
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

    def put(self, connection: Connection, topic: str, kind: str, data: dict[str, Any]) -> None:
        """Write an event in a transaction that is under way; any thread."""
        raise NotImplementedError

    def wake(self) -> None:
        """Tell watchers that there may be new events (after the commit); any thread."""
        raise NotImplementedError

    def past(self, topics: Sequence[str] = (), *, after: int = 0, limit: int = 1000) -> list[Event]:
        """Events behind a number, the oldest first; of all topics where none is named."""
        raise NotImplementedError

    def last(self) -> int:
        """The number of the newest event, 0 where there is none."""
        raise NotImplementedError

    def watch(self, topics: Sequence[str] = (), *, after: int | None = None) -> AsyncIterator[Event]:
        """Events from a number on (``None``: from now on), for ever. A watcher costs next to nothing while idle."""
        raise NotImplementedError
