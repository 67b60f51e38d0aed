"""``/v1/models``."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from lydite.server.deps import Given
from lydite.server.errors import RefusedError
from lydite.server.models.models import Model
from lydite.server.paging import listing

router = APIRouter(prefix="/v1/models", tags=["models"])

Id = Annotated[str, Path(description="Id of a model; it may have slashes and colons in it.", max_length=1000)]


@router.get("", summary="List models")
def page(service: Given) -> dict[str, Any]:
    """Built-in ones, folders below ``models/``, what runs trained, and their checkpoints."""
    return listing([shape(model) for model in service.models.all()], has_more=False)


@router.get("/{model:path}", summary="Look a model up")
def retrieve(service: Given, model: Id) -> dict[str, Any]:
    return shape(service.models.find(model))


@router.delete("/{model:path}", summary="Refused: models are not deleted here")
def delete(service: Given, model: Id) -> dict[str, Any]:
    """What a run trained is part of its record."""
    found = service.models.find(model)
    if found.id.startswith("run:"):
        why = "what a run trained belongs to its record (remove the run's folder by hand, if you must)"
    else:
        why = "it is no fine-tuned model of this service"
    raise RefusedError(f"{found.id} cannot be deleted: {why}", param="model", code="cannot_delete")


def shape(model: Model) -> dict[str, Any]:
    """A model as OpenAI's clients read it, with vLLM's ``root`` and ``parent``."""
    return {
        "id": model.id,
        "object": "model",
        "created": model.created,
        "owned_by": "lydite" if model.id.startswith(("builtin:", "run:")) else "user",
        "root": model.base or model.id,
        "parent": model.base or None,
        "supports_rl": model.supports_rl,
        "why": model.why or None,
    }
