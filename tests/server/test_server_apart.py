"""Checkers of strangers that take for ever to build: nothing of the service waits for them, nothing is left behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from lydite.errors import InputError, LyditeError
from lydite.server import apart
from lydite.server.app import create_app
from lydite.server.errors import ApiError
from lydite.server.service import Service
from lydite.server.settings import Settings
from lydite.task import Checker
from lydite.verifiers.chunks import Clock


def long_to_build() -> dict[str, Any]:
    """Forty definitions that name the one before them twice, for members: held against forty levels."""
    twice = [{"properties": {"a": {"$ref": f"#/$defs/d{at}"}}} for at in range(40)]
    defs = {f"d{at + 1}": {"allOf": [twice[at], twice[at]]} for at in range(40)} | {"d0": {"type": "integer"}}
    deep: Any = 0
    for _ in range(40):
        deep = {"a": deep}
    return {"type": "json_schema", "config": {"schema": {"$defs": defs, "$ref": "#/$defs/d40"}, "expected": deep}}


LONG = {"prompt": "Give JSON.", "checker": long_to_build()}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    service = Service(Settings(home=tmp_path_factory.mktemp("apart")))
    yield TestClient(create_app(service), base_url="http://127.0.0.1:7799")
    service.close()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart.apart, "__defaults__", (1.0,))


def wait(data: bytes, clock: Clock) -> bytes:
    time.sleep(float(data))
    return b"done"


def fail(data: bytes, clock: Clock) -> bytes:
    raise {
        b"input": InputError("bad", path=Path("a/b"), line=3, field="x.y", remedy="mend it"),
        b"api": ApiError(404, "gone", param="id", code="no"),
        b"other": ValueError("secret"),
    }[data]


def test_a_document_whose_checker_takes_for_ever_is_refused(site: TestClient, hurried: None) -> None:
    answer = site.post("/v1/rlvr/tasks", json={"task": LONG})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "task.checker")
    assert "takes longer than" in answer.json()["error"]["message"]


def test_so_is_one_that_would_be_judged_by(hurried: None) -> None:
    with pytest.raises(apart.TooLongError) as caught:
        apart.built(Checker(**long_to_build()))
    assert (caught.value.field, caught.value.remedy) == ("checker", "make it smaller")


def test_what_is_bounded_is_built_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_pools", None)
    assert apart.built(Checker(type="math", config={"answer": "42"})).id.startswith("math@")


def test_others_are_built_to_the_same_apart() -> None:
    found = apart.built(Checker(type="json_schema", config={"schema": {"type": "object"}}))
    assert found.id == "json_schema@1"
    assert len(found.source) == 64


def test_errors_come_back_as_they_were_raised() -> None:
    with pytest.raises(InputError) as bad:
        apart.apart(f"{__name__}:fail", b"input")
    assert (bad.value.message, bad.value.path, bad.value.line) == ("bad", "a/b", 3)
    assert (bad.value.field, bad.value.remedy) == ("x.y", "mend it")
    with pytest.raises(ApiError) as gone:
        apart.apart(f"{__name__}:fail", b"api")
    assert (gone.value.status, gone.value.param, gone.value.code) == (404, "id", "no")
    with pytest.raises(LyditeError, match=r"^ValueError$"):
        apart.apart(f"{__name__}:fail", b"other")


def test_more_than_may_wait_are_told_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "WAITING", 0)
    with pytest.raises(ApiError, match="come again") as caught:
        apart.apart(f"{__name__}:wait", b"0")
    assert (caught.value.status, caught.value.code) == (503, "busy")


def test_calls_beyond_the_places_have_their_turn() -> None:
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(apart.apart(f"{__name__}:wait", b"0.2"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [b"done"] * 4


HOLD = """
import os, sys, threading
from lydite.server import apart
threading.Thread(target=apart.apart, args=("{name}:hold", sys.argv[1].encode()), daemon=True).start()
sys.stdin.read()
os._exit(0)
"""


def hold(data: bytes, clock: Clock) -> bytes:
    """Hold the interpreter's lock for minutes, in C."""
    Path(data.decode()).write_text(str(os.getpid()))
    return b"%d" % sum(1 for _ in [re.fullmatch("(a+)+b", "a" * 40)])


def test_a_process_that_holds_the_lock_ends_with_the_service(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", HOLD.format(name=__name__), str(note)]
    service = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
    until = time.monotonic() + 60
    while not (note.exists() and note.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.2)
    service.kill()
    service.communicate()
    process = Path(f"/proc/{note.read_text()}/stat")
    while process.exists() and process.read_text().split()[2] != "Z" and time.monotonic() < until:
        time.sleep(0.05)
    assert not process.exists() or process.read_text().split()[2] == "Z"
