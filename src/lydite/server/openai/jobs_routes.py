"""``/v1/fine_tuning/jobs``."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from lydite.server.deps import Given
from lydite.server.errors import NotFoundError, RefusedError
from lydite.server.openai.jobs_answers import KINDS, checkpoint_shape, event_shape, job_shape
from lydite.server.openai.jobs_asked import JobAsked
from lydite.server.openai.jobs_plan import as_written, plan_of
from lydite.server.paging import listing

router = APIRouter(prefix="/v1/fine_tuning/jobs", tags=["fine-tuning"])

Id = Annotated[str, Path(description="Id of a job.", max_length=100)]
After = Annotated[str | None, Query(max_length=100, description="Last id of the page before.")]
Limit = Annotated[int, Query(ge=1, le=1000)]
_KEY = re.compile(r"metadata\[(.{1,64})\]", re.DOTALL)


@router.post("", summary="Make a job")
def create(service: Given, asked: JobAsked) -> dict[str, Any]:
    """A training run on an uploaded file. It waits until there is room, and runs in a process of its own."""
    try:
        model = service.models.find(asked.model)
    except NotFoundError:
        raise RefusedError(
            f"there is no model {asked.model[:200]!r} here (GET /v1/models lists them)",
            param="model",
            code="model_not_found",
        ) from None
    plan = plan_of(asked, model, service.files)
    try:
        return job_shape(service.jobs.create(plan))
    except RefusedError as error:
        raise as_written(asked, error) from None


@router.get("", summary="List jobs")
def page(service: Given, request: Request, after: After = None, limit: Limit = 20) -> dict[str, Any]:
    """The newest first. `metadata[k]=v` (repeated: all of them) takes those whose metadata say so, `metadata=null`
    those that have none."""
    wanted = {key[1]: value for name, value in request.query_params.items() if (key := _KEY.fullmatch(name))}
    bare = request.query_params.get("metadata")
    if bare not in (None, "null"):
        raise RefusedError("write metadata[key]=value, or metadata=null", param="metadata")
    found = service.jobs.page(kinds=KINDS, metadata=wanted, bare=bare == "null", limit=limit, after=after)
    return listing([job_shape(row) for row in found.items], has_more=found.next is not None)


@router.get("/{job}", summary="Look a job up")
def retrieve(service: Given, job: Id) -> dict[str, Any]:
    return job_shape(service.jobs.get(job))


@router.post("/{job}/cancel", summary="Stop a job for good")
def cancel(service: Given, job: Id) -> dict[str, Any]:
    """Its run stays as far as it came. Mostly the answer says `cancelled`; a process that takes longer is killed after
    20 seconds."""
    return job_shape(service.jobs.cancel(job))


@router.post("/{job}/pause", summary="Stop a job for now")
def pause(service: Given, job: Id) -> dict[str, Any]:
    """The step under way ends and a checkpoint is written: `pausing`, then `paused`."""
    return job_shape(service.jobs.pause(job))


@router.post("/{job}/resume", summary="Go on with a job")
def resume(service: Given, job: Id) -> dict[str, Any]:
    """From its last checkpoint, where it is paused or failed."""
    return job_shape(service.jobs.resume(job))


@router.get("/{job}/events", summary="List a job's events")
def events(service: Given, job: Id, after: After = None, limit: Limit = 20) -> dict[str, Any]:
    """The newest first: messages, and the metrics of each step."""
    found = service.jobs.events(job, limit=limit, after=after)
    return listing([event_shape(event) for event in found.items], has_more=found.next is not None)


@router.get("/{job}/checkpoints", summary="List a job's checkpoints")
def checkpoints(service: Given, job: Id, after: After = None, limit: Limit = 10) -> dict[str, Any]:
    """The newest first. Each can be talked to: `fine_tuned_model_checkpoint` is a model."""
    found = service.jobs.checkpoints(job, limit=limit, after=after)
    data = [checkpoint_shape(checkpoint, job) for checkpoint in found.items]
    first, last = (data[0]["id"], data[-1]["id"]) if data else (None, None)
    return listing(data, has_more=found.next is not None, first_id=first, last_id=last)
