"""A run as one HTML file; the same that ``lydite report RUN --html FILE`` writes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse, Response

from lydite.evaluation.single_page import GROUPS, policy, single_page
from lydite.ledger import RunFolder
from lydite.server.deps import Given
from lydite.server.page.render import page_router
from lydite.server.rlvr.audits import reading
from lydite.server.rlvr.filters import Run

router = page_router()


@router.get("/runs/{run}/export.html")
def export(
    service: Given,
    run: Run,
    groups: Annotated[int, Query(ge=0, le=2000, description="Groups beside those with a flag.")] = GROUPS,
    verdicts: Annotated[str, Query(max_length=64)] = "old",
) -> Response:
    """All of a run that one can look at, in one file that needs nothing else."""
    folder = RunFolder.open(service.home.run_folder(run), verdicts=verdicts)
    headers = {
        "Content-Security-Policy": f"{policy()}; frame-ancestors 'none'; sandbox",
        "Content-Disposition": f'inline; filename="{run}.html"',
    }
    with reading():
        text = single_page(folder, groups=groups)
    return HTMLResponse(text.encode(), headers=headers)
