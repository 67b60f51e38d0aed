"""``/finetuning``: jobs over the published tasks of a workspace, in the platform's shapes."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query
from fastapi.responses import Response

from lydite.server.answers import Json
from lydite.server.bodies import field, json_body, only, refusal
from lydite.server.deps import Given
from lydite.server.document_fields import check_topics, check_workspace
from lydite.server.errors import NotFoundError, RefusedError
from lydite.server.models.models import Model
from lydite.server.models.support import PENDING
from lydite.server.paging import listing
from lydite.server.platform.manifests import Manifests, Started, published, read_lines, starting
from lydite.server.platform.plans import TRAININGS, missing_tools, plan_of, read_start, told
from lydite.server.platform.statuses import brief, full, job_of
from lydite.server.rlvr.adapter_routes import Have, of_job
from lydite.server.rlvr.filters import After, Limit
from lydite.server.service import Service

router = APIRouter(prefix="/finetuning", tags=["finetuning"])

PATIENCE = 60.0
"""Seconds that a model is waited for that nobody has looked at before."""
_CREATE = json_body(
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["workspaceid", "model"],
        "properties": {
            "workspaceid": {"type": "string", "minLength": 1, "maxLength": 200},
            "topics": {"type": "array", "maxItems": 50, "items": {"type": "string"}},
            "model": {"type": "string", "description": "One of `GET /finetuning/models`."},
            "name": {"type": "string", "maxLength": 200},
        },
    },
    {"workspaceid": "w", "model": "builtin:tiny-tools", "name": "first"},
)
_START = json_body(
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["training_type"],
        "properties": {
            "training_type": {"enum": list(TRAININGS)},
            "rlvr": {"type": "boolean"},
            "config": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "rl": {"type": "object", "description": "The keys are in the documentation."},
                    "sft": {"type": "object"},
                    "dpo": {"type": "object"},
                    "batchSize": {"type": "integer", "minimum": 1},
                    "gradientAccumulationSteps": {"type": "integer", "minimum": 1},
                    "seed": {"type": "integer", "minimum": 0},
                },
            },
        },
    },
    {"training_type": "grpoTraining", "rlvr": True, "config": {"rl": {"enabled": True, "numGenerations": 8}}},
)

Id = Annotated[str, Path(max_length=64)]
Object = Annotated[Any, Body()]


@router.post("/create", summary="Make a job over the published tasks of a workspace", openapi_extra=_CREATE)
def create(service: Given, body: Object) -> Json:
    """Its tasks are kept as they are now: later changes of documents do not change the job."""
    only(body, ("workspaceid", "topics", "model", "name"))
    workspace = check_workspace(field(body, "workspaceid", str))
    topics = check_topics(field(body, "topics", list, []))
    name = field(body, "name", str, "")
    if len(name) > 200:
        raise refusal("name", "is longer than 200 characters")
    asked = field(body, "model", str)
    model = _model(service, asked)
    documents = published(service.documents, workspace, topics)
    if (why := missing_tools([service.documents.task(one.id) for one in documents], model)) is not None:
        raise refusal("model", why)
    manifest = Manifests(service.home).create(documents, workspace=workspace, topics=topics, model=asked, name=name)
    return Json(brief(service, manifest))


@router.post("/start/{id}", summary="Start a job", openapi_extra=_START)
def start(service: Given, id: Id, body: Object) -> Json:
    """It waits until there is room, and runs in a process of its own. Values out of range are moved to its nearest end,
    and told under ``clamps``."""
    manifests = Manifests(service.home)
    manifest = manifests.get(id)
    tasks = read_lines(manifests.tasks(manifest))
    model = _model(service, manifest.model)
    asked = read_start(body, tasks, model)
    plan = plan_of(manifest, asked, tasks, model, body)
    clamps = tuple(
        {"field": f"config.rl.{one.field}", "asked": one.asked, "used": one.used, "why": one.why, "message": told(one)}
        for one in asked.clamps
    )
    with starting:
        if job_of(service, manifest)[0] is not None:
            raise RefusedError(f"the job {id} was started already (make another)", param="id", code="invalid_state")
        if manifests.cancelled(id):
            raise RefusedError(f"the job {id} is cancelled (make another)", param="id", code="invalid_state")
        row = service.jobs.create(plan)
        config = {**asked.config, "seed": asked.seed}
        manifests.note_started(id, Started(job=row.id, training=asked.training, config=config, clamps=clamps))
    return Json({**brief(service, manifest), "config": config, "clamps": clamps, "notes": plan.notes})


@router.get("/models", summary="Models that can be trained")
def models(service: Given) -> Json:
    """``supportsRl``: whether episodes with tools can be trained on it, which a task with a workspace needs; ``why``
    says what is missing where not."""
    data = [
        {"id": one.id, "name": one.id, "base": one.base or None, "supportsRl": one.supports_rl, "why": one.why or None}
        for one in service.models.all()
    ]
    return Json(listing(data, has_more=False))


@router.get("/list", summary="List jobs")
def list_jobs(
    service: Given,
    workspaceid: Annotated[str | None, Query(max_length=200)] = None,
    limit: Limit = 50,
    after: After = None,
) -> Json:
    """The newest first."""
    found = [one for one in Manifests(service.home).all() if workspaceid in (None, one.workspace)]
    if after is not None:
        ids = [one.id for one in found]
        if after not in ids:
            raise refusal("after", "is no job of this list")
        found = found[ids.index(after) + 1 :]
    data = [brief(service, one) for one in found[:limit]]
    return Json(listing(data, has_more=len(found) > limit))


@router.get("/status/{id}", summary="How a job stands")
def status(
    service: Given,
    id: Id,
    key: Annotated[list[str] | None, Query(description="Metrics to show; repeat it. None: the usual ones.")] = None,
) -> Json:
    """Status, progress, the last error, warnings in words, and metrics, of which ``metrics[name][i]`` belongs to
    ``steps[i]``."""
    return Json(full(service, Manifests(service.home).get(id), key or ()))


@router.get("/adapter/{id}", summary="Download what was trained", response_class=Response)
def adapter(service: Given, id: Id, have: Have = None) -> Response:
    """A zip of the LoRA adapter: ``adapter_config.json``, ``adapter_model.safetensors``, tokenizer, README.md; while
    the job runs, of its newest checkpoint."""
    _, row = job_of(service, Manifests(service.home).get(id))
    if row is None:
        raise RefusedError(f"the job {id} was not started", param="id", code="invalid_state")
    return of_job(service, row.id, have)


@router.post("/cancel/{id}", summary="Stop a job for good")
def cancel(service: Given, id: Id) -> Json:
    """What it has done stays."""
    manifests = Manifests(service.home)
    manifest = manifests.get(id)
    with starting:
        started, _ = job_of(service, manifest)
        if started is None:
            manifests.cancel(id)
    if started is not None:
        service.jobs.cancel(started.job)
    return Json(brief(service, manifest))


def _model(service: Service, name: str) -> Model:
    """A model, waited for where nobody has looked at it before.

    Raises:
        RefusedError: there is none.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            model = service.models.find(name)
        except NotFoundError:
            raise RefusedError(
                f"model: there is no model {name[:200]!r} here (GET /finetuning/models lists them)",
                param="model",
                code="model_not_found",
            ) from None
        if model.why != PENDING or time.monotonic() > until:
            return model
        time.sleep(0.2)
