"""How a platform's job stands: its status, how far it is, its curves, and what people should know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lydite.server.errors import NotFoundError
from lydite.server.jobs.status import JobRow, Status
from lydite.server.platform.manifests import Manifest, Manifests, Started
from lydite.server.rlvr.series import thinned
from lydite.server.service import Service
from lydite.training.job import status_metrics

SHOWN = (
    "rewards/TfcodeEnv/mean",
    "rewards/TfcodeEnv/std",
    "reward",
    "reward_std",
    "frac_reward_zero_std",
    "entropy",
    "completions/mean_length",
    "completions/clipped_ratio",
    "loss",
    "learning_rate",
    "pass_rate",
    "invalid_rate",
    "suspected_hack_rate",
)
"""Metrics that a status shows where none are named, as far as the run has them."""
POINTS = 1000
"""Steps of a curve, at most."""
WARNINGS = 20
EVENTS = 500
"""Latest events of a job that are looked through for warnings."""
CREATED, CANCELLED = "created", "cancelled"


def job_of(service: Service, manifest: Manifest) -> tuple[Started | None, JobRow | None]:
    """What became of a manifest: what was noted, and the service's job. A service that was killed between making the
    job and noting it finds it by its metadata."""
    noted = Manifests(service.home).started(manifest.id)
    if noted is not None:
        try:
            return noted, service.jobs.get(noted.job)
        except NotFoundError:
            return noted, None
    found = service.jobs.page(kinds=("platform",), metadata={"finetuning": manifest.id}, limit=1).items
    if not found:
        return None, None
    request = found[0].document.get("request") or {}
    started = Started(job=found[0].id, training=str(request.get("training_type")), config=request.get("config") or {})
    return started, found[0]


def brief(service: Service, manifest: Manifest) -> dict[str, Any]:
    """A job in one line of a list."""
    started, row = job_of(service, manifest)
    status = CREATED if started is None else "gone" if row is None else row.status.value
    if started is None and Manifests(service.home).cancelled(manifest.id):
        status = CANCELLED
    return {
        "id": manifest.id,
        "status": status,
        "workspaceid": manifest.workspace,
        "topics": manifest.topics,
        "model": manifest.model,
        "name": manifest.name,
        "training_type": None if started is None else started.training,
        "tasks": len(manifest.documents),
        "digest": manifest.digest,
        "created_at": int(manifest.created),
        "finished_at": None if row is None or row.finished is None else int(row.finished),
        "job": None if started is None else started.job,
        "run": None if row is None else row.run,
        "error": None if row is None else row.error,
    }


def full(service: Service, manifest: Manifest, keys: Sequence[str] = ()) -> dict[str, Any]:
    """Everything about a job.

    Args:
        service: of the job.
        manifest: of the job.
        keys: metrics, by the names that the answer has; none: ``SHOWN``.
    """
    started, row = job_of(service, manifest)
    answer = {**brief(service, manifest), "progress": None, "steps": [], "metrics": {}, "latest": {}, "warnings": []}
    if started is None or row is None:
        return answer
    answer["config"] = started.config
    answer["clamps"] = started.clamps
    answer["progress"] = _progress(service, row)
    answer["warnings"] = _warnings(service, row)
    answer["adapter"] = f"/finetuning/adapter/{manifest.id}" if row.status is Status.SUCCEEDED else None
    return {**answer, **_curves(service, row.run, keys)}


def _progress(service: Service, row: JobRow) -> dict[str, Any]:
    state = service.jobs.state(row.id)
    if row.status is Status.SUCCEEDED:
        return {"fraction": 1.0, "part": "done", "done": None, "total": None, "estimated_finish": None}
    return {
        "fraction": 0.0 if state is None else round(state.share, 4),
        "part": "waiting" if state is None else state.part,
        "done": None if state is None else state.done,
        "total": None if state is None else state.total,
        "estimated_finish": None if row.estimated is None else int(row.estimated),
    }


def _warnings(service: Service, row: JobRow) -> list[str]:
    """The latest warnings in words, each once, the newest first: what was clamped, and alarms of training."""
    events = service.jobs.events(row.id, limit=EVENTS).items
    return list(dict.fromkeys(event.message for event in events if event.level != "info"))[:WARNINGS]


def _curves(service: Service, run: str, keys: Sequence[str]) -> dict[str, Any]:
    wanted = dict.fromkeys(keys or SHOWN)
    own = [name.replace("rewards/TfcodeEnv/", "rewards/workspace/", 1) for name in wanted]
    try:
        series = thinned(service.index.series(run, own), POINTS)
    except NotFoundError:  # nothing of it was indexed yet
        return {}
    lines: list[dict[str, float]] = [
        status_metrics({name: value for name, column in series.columns.items() if (value := column[at]) is not None})
        for at in range(len(series.line))
    ]
    names = [name for name in wanted if any(name in line for line in lines)]
    return {
        "steps": series.step,
        "stages": series.stage,
        "metrics": {name: [line.get(name) for line in lines] for name in names},
        "latest": {name: lines[-1][name] for name in names if name in lines[-1]},
        "known_metrics": sorted(status_metrics(dict.fromkeys(series.known, 0.0))),
    }
