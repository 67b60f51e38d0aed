"""The application: routes, and what holds for all of them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI

from lydite._version import __version__
from lydite.server import schema
from lydite.server.answers import Json
from lydite.server.failures import Failures, install
from lydite.server.limits import THREADS, WAITERS, Limits, Streams
from lydite.server.openai import chat_routes, files_routes, graders_routes, jobs_routes, models_routes
from lydite.server.page import (
    assets,
    compare_view,
    dashboard_view,
    diff_view,
    export_view,
    flags_view,
    group_view,
    ledger_view,
    login_view,
    rollout_view,
    runs_view,
    tasks_view,
)
from lydite.server.platform import documents_routes, finetuning_routes
from lydite.server.rlvr import (
    adapter_routes,
    compat_routes,
    events_routes,
    flags_routes,
    job_routes,
    ledger_routes,
    runs_routes,
    tasks_routes,
    verify_routes,
)
from lydite.server.security import Guard, Headers
from lydite.server.service import Service
from lydite.server.tokens import FROM_ENVIRONMENT, Sessions, Tokens

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
    job_routes,
    adapter_routes,
    tasks_routes,
    verify_routes,
    compat_routes,
    assets,
    login_view,
    runs_view,
    dashboard_view,
    group_view,
    rollout_view,
    diff_view,
    flags_view,
    compare_view,
    tasks_view,
    ledger_view,
    export_view,
)


log = logging.getLogger("lydite.server")
T = TypeVar("T")


def create_app(service: Service) -> FastAPI:
    """The application of a service.

    ``app.state`` holds ``service``, ``tokens``, ``sessions`` and ``streams`` (open streams of events, to be closed
    before a server ends).
    """
    app = FastAPI(
        title="Lydite",
        version=__version__,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        default_response_class=Json,
    )
    settings = service.settings
    app.state.service = service
    app.state.tokens = Tokens(service.home.private, os.environ.get(FROM_ENVIRONMENT, ""))
    app.state.sessions = Sessions(app.state.tokens)
    app.state.streams = Streams()
    app.add_api_route("/healthz", _health, methods=["GET"], tags=["service"], summary="Whether the service answers")
    app.add_api_route("/healthz", _health, methods=["HEAD"], include_in_schema=False)  # balancers ask so
    for module in ROUTES:
        app.include_router(module.router)
    install(app)
    app.add_middleware(Limits, settings=settings, streams=app.state.streams)  # the last one added is asked first
    app.add_middleware(Guard, settings=settings, tokens=app.state.tokens, sessions=app.state.sessions)
    app.add_middleware(Failures)
    app.add_middleware(Headers)
    app.openapi = lambda: schema.document(app)  # type: ignore[method-assign]
    return app


async def _health() -> Json:
    """Asked without a token."""
    return Json({"ok": True, "version": __version__})


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    to_thread.current_default_thread_limiter().total_tokens = THREADS
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(WAITERS, "lydite"))
    await to_thread.run_sync(service.jobs.start)
    follower = asyncio.create_task(_follow(service))
    try:
        yield
    finally:
        follower.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await follower
        for what, end in (("jobs", to_thread.run_sync(service.jobs.stop)), ("models", service.models.aclose())):
            try:
                await end
            except Exception:
                log.exception("%s could not be ended in good order", what)


async def _follow(service: Service) -> None:
    """Take in what is new in run folders, as long as the service runs. What goes wrong is logged when it is new."""
    own, known = CapacityLimiter(1), ""
    while True:
        try:
            if await _finishing(to_thread.run_sync(service.index.refresh, limiter=own, abandon_on_cancel=True)):
                service.bus.wake()
            known = ""
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            if told != known:
                log.exception("run folders cannot be followed; trying on")
            known = told
        await asyncio.sleep(service.settings.poll_seconds)


async def _finishing(work: Coroutine[Any, Any, T], seconds: float = 2.0) -> T:
    """The outcome of work; when that is cancelled, it gets some seconds to come to its end."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=seconds)
        raise
