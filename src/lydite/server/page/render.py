"""Templates to answers: one environment for all views, with escaping always on.

What a policy said may be anything: markup, scripts, control characters, half of a surrogate pair, two megabytes. It
goes through ``words`` (or plain escaping), never through ``|safe``; the only markup that Python makes is in ``words``,
``spark.py`` and macros.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lydite._version import __version__
from lydite.errors import InputError, LyditeError
from lydite.server.deps import service_of
from lydite.server.errors import ApiError, refused
from lydite.server.failures import invalid
from lydite.server.page import assets, links, telling
from lydite.server.page.spark import spark

TEMPLATES = Path(__file__).parent / "templates"


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(
        ago=telling.ago,
        bytes=telling.size,
        clip=telling.clip,
        count=telling.count,
        duration=telling.duration,
        iso=telling.iso,
        many=telling.many,
        number=telling.number,
        percent=telling.percent,
        short=telling.short,
        signed=telling.signed,
        words=telling.words,
        reason=telling.reason,
    )
    made.globals.update(static=assets.url, version=__version__, links=links, spark=spark, signals=telling.SIGNALS)
    return made


ENVIRONMENT = _environment()


def render(template: str, **context: Any) -> str:
    """A template as text."""
    return ENVIRONMENT.get_template(template).render(context)


def show(
    request: Request, template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **context: Any
) -> HTMLResponse:
    """A view. The template extends ``base.html``, or is a fragment (a name that begins with ``_``).

    Args:
        request: the request that is answered; templates see it as ``request``.
        template: name below ``templates/``.
        status: of HTTP.
        headers: more of them.
        context: what the template is given.
    """
    seen = getattr(request.state, "seen", None)
    text = render(template, request=request, fragment=fragment(request), seen=seen, **context)
    more = {"Cache-Control": "private, no-cache", "Vary": "X-Fragment", **(headers or {})}
    return HTMLResponse(text.encode("utf-8", "replace"), status, more)


def fragment(request: Request) -> bool:
    """Whether a part of a page is asked for, to take the place of what is shown (htmx, or ``live.js``)."""
    return request.headers.get("X-Fragment") == "1" or request.headers.get("HX-Request") == "true"


class PageRoute(APIRoute):
    """A route of the page: what cannot be served is told as a page, not as JSON. A view says which event was the last
    before it was made, so that ``live.js`` begins there and nothing is lost between."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                if request.method == "GET" and not fragment(request):
                    request.state.seen = await asyncio.to_thread(service_of(request).bus.last)
                return await handler(request)
            except RequestValidationError as error:
                return problem(request, invalid(error))
            except InputError as error:
                return problem(request, refused(error))
            except ApiError as error:
                return problem(request, error)
            except LyditeError as error:
                return problem(request, ApiError(503, str(error)))

        return handle


def page_router() -> APIRouter:
    """A router for views: they are no part of the OpenAPI document, and their errors are pages."""
    return APIRouter(include_in_schema=False, route_class=PageRoute, default_response_class=HTMLResponse)


def problem(request: Request, error: ApiError) -> HTMLResponse:
    """What cannot be served, as a page; what was asked for by a form leads back to where that stands."""
    back = ""
    if request.method == "POST":
        came = urlsplit(request.headers.get("Referer", ""))
        if came.netloc == request.headers.get("Host") and came.path[:1] == "/" and came.path[:2] not in ("//", "/\\"):
            back = came.path + (f"?{came.query}" if came.query else "")
    return show(request, "problem.html", status=error.status, error=error, back=back)
