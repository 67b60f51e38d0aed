"""Limits, on real sockets: bodies, heads, time, requests, watchers, lanes."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI, Request
from starlette.responses import StreamingResponse

from lydite.server import limits, protocol
from lydite.server.limits import LANES, Limits, Streams
from lydite.server.protocol import Protocol
from lydite.server.running import Server
from lydite.server.settings import Settings

LIMIT = 100_000
JSON = "Content-Type: application/json"


class Place:
    """What the routes of these tests do."""

    def __init__(self) -> None:
        self.running, self.most, self.finished = 0, 0, 0
        self.go = threading.Event()
        self.lock = threading.Lock()

    async def echo(self, request: Request) -> dict[str, int]:
        return {"length": len(await request.body())}

    async def stubborn(self, request: Request) -> dict[str, str]:
        try:
            await request.body()
        except Exception:  # an application that takes a cut-off body for a whole one
            return {"told": "all is well"}
        return {"told": "whole"}

    async def careless(self) -> dict[str, str]:
        return {"told": "without reading"}

    def heavy(self, body: dict) -> dict[str, bool]:
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self.go.wait(10)
        with self.lock:
            self.running -= 1
            self.finished += 1
        return {"ok": True}

    def light(self) -> dict[str, bool]:
        return {"ok": True}

    async def stream(self) -> StreamingResponse:
        async def events() -> AsyncIterator[str]:
            try:
                yield "data: first\n\n"
                await asyncio.sleep(60)
            finally:
                self.finished += 1

        return StreamingResponse(events(), media_type="text/event-stream")


class Running:
    """A server in a thread."""

    def __init__(self, home: Path) -> None:
        self.place, self.app, self.streams = Place(), FastAPI(), Streams()
        for path in ("/echo", "/stubborn", "/careless"):
            self.app.add_api_route(path, getattr(self.place, path[1:]), methods=["POST"])
        self.app.add_api_route("/v1/files", self.place.echo, methods=["POST"])
        self.app.add_api_route("/v1/rlvr/tasks/validate", self.place.heavy, methods=["POST"])
        self.app.add_api_route("/light", self.place.light)
        self.app.add_api_route("/stream", self.place.stream)
        settings = Settings(home=home, body_limit=LIMIT, upload_limit=2 * LIMIT)
        self.app.add_middleware(Limits, settings=settings, streams=self.streams)
        config = uvicorn.Config(self.app, http=Protocol, log_config=None, h11_max_incomplete_event_size=8192)
        config.timeout_graceful_shutdown = 60  # longer than ``close`` waits: nothing is to be cut off
        listening = threading.Event()
        self.server = Server(config, self.streams, listening.set)
        own = socket.create_server(("127.0.0.1", 0))
        self.address = own.getsockname()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.server.serve([own])))
        self.thread.start()
        assert listening.wait(10)

    def close(self) -> None:
        self.place.go.set()
        self.server.should_exit = True
        self.thread.join(10)
        assert not self.thread.is_alive()

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=10)

    def ask(self, data: bytes) -> tuple[int, dict]:
        with self.connect() as own:
            own.sendall(data)
            return answer(own)

    def post(self, path: str, body: bytes, *headers: str) -> tuple[int, dict]:
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n" + "".join(
            f"{h}\r\n" for h in headers
        )
        return self.ask(head.encode() + b"\r\n" + body)


def answer(own: socket.socket) -> tuple[int, dict]:
    """Status and JSON of the answer that comes next."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = own.recv(65536)
        assert piece, data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
    )
    while len(body) < length:
        body += own.recv(65536)
    return int(head.split()[1]), json.loads(body)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    made = Running(tmp_path)
    yield made
    made.close()


def _chunked(path: str) -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode()


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_body_as_long_as_allowed_is_taken(running: Running) -> None:
    assert running.post("/echo", b"a" * LIMIT) == (200, {"length": LIMIT})


def test_a_longer_one_is_refused_and_its_sender_sees_that(running: Running) -> None:
    status, told = running.post("/echo", b"a" * (50 * LIMIT))
    assert status == 413
    assert told["error"]["code"] == "too_large"
    assert str(LIMIT) in told["error"]["message"]


def test_a_longer_one_is_not_even_asked_for(running: Running) -> None:
    head = f"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: {LIMIT + 1}\r\nExpect: 100-continue\r\n\r\n"
    assert running.ask(head.encode())[0] == 413


@pytest.mark.parametrize("path", ["/echo", "/stubborn"])
def test_a_body_of_unknown_length_is_measured_while_it_comes(running: Running, path: str) -> None:
    piece = b"8000\r\n" + b"a" * 0x8000 + b"\r\n"
    status, told = running.ask(_chunked(path) + piece * 8 + b"0\r\n\r\n")
    assert (status, told["error"]["code"]) == (413, "too_large")


def test_a_refused_sender_can_go_on_with_the_same_connection(running: Running) -> None:
    with running.connect() as own:
        own.sendall(_chunked("/echo") + (b"8000\r\n" + b"a" * 0x8000 + b"\r\n") * 8 + b"0\r\n\r\n")
        assert answer(own)[0] == 413
        own.sendall(b"GET /light HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer(own) == (200, {"ok": True})


def test_what_comes_after_a_refusal_is_not_read_for_ever(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Protocol, "_spare", 1 << 20)
    with running.connect() as own:
        own.sendall(_chunked("/careless"))
        assert answer(own)[0] == 200
        with pytest.raises(OSError, match=r"reset|[Pp]ipe"):
            own.sendall((b"8000\r\n" + b"a" * 0x8000 + b"\r\n") * 2000)


def test_files_may_be_longer(running: Running) -> None:
    assert running.post("/v1/files", b"a" * (2 * LIMIT)) == (200, {"length": 2 * LIMIT})
    assert running.post("/v1/files", b"a" * (4 * LIMIT))[0] == 413


def test_a_body_that_comes_slowly_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "GRACE", 0.3)
    running = Running(tmp_path)
    try:
        with running.connect() as own:
            own.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
            assert answer(own)[1]["error"]["code"] == "too_slow"
    finally:
        running.close()


