"""``lydite serve`` and ``lydite tokens`` as people run them: real processes, real signals."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import httpx2 as httpx
import pytest
from fastapi.testclient import TestClient
from server_making import sampled
from typer.testing import CliRunner

from lydite.cli import tokens
from lydite.errors import InputError
from lydite.server.app import create_app
from lydite.server.running import Claim, run
from lydite.server.service import Service
from lydite.server.settings import Settings

LYDITE = [sys.executable, "-m", "lydite"]


class Served:
    """A server process."""

    def __init__(self, home: Path, *options: str, env: dict[str, str] | None = None) -> None:
        command = [*LYDITE, "serve", "--home", str(home), "--port", "0", "--json", *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}
        )
        out: IO[str] | None = self.process.stdout
        assert out is not None
        line = out.readline()
        assert line, self.process.communicate(timeout=10)[1]
        self.told = json.loads(line)
        self.url: str = self.told["url"]
        self.port = int(self.url.rpartition(":")[2])

    def end(self, number: int = signal.SIGTERM) -> tuple[int, float, str]:
        """Exit code, seconds, what was said on standard error."""
        begun = time.monotonic()
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=20)
        return self.process.returncode, time.monotonic() - begun, said


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    begun: list[Served] = []

    def make(*options: str, home: Path = tmp_path, **more: object) -> Served:
        begun.append(Served(home, *options, **more))  # type: ignore[arg-type]
        return begun[-1]

    yield make
    for served in begun:
        if served.process.poll() is None:
            served.process.kill()
            served.process.communicate()


def _lydite(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*LYDITE, *arguments], capture_output=True, text=True, timeout=60, env={**os.environ, **(env or {})}
    )


def _watch(served: Served, path: str = "/v1/rlvr/events") -> socket.socket:
    own = socket.create_connection(("127.0.0.1", served.port), timeout=10)
    own.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n".encode())
    data = own.recv(65536)
    assert data.startswith(b"HTTP/1.1 200"), data
    assert b"text/event-stream" in data
    return own


def test_a_signal_ends_it_soon_with_watchers_and_idle_clients_there(
    serve: Callable[..., Served], tmp_path: Path
) -> None:
    sampled(tmp_path, "a", tasks=1)
    served = serve()
    assert served.told == {"url": served.url, "home": str(tmp_path), "pid": served.process.pid}
    with httpx.Client(base_url=served.url) as client:
        assert client.get("/healthz").json()["ok"] is True
        watchers = [_watch(served) for _ in range(3)]
        idle = socket.create_connection(("127.0.0.1", served.port))
        half = socket.create_connection(("127.0.0.1", served.port))
        half.sendall(b"POST /v1/rlvr/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        code, seconds, said = served.end()
    for own in (*watchers, idle, half):
        own.close()
    assert code == 0, said
    assert seconds < 10
    assert said == ""


def test_one_home_has_one_server(serve: Callable[..., Served], tmp_path: Path) -> None:
    first = serve()
    with pytest.raises(InputError) as caught:
        run(Settings(home=tmp_path, port=0), lambda address: pytest.fail("it serves"))
    assert first.url in str(caught.value)
    assert str(first.process.pid) in str(caught.value)
    first.process.kill()
    first.process.communicate()
    with Claim(tmp_path / ".lydite"):  # one that was killed leaves nothing behind that is in the way
        pass


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("when", ["heard", "claimed"])
def test_a_signal_while_it_starts_ends_it_too(tmp_path: Path, number: signal.Signals, when: str) -> None:
    command = [*LYDITE, "serve", "--home", str(tmp_path), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    mine, end = 1 << (signal.SIGTERM - 1), time.monotonic() + 20
    while time.monotonic() < end:
        caught = re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{process.pid}/status").read_text())
        if (tmp_path / ".lydite" / "server.lock").exists() if when == "claimed" else int(caught[1], 16) & mine:
            break
        time.sleep(0.002)
    process.send_signal(number)
    out, said = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, ""), said
    assert "Traceback" not in said


def test_for_people_it_prints_one_line_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    address, shown = "::1", "[::1]"
    try:
        socket.create_server((address, 0), family=socket.AF_INET6).close()
    except OSError:
        address = shown = "127.0.0.1"
    command = [*LYDITE, "serve", "--home", str(tmp_path), "--port", "0", "--host", address]
    process = subprocess.Popen(
        [*command, "--allow-host", "rl.example.org"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.search(r"http://\S+", line)
    assert found, line
    url = found[0]
    assert url.startswith(f"http://{shown}:")
    assert httpx.get(f"{url}/healthz").status_code == 200
    assert httpx.get(f"{url}/healthz", headers={"Host": "rl.example.org"}).status_code == 200
    assert httpx.get(f"{url}/healthz", headers={"Host": "other.example.org"}).status_code == 421
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=20)
    assert (out, said, process.returncode) == ("", "", 0)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"port": 70000}, ["no port", "free one"]),
        ({"host": "no.such.host.invalid"}, ["no.such.host.invalid", "address of this machine"]),
        ({"host": "192.0.2.1"}, ["192.0.2.1", "address of this machine"]),
        ({"host": ""}, ["no address"]),
        ({"host": "0.0.0.0"}, ["no token", "lydite tokens new", "LYDITE_TOKEN"]),
        ({"require_token": True}, ["no token", "lydite tokens new"]),
        ({"home": Path("/proc/none")}, ["cannot be written", "--home"]),
        ({"home": Path("/etc/hostname")}, ["no folder", "--home"]),
        ({"allowed_hosts": ("a b",)}, ["no name of a host"]),
        ({"database": "nothing://x"}, ["database"]),
    ],
)
def test_what_cannot_be_served_is_told_with_a_remedy(tmp_path: Path, settings: dict, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        run(Settings(**{"home": tmp_path, "port": 0, **settings}), lambda address: pytest.fail("it serves"))
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = _lydite("serve", "--port", port, "--home", str(tmp_path))
    assert done.returncode == 2
    assert f"port {port} of 127.0.0.1 is in use" in done.stderr
    assert "--port" in done.stderr
    assert done.stdout == ""


def test_tokens_guard_what_can_be_reached_from_elsewhere(serve: Callable[..., Served], tmp_path: Path) -> None:
    home = str(tmp_path)
    made = _lydite("tokens", "new", "ci", "--home", home)
    token = made.stdout.strip()
    assert token.startswith("lyd_")
    served = serve("--host", "0.0.0.0", env={"LYDITE_TOKEN": "of-the-environment"})
    assert served.url == f"http://127.0.0.1:{served.port}"
    with httpx.Client(base_url=served.url) as client:

        def status(**headers: str) -> int:
            return client.get("/openapi.json", headers=headers).status_code

        assert status() == 401
        assert status(Authorization=f"Bearer {token}") == 200
        assert status(Authorization="Bearer of-the-environment") == 200
        assert _lydite("tokens", "revoke", "ci", "--home", home).returncode == 0
        assert status(Authorization=f"Bearer {token}") == 401


def test_tokens_are_listed_without_their_secrets(tmp_path: Path) -> None:
    home = ["--home", str(tmp_path)]
    asker = CliRunner()
    token = json.loads(asker.invoke(tokens.app, ["new", "ci", "--json", *home]).stdout)["token"]
    listed = asker.invoke(tokens.app, ["list", *home])
    assert listed.stdout.split()[-1] == "ci"
    assert token not in listed.output
    assert [
        one["name"] for one in json.loads(asker.invoke(tokens.app, ["list", "--json", *home]).stdout)["tokens"]
    ] == ["ci"]
    assert isinstance(asker.invoke(tokens.app, ["revoke", "other", *home]).exception, InputError)
    for command in (["list"], ["revoke", "ci"]):  # looking makes no folder
        assert isinstance(asker.invoke(tokens.app, [*command, "--home", str(tmp_path / "x")]).exception, InputError)
    assert not (tmp_path / "x").exists()


SLOW = """
import sys, time, types
from fastapi import APIRouter
from lydite.cli import main
from lydite.server import app, running

