"""Static files: read once, named by a digest of them all, so that browsers may keep them for ever.

``/static/DIGEST/NAME``: modules import each other by relative names and so stay within one version. What a request
names is looked up in a table, never in the file system.
"""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from pathlib import Path

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from lydite.server.errors import NotFoundError

STATIC = Path(__file__).parent / "static"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
FOREVER = "public, max-age=31536000, immutable"

router = APIRouter(include_in_schema=False)


class Asset(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it is sent."""

    data: bytes
    packed: bytes
    type: str


@cache
def files() -> dict[str, Asset]:
    """All of them, by name."""
    found = {}
    for path in sorted(STATIC.rglob("*")):
        if path.suffix in TYPES and path.is_file():
            data = path.read_bytes()
            packed = gzip.compress(data, 9, mtime=0)
            found[path.relative_to(STATIC).as_posix()] = Asset(data=data, packed=packed, type=TYPES[path.suffix])
    return found


@cache
def digest() -> str:
    """Names this version of the files."""
    state = hashlib.sha256()
    for name, asset in files().items():
        state.update(f"{name}\0{len(asset.data)}\0".encode() + asset.data)
    return state.hexdigest()[:12]


def url(name: str) -> str:
    """Where a static file is asked for.

    Raises:
        KeyError: there is none of this name; a template is wrong.
    """
    if name not in files():
        raise KeyError(name)
    return f"/static/{digest()}/{name}"


@router.get("/static/{version}/{name:path}")
def static(request: Request, version: str, name: str) -> Response:
    """A static file; one of an older version is answered with what there is now, not to be kept."""
    asset = files().get(name)
    if asset is None:
        raise NotFoundError("file", name)
    headers = {
        "Cache-Control": FOREVER if version == digest() else "no-cache",
        "X-Content-Type-Options": "nosniff",
        "Vary": "Accept-Encoding",
    }
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        return Response(asset.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=asset.type)
    return Response(asset.data, headers=headers, media_type=asset.type)


@router.get("/favicon.ico")
def favicon(request: Request) -> Response:
    """What browsers ask for unasked."""
    return static(request, digest(), "lydite.svg")