def test_a_head_that_comes_slowly_is_given_up(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Protocol, "head_seconds", 1.0)
    with running.connect() as silent, running.connect() as slow, running.connect() as again:
        slow.sendall(b"GET /light HT")
        again.sendall(b"GET /light HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer(again)[0] == 200
        again.sendall(b"GET /li")
        for own in (silent, slow, again):
            assert answer(own)[0] == 408
            assert own.recv(10) == b""


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 200_000 + b"\r\n\r\n", 431),
        (b"GET /" + b"a" * 200_000, 431),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
    ],
)
def test_what_is_no_http_is_told_so(running: Running, data: bytes, status: int) -> None:
    with running.connect() as own:
        own.sendall(data)
        got, told = answer(own)
    assert got in (status, 400)
    assert told["error"]["type"] == "invalid_request_error"


def test_heavy_work_has_its_lanes_and_the_rest_goes_on(running: Running) -> None:
    askers = [
        threading.Thread(target=running.post, args=("/v1/rlvr/tasks/validate", b"{}", JSON)) for _ in range(3 * LANES)
    ]
    for asker in askers:
        asker.start()
    _until(lambda: running.place.running == LANES)
    for _ in range(5):
        assert running.ask(b"GET /light HTTP/1.1\r\nHost: x\r\n\r\n") == (200, {"ok": True})
    running.place.go.set()
    for asker in askers:
        asker.join(10)
    assert running.place.most == LANES
    assert running.place.finished == 3 * LANES


def test_a_sender_that_is_slow_holds_no_lane(running: Running) -> None:
    running.place.go.set()
    slow = [running.connect() for _ in range(LANES + 1)]
    for own in slow:
        own.sendall(b"POST /v1/rlvr/tasks/validate HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
    assert running.post("/v1/rlvr/tasks/validate", b"{}", JSON)[0] == 200
    for own in slow:
        own.close()


def test_more_requests_than_can_be_worked_on_are_told_to_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REQUESTS", 3)
    running = Running(tmp_path)
    try:
        asked = [running.connect() for _ in range(3)]
        for own in asked:
            own.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na")
        _until(lambda: len(running.server.server_state.tasks) == 3)
        status, told = running.ask(b"GET /light HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (status, told["error"]["code"]) == (503, "overloaded")
        for own in asked:
            own.sendall(b"bc")
            assert answer(own) == (200, {"length": 3})
            own.close()
        assert running.ask(b"GET /light HTTP/1.1\r\nHost: x\r\n\r\n")[0] == 200
    finally:
        running.close()


def test_bodies_are_held_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HELD", 150_000)
    running = Running(tmp_path)
    head = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n"
    try:
        with running.connect() as first, running.connect() as second:
            first.sendall(head + b"a" * 89_999)
            _until(lambda: running.app.middleware_stack is not None and _held(running) == 89_999)
            second.sendall(head + b"a" * 90_000)
            assert answer(second)[1]["error"]["code"] == "overloaded"
            first.sendall(b"a")
            assert answer(first) == (200, {"length": 90_000})
        _until(lambda: _held(running) == 0)
    finally:
        running.close()


def _held(running: Running) -> int:
    layer = running.app.middleware_stack
    while not isinstance(layer, Limits):
        layer = layer.app  # type: ignore[union-attr]
    return layer.held


def test_watchers_are_counted_apart_and_ended_in_good_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REQUESTS", 1)
    monkeypatch.setattr(limits, "WATCHERS", 3)
    running = Running(tmp_path)
    watchers = [running.connect() for _ in range(3)]
    for own in watchers:
        own.sendall(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        data = b""
        while b"data: first" not in data:
            data += own.recv(65536)
    assert running.ask(b"GET /light HTTP/1.1\r\nHost: x\r\n\r\n")[0] == 200
    status, told = running.ask(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (status, told["error"]["code"]) == (503, "overloaded")
    running.close()
    for own in watchers:
        assert own.recv(100).endswith(b"0\r\n\r\n")  # the stream is whole
        own.close()
    assert running.place.finished >= 3


def test_clients_that_go_leave_nothing_behind(running: Running) -> None:
    for _ in range(20):
        with running.connect() as own:
            own.sendall(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
            own.recv(10)
        with running.connect() as own:
            own.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\na")
    _until(lambda: not len(running.streams) and not running.server.server_state.tasks)
    assert not running.server.server_state.connections


def test_connections_are_bounded(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "CONNECTIONS", 2)
    with running.connect() as first, running.connect() as second:
        for own in (first, second):
            own.sendall(b"GET /light HTTP/1.1\r\nHost: x\r\n\r\n")
            assert answer(own)[0] == 200
        with pytest.raises((OSError, AssertionError)):
            running.ask(b"GET /light HTTP/1.1\r\nHost: x\r\n\r\n")


def test_answers_are_sent_at_once(running: Running) -> None:
    with running.connect() as own:
        own.sendall(b"GET /light HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer(own)[0] == 200
        (connection,) = running.server.server_state.connections
        held = connection.transport.get_extra_info("socket")
        assert held.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)  # else a body waits for an acknowledgement
