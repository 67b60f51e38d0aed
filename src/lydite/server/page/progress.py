"""How far a run is, as far as that can be told."""

from __future__ import annotations

from typing import Any

import msgspec

from lydite.errors import LyditeError
from lydite.server.index.rows import RunRow
from lydite.server.jobs.status import JobRow
from lydite.server.service import Service


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """``done`` of ``total`` rollouts or steps of a ``part`` of the run; ``share`` of the whole where it is known."""

    part: str
    done: int
    total: int
    share: float


def of(service: Service, run: RunRow, job: JobRow | None) -> Progress | None:
    """What the job that makes a run reported last; without a job, steps of those that its recipe asks for. ``None``
    where the run is over, or nothing is known."""
    if job is not None and not job.status.over:
        try:
            return told(service.jobs.events(job.id, limit=5).items)
        except LyditeError:
            return None
    if run.state != "running":
        return None
    total = planned(run)
    if total and run.steps:
        return Progress(part="training", done=run.steps, total=total, share=min(1.0, run.steps / total))
    return None


def told(events: Any) -> Progress | None:
    """The newest report among a job's events."""
    for event in events:
        data = event.data
        part, done, total = data.get("part"), data.get("done"), data.get("total")
        if isinstance(part, str) and isinstance(done, int) and isinstance(total, int) and total > 0:
            share = data.get("share")
            known = float(share) if isinstance(share, int | float) else done / total
            return Progress(part=part, done=done, total=total, share=max(0.0, min(1.0, known)))
    return None


def planned(run: RunRow) -> int:
    """Steps that the stages of a run's recipe ask for; 0 where they do not say."""
    stages = run.settings.get("stages")
    if not isinstance(stages, list):
        return 0
    total = 0
    for stage in stages:
        if isinstance(stage, dict) and stage.get("kind") != "sample":
            steps = next((stage[key] for key in ("optimizer_steps", "steps") if isinstance(stage.get(key), int)), 0)
            total += steps
    return total
