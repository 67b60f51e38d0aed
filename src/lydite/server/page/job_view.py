"""What people do about the job that makes a run: pause, resume, cancel it, read what it printed."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import RedirectResponse, Response

from lydite.server.deps import Given
from lydite.server.errors import NotFoundError
from lydite.server.page import links
from lydite.server.page.render import page_router, show
from lydite.server.service import Service

router = page_router()


@router.post("/runs/{run}/job/{act}")
def act(service: Given, run: str, act: str) -> Response:
    """Pause, resume or cancel; then the run again."""
    job = _job(service, run)
    acts = {"pause": service.jobs.pause, "resume": service.jobs.resume, "cancel": service.jobs.cancel}
    if act not in acts:
        raise NotFoundError("act", act)
    acts[act](job)
    try:
        target = links.run(service.index.run(run).id)
    except NotFoundError:  # it has none yet
        target = "/"
    return RedirectResponse(target, 303)


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
