"""The view of runs: all of them, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from lydite.server.deps import Given
from lydite.server.errors import NotFoundError
from lydite.server.index.rows import RunRow
from lydite.server.jobs.status import JobRow, Status
from lydite.server.page import assets, standing
from lydite.server.page.filled import Filled
from lydite.server.page.render import page_router, show
from lydite.server.service import Service

router = APIRouter(include_in_schema=False)
router.include_router(assets.router)
views = page_router()

STATES = ("running", "complete", "interrupted", "queued", "paused", "failed", "cancelled", "unreadable")
"""Those that a line may show: of a job, where one makes the run; else of the run."""
KINDS = ("train", "sample", "eval")
LIMIT = 50
LATEST = 20
"""Jobs among which those without a run are shown that are paused or failed; all that wait are."""

Word = Annotated[str, Query(max_length=500)]


@views.get("/")
def runs(
    request: Request,
    service: Given,
    _: Filled,
    q: Word = "",
    kind: Annotated[str, Query(max_length=40)] = "",
    state: Annotated[str, Query(max_length=20)] = "",
    after: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """Every run in a line."""
    page = service.index.runs(kind=kind or None, standing=state or None, q=q.strip() or None, limit=LIMIT, after=after)
    queue = service.jobs.queue()
    rows = [line(service, run, queue) for run in page.items]
    kinds = tuple(dict.fromkeys((*KINDS, *(run.kind for run in page.items if run.kind))))
    chosen = {"q": q, "kind": kind, "state": state}
    return show(
        request,
        "runs.html",
        page=page,
        rows=rows,
        kinds=kinds,
        states=STATES,
        chosen=chosen,
        unnamed=service.home.unnamed()[:5],
        waiting=[] if q or kind or state or after else waiting(service),
        nav="runs",
    )


@views.get("/runs")
def runs_elsewhere(request: Request) -> Response:
    """The same, where people look for it."""
    query = request.url.query
    return RedirectResponse("/" + (f"?{query}" if query else ""), 307)


@views.get("/runs/{run}/row")
def row(request: Request, service: Given, run: str) -> Response:
    """One line, to take the place of an older one."""
    return show(request, "_run_row.html", row=line(service, service.index.run(run)), fresh=True)


@views.get("/waiting")
def waiting_again(request: Request, service: Given) -> Response:
    """Jobs without a run, to take the place of older ones."""
    return show(request, "_waiting.html", waiting=waiting(service))


def line(service: Service, run: RunRow, queue: Sequence[str] | None = None) -> dict[str, Any]:
    """What a line shows of a run: the run, the job that makes it, and how they stand."""
    job: JobRow | None = service.jobs.get(run.job) if run.job else None
    return {"run": run, "job": job, "standing": standing.of(service, run, job, queue)}


def waiting(service: Service) -> list[dict[str, Any]]:
    """Jobs without a run, so far or for ever: queued, being checked, refused."""
    found, queue = [], service.jobs.queue()
    latest = {job.id: job for job in (*service.jobs.active(), *service.jobs.page(limit=LATEST).items)}
    for job in sorted(latest.values(), key=lambda job: job.created, reverse=True):
        if job.status in (Status.SUCCEEDED, Status.CANCELLED):
            continue
        try:
            service.index.run(job.run)
        except NotFoundError:
            found.append({"job": job, "standing": standing.of(service, None, job, queue)})
    return found


router.include_router(views)
