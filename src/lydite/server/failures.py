"""What goes wrong in a route, as an answer; and what nobody foresaw, as a 500 with an id that the log knows."""

from __future__ import annotations

import errno
import logging
import secrets
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lydite.errors import InputError, LyditeError, MissingExtraError
from lydite.server.answers import failure
from lydite.server.errors import ApiError, RefusedError, refused
from lydite.training.wording import below, keys_of, meant, model_in, said

log = logging.getLogger("lydite.server")

TOLD = {
    404: "there is nothing at this address",
    405: "this address does not take this method",
    413: "the body is too long",
    415: "the body is not of a type that this address takes",
}


def told(error: Exception) -> ApiError | None:
    """An error that says what the client should know; ``None`` for one that nobody foresaw."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, InputError):
        return refused(error)
    if isinstance(error, RequestValidationError):
        return invalid(error)
    if isinstance(error, HTTPException):
        text = TOLD.get(error.status_code) if error.detail in _PHRASES else error.detail
        return ApiError(error.status_code, str(text or error.detail), code=_CODES.get(error.status_code))
    if _is_full(error):
        log.error("%s: %s", type(error).__name__, error)
        return ApiError(503, "there is no room left on the service's disk", code="unavailable")
    if isinstance(error, MissingExtraError):
        return ApiError(503, str(error), code="missing_extra")
    if isinstance(error, LyditeError):
        # Texts of storage errors and the like name folders of this machine: they go to the log.
        log.error("%s: %s", type(error).__name__, error)
        return ApiError(
            503, f"the service cannot do this now ({type(error).__name__}); its log says why", code="unavailable"
        )
    return None


def _is_full(error: Exception) -> bool:
    """Whether a disk is full, or may not be written: of the system's words or the database's."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
    return isinstance(error, OperationalError) and "disk is full" in str(error.orig)


_PHRASES = frozenset({"Not Found", "Method Not Allowed", "Request Entity Too Large", "Unsupported Media Type"})
_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "unsupported_media_type"}


def invalid(error: RequestValidationError, model: Any = None) -> RefusedError:
    """What a body, a query or a path has that it must not have, the field named as the sender wrote it.

    Args:
        error: of validation.
        model: of the body, whose fields may have been meant.
    """
    found: Any = error.errors() or [{"loc": (), "msg": "unusable", "type": "", "input": None}]
    # A misspelt field is also a missing one: the first says more.
    first = next((one for one in found if one["type"] == "extra_forbidden"), found[0])
    if first["type"] == "json_invalid":
        why = first.get("ctx", {}).get("error", "")
        return RefusedError(f"the body is no JSON: {why} at character {first['loc'][-1]}", code="invalid_json")
    inside = first["loc"][:1] == ("body",)
    # Beside a JSON body, and in a form, there are names alone: the values are texts.
    document: Any = (
        error.body
        if inside and isinstance(error.body, dict | list)
        else {name: None for one in found for name in one["loc"][1:2]}
    )
    same = [{**one, "loc": one["loc"][1:]} for one in (first, *found) if one["loc"][:1] == first["loc"][:1]]
    place, message = said(same, document)
    if first["type"] == "extra_forbidden":
        remedy = meant(str(place[-1]), keys_of(below(model_in(model), place[:-1])))
        message = f"unknown field ({remedy or 'leave it out'})"
    where = ".".join(map(str, place))[:200].encode("utf-8", "backslashreplace").decode()
    return RefusedError(f"{where or 'body'}: {message}"[:1000], param=where or None, code="invalid_value")


def _body_of(request: Request) -> Any:
    """The model of a route's body; ``None`` where it has none."""
    field = getattr(request.scope.get("route"), "body_field", None)
    return getattr(getattr(field, "field_info", None), "annotation", None)


_ELSEWHERE = ("/v1/responses", "/v1/completions", "/v1/embeddings", "/v1/assistants", "/v1/threads", "/v1/moderations")
"""Of OpenAI's, not served here."""


async def _answer(request: Request, error: Exception) -> Response:
    found = invalid(error, _body_of(request)) if isinstance(error, RequestValidationError) else told(error)
    assert found is not None
    if found.status == 404 and found.code == "not_found" and request.scope["path"].startswith(_ELSEWHERE):
        found.message += ": of OpenAI's ways to ask a model, chat completions are served (POST /v1/chat/completions)"
    headers = getattr(error, "headers", None) if isinstance(error, HTTPException) else None
    return failure(request.scope, found, dict(headers) if headers else None)


def install(app: FastAPI) -> None:
    """Answer what routes raise."""
    for kind in (LyditeError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _answer)


class Failures:
    """Outermost but for headers: whatever comes out of the application is logged with an id and told as a 500."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, sending)
        except ClientDisconnect:
            return
        except Exception as error:
            found = told(error)
            if found is None:
                name = secrets.token_hex(4)
                log.exception(
                    "error %s at %s %s", name, scope["method"], scope["path"][:200].encode("ascii", "replace")
                )
                found = ApiError(
                    500, f"an error of the service's own; its log knows it as {name}", code="internal_error"
                )
            if started:  # half an answer is out: the connection is cut, so that nobody takes it for a whole one
                raise
            await failure(scope, found)(scope, receive, send)
