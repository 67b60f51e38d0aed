"""``/v1/files``."""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, File, Form, Path, Query, UploadFile
from fastapi.responses import FileResponse

from lydite.server.deps import Given
from lydite.server.errors import RefusedError
from lydite.server.files import StoredFile
from lydite.server.paging import listing

router = APIRouter(prefix="/v1/files", tags=["files"])

PURPOSES = {
    "fine-tune-results": "results of jobs are made by jobs",
    "batch": "there are no batch jobs here: ask /v1/chat/completions, with as many requests at once as you like",
    "assistants": "there are no assistants here",
    "vision": "models here read text",
    "user_data": "models here read the text of the request alone",
    "evals": "there are no evals here: make a reinforcement job, or use `lydite eval`",
}
"""Purposes of OpenAI's that are refused, and why."""

Id = Annotated[str, Path(description="Id of a file.", max_length=100)]


@router.post("", summary="Upload a file")
def create(
    service: Given,
    file: Annotated[UploadFile, File(description="JSONL that a job is made of.")],
    purpose: Annotated[str, Form(description="fine-tune", max_length=100)],
    anchor: Annotated[str | None, Form(alias="expires_after[anchor]")] = None,
    seconds: Annotated[str | None, Form(alias="expires_after[seconds]")] = None,
) -> dict[str, Any]:
    """Kept as it comes; a job that is made of it looks at its lines."""
    if purpose != "fine-tune":
        why = PURPOSES.get(purpose, f"unknown purpose {purpose[:40]!r}")
        raise RefusedError(f"{why} (give the purpose fine-tune)", param="purpose")
    if anchor is not None or seconds is not None:
        raise RefusedError("files do not expire here (leave it out, and delete the file)", param="expires_after")
    first = file.file.read(1)
    if not first:
        raise RefusedError("the file is empty", param="file", code="empty_file")
    file.file.seek(0, os.SEEK_SET)
    return shape(service.files.add(file.file, file.filename or "", purpose, limit=service.settings.upload_limit))


@router.get("", summary="List files")
def page(
    service: Given,
    purpose: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 10_000,
    after: Annotated[str | None, Query(max_length=100, description="Last id of the page before.")] = None,
    order: Literal["asc", "desc"] = "desc",
) -> dict[str, Any]:
    found = service.files.page(purpose=purpose, limit=limit, after=after, ascending=order == "asc")
    data = [shape(file) for file in found.items]
    first, last = (data[0]["id"], data[-1]["id"]) if data else (None, None)
    return listing(data, has_more=found.next is not None, first_id=first, last_id=last)


@router.get("/{file}", summary="Look a file up")
def retrieve(service: Given, file: Id) -> dict[str, Any]:
    return shape(service.files.get(file))


@router.delete("/{file}", summary="Delete a file")
def delete(service: Given, file: Id) -> dict[str, Any]:
    """Refused while a job that was made of it is not over."""
    service.files.delete(file)
    return {"id": file, "object": "file", "deleted": True}


@router.get(
    "/{file}/content",
    summary="Download a file",
    response_class=FileResponse,
    responses={200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}},
)
def content(service: Given, file: Id) -> FileResponse:
    """Always as an attachment, whatever it holds."""
    stored = service.files.get(file)
    headers = {"Content-Disposition": attachment(stored.filename), "X-Content-Type-Options": "nosniff"}
    return FileResponse(service.files.path(file), media_type="application/octet-stream", headers=headers)


def attachment(filename: str) -> str:
    """A ``Content-Disposition`` that a browser saves (RFC 6266): the name in ASCII, and as it is."""
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in filename)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe='')}"


def shape(file: StoredFile) -> dict[str, Any]:
    """A file as OpenAI's clients read it."""
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.bytes,
        "created_at": int(file.created),
        "filename": file.filename,
        "purpose": file.purpose,
        "status": "processed",
        "status_details": None,
        "expires_at": None,
    }
