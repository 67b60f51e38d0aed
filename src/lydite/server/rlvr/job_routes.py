"""``/v1/rlvr/jobs``: how far a job is, what it printed, its metrics, and what happens to it as it happens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import PlainTextResponse, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent

from lydite.server.deps import Given
from lydite.server.errors import NotFoundError
from lydite.server.index.rows import Series
from lydite.server.jobs.status import JobRow, Status
from lydite.server.rlvr.answers import NOWHERE, Listing, answer, tells
from lydite.server.rlvr.events_routes import Start, start_of, watch
from lydite.server.service import Service

router = APIRouter(prefix="/v1/rlvr/jobs", tags=["fine-tuning"])

STALE = 60.0
"""Seconds without a heartbeat after which a job that runs is called stale. It is not killed for that."""
GREATEST = 2**53
_WORKING = (Status.VALIDATING, Status.RUNNING, Status.PAUSING)

Id = Annotated[str, Path(description="Id of a job.", max_length=100)]
Line = Annotated[int | None, Query(ge=0, le=GREATEST)]


class JobAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A job: where it stands, what was asked, and how far its process is.

    Attributes:
        part, done, total: of the run: ``before``, ``0 grpo``, ``after`` ...
        share: of the whole that is done, 0 to 1.
        session: how often its process was begun.
        stale: it runs, and has not said anything for a minute.
        notes: what was changed about what was asked, and why.
        recipe: what is carried out.
        result: files, tokens, and the reason of a failure.
    """

    object: str = "rlvr.job"
    id: str
    kind: str
    status: Status
    model: str
    name: str
    run: str
    created: float
    finished: float | None
    heartbeat: float | None
    estimated: float | None
    error: str | None
    stale: bool = False
    part: str = ""
    done: int = 0
    total: int = 0
    share: float = 0.0
    session: int = 0
    metadata: dict[str, Any] = {}
    notes: tuple[Any, ...] = ()
    recipe: dict[str, Any] = {}
    result: dict[str, Any] = {}


@router.get("", summary="List jobs of every kind", responses=tells(Listing[JobAnswer]))
def page(
    service: Given,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    after: Annotated[str | None, Query(max_length=100, description="Last id of the page before.")] = None,
) -> Response:
    """The newest first; those over task documents of a workspace among them."""
    found = service.jobs.page(limit=limit, after=after)
    data = tuple(_told(service, row) for row in found.items)
    return answer(Listing(data=data, has_more=found.next is not None, next=found.next))


@router.get("/{job}", summary="How far a job is", responses=tells(JobAnswer))
def retrieve(service: Given, job: Id) -> Response:
    """Where it stands, its recipe, and how far its process is."""
    return answer(_told(service, service.jobs.get(job)))


@router.get("/{job}/log", summary="What a job printed", response_class=PlainTextResponse, responses=NOWHERE)
def log(
    service: Given, job: Id, lines: Annotated[int, Query(ge=1, le=2000, description="The last ones.")] = 100
) -> PlainTextResponse:
    """The last lines. Places of this machine are called HOME, PYTHON, LYDITE."""
    text = service.jobs.log(job, lines=lines)
    return PlainTextResponse(text + "\n" if text else "", headers={"X-Content-Type-Options": "nosniff"})


@router.get("/{job}/metrics", summary="A job's metrics by step", responses=tells(Series))
def metrics(
    service: Given,
    job: Id,
    keys: Annotated[
        tuple[str, ...], Query(max_length=200, description="Names of metrics, repeated or apart by commas. None: all.")
    ] = (),
    start: Annotated[Line, Query(alias="from", description="First line, from 1.")] = None,
    end: Annotated[Line, Query(alias="to", description="Last line.")] = None,
) -> Response:
    """Columns of one length, `null` where a step does not have a metric."""
    row = service.jobs.get(job)
    names = [name for key in keys for name in key.split(",") if name]
    try:
        return answer(service.index.series(row.run, names or None, start=start, end=end))
    except NotFoundError:  # its run has not begun
        return answer(Series(line=(), stage=(), step=(), columns=dict.fromkeys(names, ()), known=()))


async def _known(service: Given, job: Id) -> str:
    return (await asyncio.to_thread(service.jobs.get, job)).id


@router.get("/{job}/stream", response_class=EventSourceResponse, summary="Watch a job", responses=NOWHERE)
async def stream(
    service: Given, start: Annotated[Start, Depends(start_of)], known: Annotated[str, Depends(_known)]
) -> AsyncIterator[ServerSentEvent]:
    """`status` where its status changed, `event` for each message and each step. As `/v1/rlvr/events?topic=job:ID`."""
    async for event in watch(service, start, (f"job:{known}",)):
        yield event


def _told(service: Service, row: JobRow) -> JobAnswer:
    state = service.jobs.state(row.id)
    document = row.document
    told = JobAnswer(
        id=row.id,
        kind=row.kind,
        status=row.status,
        model=document.get("model_asked") or row.model,
        name=row.name,
        run=row.run,
        created=row.created,
        finished=row.finished,
        heartbeat=row.heartbeat,
        estimated=row.estimated,
        error=row.error,
        metadata=document.get("metadata") or {},
        notes=tuple(document.get("notes") or ()),
        recipe=document.get("recipe") or {},
        result=document.get("result") or {},
    )
    if state is None:
        return told
    return msgspec.structs.replace(
        told,
        stale=row.status in _WORKING and time.time() - state.time > STALE,
        part=state.part,
        done=state.done,
        total=state.total,
        share=state.share,
        session=state.session,
    )
