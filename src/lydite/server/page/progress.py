"""How far a run is, as far as that can be told."""

from __future__ import annotations

import msgspec

from lydite.server.index.rows import RunRow
from lydite.server.jobs.status import JobRow
from lydite.server.service import Service


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """``done`` of ``total`` rollouts or steps of a ``part`` of the run (0 where that is not counted); ``share`` of the
    whole."""

    part: str
    done: int
    total: int
    share: float


def of(service: Service, run: RunRow | None, job: JobRow | None) -> Progress | None:
    """What the job that makes a run reported last; without a job, steps of those that the recipe asks for. ``None``
    where it is over, or nothing is known."""
    if job is not None:
        state = None if job.status.over else service.jobs.state(job.id)
        if state is None:
            return None
        return Progress(part=state.part, done=state.done, total=state.total, share=max(0.0, min(1.0, state.share)))
    if run is None or run.state != "running" or not run.steps:
        return None
    total = planned(run)
    return Progress(part="steps", done=run.steps, total=total, share=min(1.0, run.steps / total)) if total else None


def planned(run: RunRow) -> int:
    """Steps that the stages of a run's recipe ask for; 0 where they do not say."""
    stages = run.settings.get("stages")
    if not isinstance(stages, list):
        return 0
    total = 0
    for stage in stages:
        if isinstance(stage, dict) and stage.get("kind") != "sample":
            total += next((stage[key] for key in ("optimizer_steps", "steps") if isinstance(stage.get(key), int)), 0)
    return total
