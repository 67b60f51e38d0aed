"""How much the service takes at once: bodies, time, requests, watchers, heavy work.

A body is measured by its ``Content-Length`` and while it comes. Heavy work (trying tasks out) has a few lanes of its
own, entered when the body is there, so that neither a slow client nor a long batch keeps the page waiting.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lydite.server.answers import failure
from lydite.server.errors import ApiError
from lydite.server.settings import Settings

UPLOADS = frozenset({"/v1/files"})
"""Paths whose bodies may have ``upload_limit`` bytes; they are kept on disk while they come."""
FRAME = 1 << 16
"""Bytes that the form around an uploaded file may take."""
REQUESTS = 256
"""Requests that are worked on at once; more are told to come again."""
WATCHERS = 1024
"""Streams of events that are open at once."""
HELD = 256 << 20
"""Bytes of bodies (without uploads) that are held at once."""
LANES = 4
"""Requests for heavy work that are worked on at once; the others wait."""
HEAVY = re.compile(r"/v1/rlvr/tasks/validate|/v1/fine_tuning/alpha/graders/.*")
"""Their paths. Verdicts and probes have lanes of their own, in which a slow check keeps no quick one waiting."""
THREADS = 40
"""Threads for routes that block; heavy work can take ``LANES`` of them."""
WAITERS = 16
"""Threads for what asynchronous routes wait for: the database, a process that starts."""
GRACE = 20.0
"""Seconds that a body may take, and one more per ``RATE`` bytes that have come."""
RATE = 16 << 10


class TrippedError(Exception):
    """Ends the reading of a body. What the application makes of it is not sent: the limit's own answer is."""


class RevokedError(Exception):
    """Ends a stream whose token is not good any more."""


class Streams:
    """Requests that only end when the client goes: watchers. Ended when the service does."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()
        self.closing = False

    def __len__(self) -> int:
        return len(self._tasks)

    def add(self, task: asyncio.Task[object]) -> None:
        self._tasks.add(task)

    def discard(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)

    def close(self) -> None:
        """End them all, in good order: their answers are completed."""
        self.closing = True
        for task in tuple(self._tasks):
            task.cancel()


class Limits:
    """Measures every request.

    Args:
        app: what lies behind it.
        settings: of the service.
        streams: where open streams are noted.
    """

    def __init__(self, app: ASGIApp, *, settings: Settings, streams: Streams) -> None:
        self.app, self.settings, self.streams = app, settings, streams
        self.running, self.held = 0, 0
        self.lanes = asyncio.Semaphore(LANES)
        self.requests, self.watchers, self.grace, self.bytes_held = REQUESTS, WATCHERS, GRACE, HELD

    def limit(self, scope: Scope) -> int:
        """Bytes that the body of a request may have."""
        upload = scope["path"] in UPLOADS and scope["method"] == "POST"
        return self.settings.upload_limit + FRAME if upload else self.settings.body_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self.running >= self.requests:
            error = ApiError(503, "too many requests at once; come again in a moment", code="overloaded")
            await failure(scope, error)(scope, receive, send)
            return
        self.running += 1
        passage = Passage(self, scope, receive, send)
        try:
            await passage.run()
        finally:
            passage.end()


class Passage:
    """One request on its way through."""

    def __init__(self, limits: Limits, scope: Scope, receive: Receive, send: Send) -> None:
        self.limits, self.scope, self._receive, self._send = limits, scope, receive, send
        self.limit = limits.limit(scope)
        self.keeps = scope["path"] not in UPLOADS
        self.heavy = scope["method"] == "POST" and HEAVY.fullmatch(scope["path"]) is not None
        self.error: ApiError | None = None
        self.received, self.whole, self.in_lane = 0, False, False
        self.started, self.complete, self.revoked = False, False, False
        self.begun = asyncio.get_running_loop().time()
        runner = asyncio.current_task()
        assert runner is not None
        self.runner: asyncio.Task[object] = runner
        self.task: asyncio.Task[object] | None = None  # the same, of a watcher

    async def run(self) -> None:
        try:
            self._declared()
            if self.error is None:
                await self.limits.app(self.scope, self.receive, self.send)
        except asyncio.CancelledError:
            if not (self.task is not None and self.limits.streams.closing and self.started):
                raise
            if not self.complete:  # the service ends: so does the stream
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        except Exception:
            if self.revoked:
                return
            if self.error is None or self.started:
                raise
        if self.error is not None and not self.started:
            await failure(self.scope, self.error)(self.scope, self._receive, self._send)

    def end(self) -> None:
        """Give back what was taken."""
        if self.keeps:
            self.limits.held -= self.received
        if self.in_lane:
            self.limits.lanes.release()
        if self.task is not None:
            self.limits.streams.discard(self.task)
        else:
            self.limits.running -= 1

    def _declared(self) -> None:
        for name, value in self.scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value[:20]) > self.limit:
                self.error = self._too_long()

    def _too_long(self) -> ApiError:
        return ApiError(413, f"the body is longer than {self.limit} bytes", code="too_large")

    def _trip(self, error: ApiError) -> TrippedError:
        self.error = error
        return TrippedError(error.message)

    async def receive(self) -> Message:
        if self.whole:
            return await self._receive()
        left = self.begun + self.limits.grace + self.received / RATE - asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(max(0.0, left)):
                message = await self._receive()
        except TimeoutError:
            raise self._trip(ApiError(408, "the body came too slowly", code="too_slow")) from None
        if message["type"] != "http.request":
            self.whole = True
            return message
        size = len(message.get("body", b""))
        self.received += size
        if self.keeps:
            self.limits.held += size
        if self.received > self.limit:
            raise self._trip(self._too_long())
        if self.limits.held > self.limits.bytes_held and self.received > FRAME and self.keeps:
            raise self._trip(ApiError(503, "too much is sent at once; come again in a moment", code="overloaded"))
        if not message.get("more_body", False):
            self.whole = True
            if self.heavy:
                await self.limits.lanes.acquire()
                self.in_lane = True
        return message

    async def send(self, message: Message) -> None:
        if self.error is not None and not self.started:
            return  # what the application makes of a body that was cut off
        if message["type"] == "http.response.start":
            if _is_stream(message):
                self._watch()
            self.started = True
        elif message["type"] == "http.response.body":
            if self.task is not None and not self._still_known():
                self.revoked = self.complete = True
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})
                raise RevokedError
            self.complete = not message.get("more_body", False)
        await self._send(message)

    def _still_known(self) -> bool:
        """Whether a watcher's token is still good: it may be revoked while the stream goes on."""
        asked: Callable[[], bool] | None = self.scope.get("state", {}).get("still_known")
        return asked is None or asked()

    def _watch(self) -> None:
        streams = self.limits.streams
        if len(streams) >= self.limits.watchers or streams.closing:
            raise self._trip(ApiError(503, "too many watchers at once; come again later", code="overloaded"))
        self.task = self.runner
        self.limits.running -= 1
        streams.add(self.task)


def _is_stream(message: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in message.get("headers", ())
    )