router = APIRouter()

@router.get("/slow")
def slow():
    print("asked", flush=True)
    time.sleep(60)

app.ROUTES = (*app.ROUTES, types.SimpleNamespace(router=router))
running.CLOSING_SECONDS, running.ENDING_SECONDS = 1, 2
main(["serve", "--home", sys.argv[1], "--port", "0", "--json"])
"""


def test_work_that_does_not_end_does_not_keep_it(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    url = json.loads(process.stdout.readline())["url"]
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as own:
        own.sendall(b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert process.stdout.readline() == "asked\n"
        begun = time.monotonic()
        process.terminate()
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (0, "")
    assert time.monotonic() - begun < 20


def test_without_its_libraries_the_extra_is_named() -> None:
    code = "import sys; sys.modules['fastapi'] = None; from lydite.cli import main; main(['serve'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'lydite[server]'" in done.stderr


def test_starting_imports_nothing_that_it_does_not_need() -> None:
    code = "import sys, lydite.server.running; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"torch", "transformers", "trl", "pandas", "pyarrow", "alembic", "sympy", "sqlglot", "openai", "pytest"}
    assert not heavy & set(done.stdout.split())


def test_tokens_need_no_server() -> None:
    code = "import sys, lydite.server.tokens; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"fastapi", "uvicorn", "sqlalchemy"} & set(done.stdout.split())


def test_what_goes_wrong_with_a_folder_is_told_once_and_followed_on(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    good, calls = service.index.refresh, 0

    def refresh(run: str | None = None) -> list[str]:
        nonlocal calls
        calls += 1
        if calls < 5:
            raise OSError("no such disk")
        return good(run)

    monkeypatch.setattr(service.index, "refresh", refresh)
    with TestClient(create_app(service), base_url="http://127.0.0.1:7799") as client:
        sampled(service.home.path, "late", tasks=1)
        end = time.monotonic() + 20
        while client.get("/v1/rlvr/runs/late").status_code != 200:
            assert time.monotonic() < end
            time.sleep(0.02)
    told = [record for record in caplog.records if "cannot be followed" in record.getMessage()]
    assert len(told) == 1


def test_reading_a_large_folder_does_not_hold_the_end_up(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    go, asked = threading.Event(), threading.Event()

    def refresh(run: str | None = None) -> list[str]:
        asked.set()
        go.wait(60)
        return []

    monkeypatch.setattr(service.index, "refresh", refresh)
    with TestClient(create_app(service), base_url="http://127.0.0.1:7799") as client:
        assert client.get("/healthz").status_code == 200
        assert asked.wait(10)
        begun = time.monotonic()
    go.set()
    assert time.monotonic() - begun < 20
