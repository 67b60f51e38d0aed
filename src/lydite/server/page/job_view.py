"""What people do about the job that makes a run: pause, resume, cancel it, read what it printed."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import RedirectResponse, Response

from lydite.server.deps import Given
from lydite.server.errors import NotFoundError, RefusedError
from lydite.server.jobs.status import JobRow
from lydite.server.page import links
from lydite.server.page.render import page_router, show
from lydite.server.page.standing import DONE, Act, of
from lydite.server.service import Service

router = page_router()


@router.post("/runs/{run}/job/{act}")
def act(service: Given, run: str, act: str) -> Response:
    """Pause, resume or cancel; then the run again, with a sentence where its state does not allow it."""
    job = _job(service, run)
    acts = {"pause": service.jobs.pause, "resume": service.jobs.resume, "cancel": service.jobs.cancel}
    if act not in acts:
        raise NotFoundError("act", act)
    try:
        acts[act](job)
    except RefusedError:
        return RedirectResponse(links.run(run, refused=act), 303)
    return RedirectResponse(links.run(run), 303)


def without_run(
    request: Request, service: Service, run: str, refused: Act | None = None, *, template: str = "job.html"
) -> Response:
    """The page of a job that has no run, at the address where that will be; or a part of it.

    Raises:
        NotFoundError: there is no such job either.
    """
    job = service.jobs.of_run(run)
    if job is None:
        raise NotFoundError("run", run)
    stands = of(service, None, job)
    return show(request, template, run=run, job=job, standing=stands, problem=refusal(job, refused), nav="runs")


def refusal(job: JobRow | None, act: Act | None) -> str:
    """Why something was not done about a job that was asked for; empty where nothing was."""
    if job is None or act is None:
        return ""
    return f"The job is {job.status.value.replace('_', ' ')} and cannot be {DONE[act]}."


@router.get("/runs/{run}/log")
def log(request: Request, service: Given, run: str, lines: Annotated[int, Query(ge=1, le=5000)] = 200) -> Response:
    """The last lines of what the job printed."""
    job = service.jobs.get(_job(service, run))
    text = service.jobs.log(job.id, lines=lines)
    return show(request, "log.html", run=run, job=job, text=text, lines=lines, nav="runs")


def _job(service: Service, run: str) -> str:
    job = service.jobs.of_run(run)
    if job is None:
        raise NotFoundError("job", run)
    return job.id
