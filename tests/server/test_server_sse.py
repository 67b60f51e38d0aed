"""``/v1/rlvr/events`` over a real socket: nothing is lost, nothing comes twice."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from server_making import trained

from lydite.server import events
from lydite.server.app import create_app
from lydite.server.service import Service
from lydite.server.settings import Settings
from lydite.server.tokens import Tokens

BASE = "/v1/rlvr/events"


class Stream:
    """One connection; gives events as they come."""

    def __init__(self, port: int, path: str, last: int | None = None, token: str = "") -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self.connection.request("GET", path, headers=headers)
        self.response = self.connection.getresponse()
        self.status = self.response.status

    def messages(self) -> Iterator[dict[str, str]]:
        """Fields of each message; of comments and the first id, too."""
        fields: dict[str, str] = {}
        while line := self.response.readline():
            text = line.decode().rstrip("\n")
            if not text:
                yield fields
                fields = {}
            else:
                name, _, value = text.partition(": ")
                fields[name or "comment"] = value

    def events(self) -> Iterator[dict[str, Any]]:
        return (json.loads(one["data"]) for one in self.messages() if one.get("data", "{}") != "{}")

    def close(self) -> None:
        with contextlib.suppress(OSError):
            if self.connection.sock:
                self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.connection.close()


class Site:
    def __init__(self, service: Service, port: int, app: Any) -> None:
        self.service, self.port, self.app = service, port, app

    def put(self, count: int, topic: str = "run:a", first: int = 0) -> None:
        for number in range(first, first + count):
            with self.service.engine.begin() as connection:
                self.service.bus.put(connection, topic, "metrics", {"number": number})
            self.service.bus.wake()

    @contextlib.contextmanager
    def stream(self, query: str = "", last: int | None = None) -> Iterator[Stream]:
        made = Stream(self.port, BASE + query, last)
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with running(Settings(home=tmp_path, poll_seconds=0.05)) as made:
        yield made


@contextlib.contextmanager
def running(settings: Settings) -> Iterator[Site]:
    service = Service(settings)
    app = create_app(service)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield Site(service, listener.getsockname()[1], app)
    app.state.streams.close()
    server.should_exit = True
    thread.join(10)
    service.close()


def test_a_client_that_is_cut_off_again_and_again_gets_every_event_once(site: Site) -> None:
    many = 400
    writer = threading.Thread(target=site.put, args=(many,))
    seen: list[int] = []
    last: int | None = 0
    writer.start()
    take = 1
    while len(seen) < many:
        with site.stream("?topic=run:a", last) as stream:
            for event, _ in zip(stream.events(), range(take), strict=False):
                seen.append(event["data"]["number"])
                last = event["seq"]
                if len(seen) == many:
                    break
        take = take * 3 % 89 + 1
    writer.join()
    assert seen == list(range(many))


def test_one_that_is_cut_off_before_anything_happened_loses_nothing(site: Site) -> None:
    site.put(3)
    with site.stream() as stream:
        first = next(stream.messages())
    assert first["id"] == "3"
    assert first["retry"] == "1000"
    site.put(1, first=3)
    with site.stream(last=int(first["id"])) as stream:
        assert next(stream.events())["data"]["number"] == 3


def test_many_watchers_at_once_see_the_same(site: Site) -> None:
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(site.stream("?topic=run:a")) for _ in range(20)]
        for stream in streams:
            next(stream.messages())
        site.put(5)
        for stream in streams:
            events_ = stream.events()
            assert [next(events_)["data"]["number"] for _ in range(5)] == list(range(5))


def test_topics_are_told_apart(site: Site) -> None:
    site.put(2, "run:a")
    site.put(2, "run:b")
    site.put(2, "job:c")
    with site.stream("?topic=run:b&topic=job:c&after=0") as stream:
        found = stream.events()
        assert [next(found)["topic"] for _ in range(4)] == ["run:b", "run:b", "job:c", "job:c"]


def test_a_run_that_is_written_is_told_of(site: Site) -> None:
    with site.stream("?topic=run:live") as stream:
        next(stream.messages())
        trained(site.service.home.path, "live", steps=2)
        kinds: dict[str, Any] = {}
        for event in stream.events():
            kinds[event["kind"]] = event["data"]
            if kinds.get("run", {}).get("state") == "complete" and kinds.get("metrics", {}).get("step") == 2:
                break
    assert kinds["metrics"]["values"]["reward"] == 0.4


@pytest.mark.parametrize(
    ("query", "last"), [("?topic=nothing", None), ("?after=x", None), ("?after=-1", None), ("", "abc"), ("", "9" * 30)]
)
def test_what_makes_no_sense_is_refused_before_the_stream_begins(site: Site, query: str, last: Any) -> None:
    with site.stream(query, last) as stream:
        assert stream.status == 400
        assert json.loads(stream.response.read())["error"]["message"]


def test_a_client_whose_events_were_forgotten_is_told(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "KEPT", 10)
    monkeypatch.setattr(events, "_PRUNE_EVERY", 10)
    site.put(60)
    with site.stream(last=5) as stream:
        found = stream.messages()
        assert [next(found).get("event") for _ in range(2)] == [None, "lost"]
    with site.stream(last=59) as stream:
        assert next(stream.events())["data"]["number"] == 59


def test_a_client_of_another_index_is_told(site: Site) -> None:
    site.put(2)
    with site.stream(last=70_000) as stream:
        found = stream.messages()
        assert next(found)["id"] == "2"
        assert next(found)["event"] == "lost"
        site.put(1, first=2)
        assert json.loads(next(found)["data"])["data"]["number"] == 2


def test_an_idle_stream_is_kept_alive(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastapi.routing._PING_INTERVAL", 0.1)
    with site.stream() as stream:
        found = stream.messages()
        next(found)
        assert next(found) == {"comment": "ping"}


def test_the_services_end_is_the_streams_end(site: Site) -> None:
    with site.stream() as stream:
        next(stream.messages())
        site.app.state.streams.close()
        assert list(stream.messages()) == []


def test_a_stream_ends_when_its_token_is_revoked(tmp_path: Path) -> None:
    with running(Settings(home=tmp_path, poll_seconds=0.05, require_token=True)) as site:
        tokens = Tokens(site.service.home.private)
        kept, gone = (Stream(site.port, BASE, token=tokens.new(name)) for name in ("kept", "gone"))
        for stream in (kept, gone):
            next(stream.messages())
        site.put(1)
        assert next(gone.events())["data"]["number"] == 0
        tokens.revoke("gone")
        site.put(1, first=1)
        assert list(gone.messages()) == []  # in good order
        assert [next(kept.events())["data"]["number"] for _ in range(2)] == [0, 1]
        kept.close()


def test_a_body_with_two_lengths_is_refused_and_nothing_after_it_is_read(site: Site) -> None:
    smuggled = b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    head = (
        b"POST /v1/rlvr/verify HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", site.port), timeout=10) as own:
        own.sendall(head + smuggled)
        data = b""
        while piece := own.recv(65536):
            data += piece
    assert data.count(b"HTTP/1.1 ") == 1
    assert data.startswith(b"HTTP/1.1 400")
