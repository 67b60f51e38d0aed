"""``/v1/rlvr/checkpoints/{model}/adapter`` and ``/v1/rlvr/jobs/{id}/adapter``: what was trained, to take away."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path as File
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path
from fastapi.responses import Response, StreamingResponse

from lydite.server.deps import Given
from lydite.server.errors import NotFoundError, RefusedError
from lydite.server.models.catalogue import Catalogue, Found
from lydite.server.rlvr.answers import NOWHERE
from lydite.server.rlvr.bundle import Bundle

router = APIRouter(prefix="/v1/rlvr", tags=["models"])

ZIP = "application/zip"
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
    return _sent(Catalogue(service.home).find(model), have)


@router.get("/jobs/{job}/adapter", summary="Download what a job trained", responses=_ANSWERS)
def of_job(service: Given, job: Job, have: Have = None) -> Response:
    """The job's result; while there is none, its newest checkpoint."""
    row = service.jobs.get(job)
    catalogue = Catalogue(service.home)
    try:
        return _sent(catalogue.find(f"run:{row.run}"), have)
    except NotFoundError:
        newest = service.jobs.checkpoints(job, limit=1).items
    if not newest:
        raise RefusedError(f"the job {job} is {row.status.value} and has trained nothing yet", code="nothing_trained")
    return _sent(catalogue.find(newest[0].model), have)


def _sent(found: Found, have: str | None) -> Response:
    result = "@" not in found.id
    bundle = Bundle(File(found.place.adapter or found.place.base), _base(found), card=result)
    size, digest = bundle.sum()
    tag = f'"{digest.hex()}"'
    headers = {
        "ETag": tag,
        "X-Checksum-Sha256": digest.hex(),
        "Repr-Digest": f"sha-256=:{b64encode(digest).decode()}:",
        "Cache-Control": "private, no-cache",
    }
    if have is not None and any(one.strip().removeprefix("W/") in (tag, "*") for one in have.split(",")):
        return Response(status_code=304, headers=headers)
    name = "".join(char if char.isalnum() or char in "-_." else "_" for char in found.id.removeprefix("run:"))
    headers |= {"Content-Length": str(size), "Content-Disposition": f'attachment; filename="{name}.zip"'}
    return StreamingResponse(bundle.blocks(), media_type=ZIP, headers=headers)


def _base(found: Found) -> str:
    """The base as people know it; no path of this machine."""
    return found.base.rpartition("/")[2] if found.base.startswith("models/") else found.base
