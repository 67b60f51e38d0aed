"""The view of two runs beside each other."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from fastapi import Query, Request
from fastapi.responses import Response

from lydite.errors import InputError
from lydite.server.deps import Given
from lydite.server.errors import ApiError
from lydite.server.index.rows import RunRow
from lydite.server.page import charts
from lydite.server.page.compared import COMPARING, Compared, TaskChange, reason
from lydite.server.page.measured import StageLines, measured
from lydite.server.page.render import page_router, show
from lydite.server.service import Service

router = page_router()

LIMIT = 100
"""Tasks of a page."""
RUNS = 100
"""Runs that the chooser offers."""
FEW = 60
"""Steps at which it is looked which curves a run has."""

Name = Annotated[str | None, Query(max_length=900)]
Show = Literal["", "fixed", "broken", "same", "unjudged"]


class Overlay(msgspec.Struct, frozen=True, kw_only=True):
    """A stage of each side whose curves are laid over each other."""

    a: StageLines
    b: StageLines
    charts: tuple[charts.Chart, ...]


@router.get("/compare")
def compare(
    request: Request,
    service: Given,
    a: Name = None,
    b: Name = None,
    show_: Annotated[Show, Query(alias="show")] = "",
    q: Annotated[str, Query(max_length=500)] = "",
    after: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> Response:
    """What B does better than A, and worse; without both: a chooser."""
    found: Compared | None = None
    problem, status = "", 200
    if a and b:
        try:
            found = COMPARING.compare(service, a, b)
        except ApiError as error:
            problem, status = error.message, error.status
        except InputError as error:
            problem = reason(error)
    rows = [one for one in found.tasks if _wanted(one, show_, q)] if found else []
    return show(
        request,
        "compare.html",
        status=status,
        a=found.a.name if found else a,
        b=found.b.name if found else b,
        found=found,
        problem=problem,
        options=_options(service, (a, b)),
        rows=rows[after : after + LIMIT],
        total=len(rows),
        after=after,
        next=after + LIMIT if after + LIMIT < len(rows) else None,
        show=show_,
        q=q,
        overlay=_overlay(service, found.a.run, found.b.run) if found else None,
        suggestions=[] if b else _suggestions(service, a) if a else _trained(service),
        nav="compare",
    )


def _wanted(one: TaskChange, which: Show, q: str) -> bool:
    if which and (one.change or "unjudged") != which:
        return False
    return not q or q.lower() in one.task.lower() or q.lower() in one.prompt.lower()


def _options(service: Service, chosen: tuple[str | None, ...]) -> list[tuple[str, str]]:
    """Value and label of what may be compared: parts that measure of the latest runs, and what is chosen."""
    found: list[tuple[str, str]] = []
    for run in service.index.runs(limit=RUNS).items:
        found += [(f"{run.id}:{part}", _label(run.id, part)) for part in _parts(service, run)]
    for name in chosen:
        if name and name not in {value for value, _ in found}:
            found.insert(0, (name, name))
    return found


def _parts(service: Service, run: RunRow) -> list[str]:
    if not run.rollouts:
        return []
    parts = measured(service).parts(run)
    phases = [part.phase for part in parts if part.phase is not None]
    return phases or [f"train-{part.stage}" for part in parts]


def _label(run: str, part: str) -> str:
    return f"{run.replace('~', ' / ')} · {part}"


def _suggestions(service: Service, a: str) -> list[tuple[str, str, str]]:
    """A, B and a label: what goes with the side that is chosen."""
    try:
        side = COMPARING.side(service, a)
    except ApiError:
        return []
    phases = [part for part in side.parts if not part.startswith("train-")]
    found = []
    if len(phases) > 1:
        found.append((f"{side.run.id}:{phases[0]}", f"{side.run.id}:{phases[-1]}", f"{phases[0]} → {phases[-1]}"))
    for run in service.index.runs(limit=RUNS).items:
        if run.id == side.run.id or run.tasks == 0 or len(found) >= 6:
            continue
        if run.kind == side.run.kind:
            last = _parts(service, run)[-1:]
            found += [
                (f"{side.run.id}:{side.part}", f"{run.id}:{part}", f"with {_label(run.id, part)}") for part in last
            ]
    return found


def _trained(service: Service) -> list[tuple[str, str, str]]:
    """The latest runs that measured a policy more than once: before against after."""
    found: list[tuple[str, str, str]] = []
    for run in service.index.runs(limit=RUNS).items:
        parts = _parts(service, run)
        if len(parts) > 1 and len(found) < 6:
            label = f"{run.id.replace('~', ' / ')}: {parts[0]} → {parts[-1]}"
            found.append((f"{run.id}:{parts[0]}", f"{run.id}:{parts[-1]}", label))
    return found


def _overlay(service: Service, a: RunRow, b: RunRow) -> Overlay | None:
    """The curves that both runs have: of their last stage with a reward, else of their last."""
    if not (a.steps and b.steps) or a.id == b.id:
        return None
    sides = []
    for run in (a, b):
        stages = measured(service).stages(run)
        if not stages:
            return None
        known = {}
        for stage in stages:
            known[stage.stage] = charts.present(measured(service).few(run, stage, FEW))
        rewarded = [one for one in stages if any(chart.id == "reward" for chart in known[one.stage])]
        chosen = (rewarded or list(stages))[-1]
        sides.append((chosen, {chart.id: chart for chart in known[chosen.stage]}))
    (left, ours), (right, theirs) = sides
    both = tuple(chart for name, chart in ours.items() if name in theirs)
    return Overlay(a=left, b=right, charts=both) if both else None
