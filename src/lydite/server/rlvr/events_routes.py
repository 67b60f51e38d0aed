"""``/v1/rlvr/events``: what happens, as server-sent events.

Every event has a number. A client that was cut off says which one it saw last (``Last-Event-ID``, as browsers do by
themselves, or ``?after=``) and gets all that came behind it, once. The first thing that a client is sent is the number
at which it begins, so that one which is cut off before anything happened loses nothing either.

Covered: an event is sent once, in order, or the client is told (``lost``) that some were forgotten.
Not covered: a client that stops reading but keeps its connection; its events wait in the database.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from lydite.server.deps import Given, service_of
from lydite.server.errors import RefusedError

router = APIRouter(prefix="/v1/rlvr/events", tags=["events"])

TOPIC = r"^(run|job):[^\s\x00]{1,650}$"
RETRY_MS = 1000
"""How soon a browser comes back."""
_NUMBER = r"^[0-9]{1,18}$"

Topics = Annotated[
    tuple[Annotated[str, Query(pattern=TOPIC)], ...],
    Query(alias="topic", max_length=50, description="`run:SLUG` or `job:ID`; repeat it. None: everything."),
]


class Start(msgspec.Struct, frozen=True):
    """Where a client begins: ``after`` that number; ``lost`` where events behind the number that it named are gone."""

    after: int
    lost: bool = False


async def start_of(
    request: Request,
    after: Annotated[
        str | None, Query(pattern=_NUMBER, description="The number of the last event seen; `0`: all that are kept.")
    ] = None,
    last_event_id: Annotated[
        str | None,
        Header(alias="Last-Event-ID", max_length=40, description="As `after`; browsers send it when they come back."),
    ] = None,
) -> Start:
    """Where the client begins. The header is of a later moment than the address, so it goes first."""
    bus = service_of(request).bus
    last = await asyncio.to_thread(bus.last)
    named = last_event_id or after
    if named is None:
        return Start(last)
    if not (named.isascii() and named.isdigit() and len(named) <= 18):
        raise RefusedError("is no number of an event", param="Last-Event-ID")
    number = int(named)
    if number > last:  # of another database: the index was made again
        return Start(last, lost=True)
    if number and number < last:
        oldest = await asyncio.to_thread(bus.past, (), after=0, limit=1)
        return Start(number, lost=not oldest or oldest[0].seq > number + 1)
    return Start(number)


@router.get("", response_class=EventSourceResponse, summary="Watch runs and jobs")
async def watch(
    service: Given, start: Annotated[Start, Depends(start_of)], topics: Topics = ()
) -> AsyncIterator[ServerSentEvent]:
    """Events as they happen, for as long as the client listens. `event` is the kind, `id` the number, `data` a JSON
    object of `seq`, `time`, `topic`, `kind` and `data`. `lost` says that events between are no longer kept: read
    everything again."""
    yield ServerSentEvent(id=str(start.after), retry=RETRY_MS)
    if start.lost:
        yield ServerSentEvent(event="lost", id=str(start.after), raw_data="{}")
    async for event in service.bus.watch(topics, after=start.after):
        yield ServerSentEvent(event=event.kind, id=str(event.seq), raw_data=msgspec.json.encode(event).decode())
