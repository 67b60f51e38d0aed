"""The index over PostgreSQL, where its programs are installed: a private server, on a socket of its own."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_index_contract import *  # noqa: F403
from server_index_contract import opened, various
from sqlalchemy import select

from lydite.server.database import tables
from lydite.server.database.engine import open_engine
from lydite.server.home import Home
from lydite.server.index import slices, storing
from lydite.server.index.index import Index

psycopg = pytest.importorskip("psycopg")
FILES = ("tasks.jsonl", "rollouts.jsonl", "ledger.jsonl", "metrics.jsonl")


def _programs() -> Path | None:
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists() and (place / "postgres").exists()), None)


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(_programs() is None, reason="the programs of PostgreSQL are not installed"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Path]:
    """The folder of a server that is thrown away, with its socket. It does not run as root: nobody does it then."""
    programs = _programs()
    assert programs is not None
    place = Path(tempfile.mkdtemp(prefix="lydite-pg-", dir="/tmp"))  # the path of a socket must be short
    common: dict[str, Any] = {"cwd": place, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}}
    if os.geteuid() == 0:
        account = pwd.getpwnam("nobody")
        os.chown(place, account.pw_uid, account.pw_gid)
        common |= {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    make = [programs / "initdb", "-D", "data", "-U", "lydite", "-A", "trust", "-E", "UTF8", "--no-sync"]
    made = subprocess.run(make, capture_output=True, check=False, **common)
    if made.returncode:
        shutil.rmtree(place)
        pytest.skip(f"no server of PostgreSQL can be made here: {made.stderr.decode()[-500:]}")
    options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={place}", "-c", "fsync=off"]
    with open(place / "log", "wb") as log:
        running = subprocess.Popen([programs / "postgres", "-D", "data", *options], stdout=log, stderr=log, **common)
    try:
        while subprocess.run([programs / "pg_isready", "-q", "-h", place], check=False).returncode:
            assert running.poll() is None, (place / "log").read_text()
            time.sleep(0.1)
        yield place
    finally:
        running.terminate()
        running.wait(30)
        shutil.rmtree(place)


@pytest.fixture(scope="module")
def template(server: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with tables, to be copied."""
    _create(server, "template_of_lydite", "template1")
    home = Home(tmp_path_factory.mktemp("template"))
    open_engine(home, _url(server, "template_of_lydite")).dispose()
    return "template_of_lydite"


def _create(server: Path, name: str, template: str) -> None:
    with psycopg.connect(host=str(server), user="lydite", dbname="postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")


def _url(server: Path, name: str) -> str:
    return f"postgresql://lydite@/{name}?host={server}"


_numbers = itertools.count()


@pytest.fixture
def url(server: Path, template: str) -> str:
    """A database of its own."""
    name = f"of_a_test_{next(_numbers)}"
    _create(server, name, template)
    return _url(server, name)


@pytest.fixture(scope="module")
def kept_url(server: Path, template: str) -> str:
    _create(server, "kept", template)
    return _url(server, "kept")


def _contents(index: Index) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    with index.engine.connect() as connection:
        for table in (tables.runs, *storing.OF_RUN):
            rows = connection.execute(select(table).order_by(*table.primary_key.columns)).mappings()
            found[table.name] = [{**row, "run": 0, "number": row.get("number", 0), "updated": 0} for row in rows]
    return found


def test_piece_by_piece_is_the_same_as_at_once_and_as_with_sqlite(
    index: Index, home: Path, templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "ROWS", 7)
    path = home / "runs" / "trained"
    path.mkdir()
    shutil.copy(templates / "trained" / "run.json", path)
    for part in (0.3, 0.65, 1):
        for name in FILES:
            text = (templates / "trained" / name).read_bytes()
            (path / name).write_bytes(text[: int(len(text) * part)])
        index.refresh()
    pieces = _contents(index)
    sqlite = opened(home)
    sqlite.refresh()
    assert pieces == _contents(sqlite)
    sqlite.engine.dispose()
    index.rebuild()
    again = _contents(index)
    assert {name: len(rows) for name, rows in again.items()} == {name: len(rows) for name, rows in pieces.items()}
    assert again["rollouts"] == pieces["rollouts"]


def test_two_services_take_in_everything_once(
    index: Index, home: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    monkeypatch.setattr(slices, "ROWS", 5)
    for name in ("a", "b"):
        various(home, name)
    others = [opened(home, url) for _ in range(2)]
    threads = [threading.Thread(target=one.refresh) for one in (index, *others)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [run.rollouts for run in index.runs().items] == [75, 75]
    assert sum(phase.n for phase in index.phases("a")) == 75
    for one in others:
        one.engine.dispose()
