"""HTTP on the wire: uvicorn's own reading of it, with limits that it does not have.

A connection that sends no whole head in time is closed, one whose client reads nothing is given up by the kernel, and
what comes after a refusal is read away for a while, so that the client gets to see the refusal.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from typing import cast

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from lydite.server.answers import encoded
from lydite.server.errors import ApiError, body
from lydite.server.security import HEAD_BYTES, HEADERS

HEAD_SECONDS = 15.0
"""In which a request's head must have come, from the first byte on (or from the connection on)."""
DRAINED = 64 << 20
"""Bytes that are read away after a refusal; ``HEAD_SECONDS`` bounds the time."""
STALLED_SECONDS = 120
"""For which a client may leave what was sent to it unread."""
CONNECTIONS = 4096
"""At once; more are closed."""


class Protocol(H11Protocol):
    """One connection."""

    head_seconds = HEAD_SECONDS
    _late: asyncio.TimerHandle | None = None
    _spare = DRAINED

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        own = transport.get_extra_info("socket")
        if own is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
            with contextlib.suppress(OSError):
                # asyncio does this by itself only for sockets that name their protocol; without it a body waits 40 ms.
                own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                own.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_SECONDS * 1000)
        if len(self.connections) > CONNECTIONS:
            self.transport.abort()
            return
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ready()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._draining():
            self._spare -= len(data)
            if self._spare < 0:
                self.transport.abort()
                return
        super().data_received(data)
        if self.transport.is_closing():
            self._ready()
        elif self._draining() or (self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]):
            self._wait()
        else:
            self._ready()

    def _draining(self) -> bool:
        done = self.cycle is not None and self.cycle.response_complete
        return done and self.conn.their_state is h11.SEND_BODY

    def _wait(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(self.head_seconds, self._too_late)

    def _ready(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _too_late(self) -> None:
        self._late = None
        if self.transport.is_closing():
            return
        if self.conn.our_state is h11.IDLE:
            self._refuse(408, "the head of the request came too slowly")
        else:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP, in the shape of all errors."""
        hint = getattr(sys.exc_info()[1], "error_status_hint", 400)
        if hint == 431:
            self._refuse(431, f"the line and headers of the request are longer than {HEAD_BYTES} bytes")
        else:
            self._refuse(400, "this is no HTTP request")

    def _refuse(self, status: int, message: str) -> None:
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()
            return
        data = encoded(body(ApiError(status, message, code="invalid_request")))
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(data)).encode()),
            (b"connection", b"close"),
            *HEADERS,
        ]
        answer = h11.Response(status_code=status, headers=headers, reason=STATUS_PHRASES.get(status, b""))
        for event in (answer, h11.Data(data=data), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
