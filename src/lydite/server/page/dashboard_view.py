"""The view of one run: where it stands, what it measured, how its training goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from lydite.server.deps import Given
from lydite.server.errors import NotFoundError
from lydite.server.index.rows import RunRow
from lydite.server.page import charts, job_view
from lydite.server.page import standing as standings
from lydite.server.page.measured import Part, StageLines, measured
from lydite.server.page.render import page_router, show
from lydite.server.service import Service

router = APIRouter(include_in_schema=False)
views = page_router()

POINTS = 1000
"""Of one curve, at most about so many are drawn."""
SMALL = 120
"""Points of the curves that are shown without script."""
WARNINGS = 8
TASKS = 6
"""Hardest ones that are shown, and easiest ones where there are more."""


@views.get("/runs/{run}")
def dashboard(
    request: Request,
    service: Given,
    run: str,
    stage: Annotated[int | None, Query(ge=0, le=2**53)] = None,
    refused: standings.Act | None = None,
) -> Response:
    """A run at a glance; of a job that has none yet, where that stands."""
    try:
        row = service.index.run(run)
    except NotFoundError:
        return job_view.without_run(request, service, run, refused)
    stands = standing(service, row)
    return show(
        request,
        "dashboard.html",
        run=row,
        nav="runs",
        facts=facts(row),
        warnings=warnings(row),
        problem=job_view.refusal(stands["job"], refused),
        **stands,
        **numbers(service, row),
        **curves(service, row, stage),
    )


@views.get("/runs/{run}/curves")
def curves_again(
    request: Request, service: Given, run: str, stage: Annotated[int | None, Query(ge=0, le=2**53)] = None
) -> Response:
    """The curves of a stage, to take the place of those of another, or of none."""
    row = service.index.run(run)
    return show(request, "_curves.html", run=row, parts=measured(service).parts(row), **curves(service, row, stage))


@views.get("/runs/{run}/standing")
def standing_again(request: Request, service: Given, run: str) -> Response:
    """Its state and what may be done about it, to take the place of an older one."""
    try:
        row = service.index.run(run)
    except NotFoundError:
        return job_view.without_run(request, service, run, template="_standing.html")
    return show(request, "_standing.html", run=row.id, **standing(service, row))


@views.get("/runs/{run}/numbers")
def numbers_again(request: Request, service: Given, run: str) -> Response:
    """What is counted, to take the place of older numbers."""
    row = service.index.run(run)
    return show(request, "_numbers.html", run=row, warnings=warnings(row), **numbers(service, row))


def curves(service: Service, run: RunRow, number: int | None) -> dict[str, Any]:
    """The stages that have metrics, and the charts of one of them."""
    stages = measured(service).stages(run)
    stage = next((one for one in stages if one.stage == number), None) or _first_shown(run, stages)
    return {
        "stages": stages,
        "stage": stage,
        "figures": figures(service, run, stage) if stage else (),
        "points": POINTS,
    }


def _first_shown(run: RunRow, stages: tuple[StageLines, ...]) -> StageLines | None:
    """The stage whose curves are shown unasked: the one at work; of a run that is over the last that learned from
    rewards."""
    if not stages:
        return None
    learned = [one for one in stages if one.kind == "grpo"]
    return learned[-1] if learned and run.state != "running" else stages[-1]


def standing(service: Service, run: RunRow) -> dict[str, Any]:
    """The job that makes a run, how far it is."""
    job = service.jobs.get(run.job) if run.job else None
    return {"job": job, "standing": standings.of(service, run, job)}


def numbers(service: Service, run: RunRow) -> dict[str, Any]:
    """Parts of a run with their rates; before against after; what was seen where there are no metrics."""
    counts = measured(service)
    parts = counts.parts(run)
    phases = [part for part in parts if part.phase is not None]
    rates = {part.name: counts.rate(run, part.name) for part in phases}
    before, after = _ends(phases)
    found: dict[str, Any] = {
        "parts": parts,
        "rates": rates,
        "before": before,
        "after": after,
        "difference": counts.difference(run, before.name, after.name) if before and after else None,
        "signals": {},
        "reasons": (),
        "hardest": (),
        "easiest": (),
        "pass_at": [],
    }
    if not run.steps and run.rollouts:
        found |= {
            "signals": counts.signals(run),
            "reasons": counts.reasons(run),
            "hardest": counts.tasks(run, hardest=True, limit=TASKS),
            "easiest": counts.tasks(run, hardest=False, limit=TASKS) if run.tasks > TASKS else (),
            "pass_at": [(part, _pass_at(service, run, part)) for part in phases],
        }
    return found


def _ends(phases: list[Part]) -> tuple[Part | None, Part | None]:
    """The phases that measured the policy first and last."""
    named = {part.name: part for part in phases}
    before = named.get("before")
    after = named.get("after") or next((part for part in reversed(phases) if part.name.startswith("after-")), None)
    return before, after


def _pass_at(service: Service, run: RunRow, part: Part) -> list[tuple[int, Any]]:
    """pass@k for k of 1, 2, 4 ... and all attempts that every task has."""
    counts = measured(service)
    most = counts.attempts_per_task(run, part.name)
    ks = sorted({1, *(k for k in (2, 4, 8, 16, 32) if k < most), most} - {0})
    return [(k, counts.rate(run, part.name, k)) for k in ks]


def warnings(run: RunRow) -> list[Mapping[str, Any]]:
    """What training warned of (``training.alarms``), the latest first."""
    told = run.notes.get("warnings")
    kept = [one for one in told if isinstance(one, Mapping) and one.get("message")] if isinstance(told, list) else []
    return kept[::-1][:WARNINGS]


def facts(run: RunRow) -> list[tuple[str, str]]:
    """What a run depends on, in a few words."""
    settings = run.settings
    found: list[tuple[str, str]] = []
    for name in ("model", "n", "temperature", "max_tokens", "seed", "control"):
        value = settings.get(name)
        if isinstance(value, str | int | float) and value not in ("", "none"):
            found.append((name.replace("_", " "), str(value)))
    reward = settings.get("reward")
    if isinstance(reward, Mapping):
        found.append(("reward", str(reward.get("preset", ""))))
    elif isinstance(reward, str):
        found.append(("reward", reward.partition("+")[0]))
    stages = settings.get("stages")
    if isinstance(stages, list):
        kinds = [str(stage.get("loss_type") or stage.get("kind")) for stage in stages if isinstance(stage, Mapping)]
        found.append(("stages", ", ".join(f"{at} {kind}" for at, kind in enumerate(kinds))))
    seconds = run.notes.get("seconds")
    if isinstance(seconds, int | float):
        found.append(("took", f"{seconds:,.0f} s"))
    return found


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A chart, with what is shown of it before a script draws it."""

    chart: charts.Chart
    small: list[float]
    last: float
    drawing: str


def figures(service: Service, run: RunRow, stage: StageLines) -> list[Figure]:
    """The charts of a stage."""
    lines = measured(service).few(run, stage, SMALL)
    found = []
    for chart in charts.present(lines):
        small = charts.column(lines, chart.lines[0].key)
        drawing = {"lines": chart.lines, "share": chart.share, "zero": chart.zero, "title": chart.title}
        found.append(Figure(chart=chart, small=small, last=small[-1], drawing=msgspec.json.encode(drawing).decode()))
    return found


router.include_router(views)
router.include_router(job_view.router)
