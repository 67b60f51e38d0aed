"""``/v1/rlvr/checkpoints/{model}/adapter`` and ``/v1/rlvr/jobs/{id}/adapter``: what was trained, to take away."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path
from fastapi.responses import Response

from lydite.server.deps import Given
from lydite.server.errors import NotFoundError, RefusedError
from lydite.server.jobs.adapter import ZIP, adapter_response
from lydite.server.rlvr.answers import NOWHERE

router = APIRouter(prefix="/v1/rlvr", tags=["models"])

_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A zip: weights, `adapter_config.json`, tokenizer, card.",
        "content": {ZIP: {"schema": {"type": "string", "format": "binary"}}},
        "headers": {
            "ETag": {"description": "The zip's SHA-256.", "schema": {"type": "string"}},
            "X-Checksum-Sha256": {"description": "The same in hex.", "schema": {"type": "string"}},
        },
    },
    304: {"description": "The one that you have (`If-None-Match`) is the same."},
    **NOWHERE,
}

Model = Annotated[str, Path(description="`run:SLUG` or `run:SLUG@STAGE-KIND/STEP`.", max_length=1000)]
Job = Annotated[str, Path(description="Id of a job.", max_length=100)]
Have = Annotated[
    str | None, Header(alias="If-None-Match", description="ETag of the one that you have.", max_length=1000)
]


@router.get("/checkpoints/{model:path}/adapter", summary="Download what was trained", responses=_ANSWERS)
def of_model(service: Given, model: Model, have: Have = None) -> Response:
    """The result of a run, or one of its checkpoints, as a zip. Its SHA-256 is in `ETag`, `X-Checksum-Sha256` and
    `Repr-Digest`."""
    if not model.startswith("run:"):
        raise RefusedError("only what was trained here can be downloaded (run:...)", param="model")
    return adapter_response(service.home, model.removeprefix("run:"), have)


@router.get("/jobs/{job}/adapter", summary="Download what a job trained", responses=_ANSWERS)
def of_job(service: Given, job: Job, have: Have = None) -> Response:
    """The job's result; while there is none, its newest checkpoint."""
    row = service.jobs.get(job)
    try:
        return adapter_response(service.home, row.run, have)
    except NotFoundError:
        newest = service.jobs.checkpoints(job, limit=1).items
    if not newest:
        raise RefusedError(f"the job {job} is {row.status.value} and has trained nothing yet", code="nothing_trained")
    return adapter_response(service.home, newest[0].model.removeprefix("run:"), have)
