"""What every answer has in common: JSON that never fails to be written, and errors in one shape.

A model's words hold lone surrogates and metrics hold NaN; neither may turn an answer into a 500.
"""

from __future__ import annotations

import html
import json
import math
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from lydite.server.errors import ApiError, body

SESSIONS = ("/seed_session", "/close_session", "/aggregate_metrics", "/reverify_mode")
API = ("/v1", "/doc", "/finetuning", "/verify", "/get_reward", *SESSIONS, "/openapi.json", "/healthz")
"""Beginnings of paths that programs ask for; everything else belongs to the page."""


class Json(JSONResponse):
    """An answer in JSON. NaN and infinities are ``null``; lone surrogates are escaped."""

    def render(self, content: Any) -> bytes:
        return encoded(content)


def encoded(content: Any) -> bytes:
    """A value as JSON, whatever texts and numbers are in it."""
    try:
        return msgspec.json.encode(content)
    except (UnicodeEncodeError, TypeError, OverflowError, msgspec.MsgspecError):
        return json.dumps(_finite(content), separators=(",", ":"), default=str).encode()


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_finite(item) for item in value]
    return msgspec.to_builtins(value) if isinstance(value, msgspec.Struct) else value


def for_api(path: str) -> bool:
    """Whether a path is one of the API's."""
    return any(path == start or path.startswith(start + "/") for start in API)


def for_page(scope: Scope) -> bool:
    """Whether somebody looks at the answer: a browser that asks for a view."""
    return not for_api(scope["path"]) and b"text/html" in dict(scope["headers"]).get(b"accept", b"")


def failure(scope: Scope, error: ApiError, headers: dict[str, str] | None = None) -> Response:
    """An error as an answer: a small page for browsers, else OpenAI's shape."""
    more = dict(headers or {})
    if error.status == 401:
        more.setdefault("WWW-Authenticate", "Bearer")
    if error.status == 503:
        more.setdefault("Retry-After", "1")
    if for_page(scope):
        response = _page(scope, error)
        response.headers.update(more)
        return response
    return Json(body(error), error.status, more)


def _page(scope: Scope, error: ApiError) -> Response:
    try:
        from lydite.server.page.render import problem

        return problem(Request(scope), error)
    except Exception:  # an error about an error: say it plainly
        text = html.escape(error.message.encode("utf-8", "replace").decode())
        return HTMLResponse(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{error.status}</title>'
            f'<h1>{error.status}</h1><p>{text}</p><p><a href="/">All runs</a></p></html>',
            error.status,
        )
