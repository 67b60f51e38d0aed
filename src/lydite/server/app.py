"""The application: routes, and what holds for all of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response

from lydite._version import __version__
from lydite.errors import InputError, LyditeError
from lydite.server.errors import ApiError, RefusedError, body, refused
from lydite.server.openai import chat_routes, files_routes, graders_routes, jobs_routes, models_routes
from lydite.server.page import (
    compare_view,
    dashboard_view,
    diff_view,
    flags_view,
    group_view,
    ledger_view,
    rollout_view,
    runs_view,
    tasks_view,
)
from lydite.server.platform import documents_routes, finetuning_routes
from lydite.server.rlvr import (
    compat_routes,
    events_routes,
    flags_routes,
    ledger_routes,
    runs_routes,
    tasks_routes,
    verify_routes,
)
from lydite.server.service import Service

ROUTES = (
    files_routes,
    jobs_routes,
    graders_routes,
    models_routes,
    chat_routes,
    documents_routes,
    finetuning_routes,
    runs_routes,
    flags_routes,
    events_routes,
    ledger_routes,
    tasks_routes,
    verify_routes,
    compat_routes,
    runs_view,
    dashboard_view,
    group_view,
    rollout_view,
    diff_view,
    flags_view,
    compare_view,
    tasks_view,
    ledger_view,
)


def create_app(service: Service) -> FastAPI:
    """The application of a service."""
    app = FastAPI(title="Lydite", version=__version__, lifespan=_lifespan, docs_url=None, redoc_url=None)
    app.state.service = service
    for module in ROUTES:
        app.include_router(module.router)
    app.add_exception_handler(LyditeError, _failed)
    app.add_exception_handler(RequestValidationError, _invalid)
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    await asyncio.to_thread(service.jobs.start)
    follower = asyncio.create_task(_follow(service))
    try:
        yield
    finally:
        follower.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await follower
        await asyncio.to_thread(service.jobs.stop)
        await service.models.aclose()


async def _follow(service: Service) -> None:
    """Take in what is new in run folders, as long as the service runs."""
    while True:
        await asyncio.to_thread(service.index.refresh)
        await asyncio.sleep(service.settings.poll_seconds)


async def _failed(_request: Request, error: Exception) -> Response:
    if isinstance(error, InputError):
        error = refused(error)
    if not isinstance(error, ApiError):
        error = ApiError(503, str(error), code="unavailable")
    return JSONResponse(body(error), error.status)


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    return JSONResponse(body(RefusedError(f"{where or 'body'}: {first['msg']}", param=where or None)), 400)
