"""What a run trained, as an answer: a zip with its digest."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

from fastapi.responses import Response, StreamingResponse

from lydite.server.home import Home
from lydite.server.jobs.bundle import Bundle
from lydite.server.models.catalogue import Catalogue, Found

ZIP = "application/zip"


def adapter_response(home: Home, run: str, have: str | None = None) -> Response:
    """The result of a run, or one of its checkpoints, as a zip.

    Args:
        home: where it is.
        run: its slug; ``SLUG@STAGE-KIND/STEP`` for a checkpoint.
        have: ``If-None-Match`` of the request: the answer is 304 where that is the same zip.

    Raises:
        NotFoundError: there is none.
    """
    found = Catalogue(home).find(f"run:{run}")
    bundle = Bundle(Path(found.place.adapter or found.place.base), _base(found), card="@" not in run)
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
    name = "".join(char if char.isascii() and (char.isalnum() or char in "-_.") else "_" for char in run)
    headers |= {"Content-Length": str(size), "Content-Disposition": f'attachment; filename="{name}.zip"'}
    return StreamingResponse(bundle.blocks(), media_type=ZIP, headers=headers)


def _base(found: Found) -> str:
    """The base as people know it; no path of this machine."""
    return found.base.rpartition("/")[2] if found.base.startswith("models/") else found.base
