"""The database behind the index: tables and migrations agree, and what cannot be used is told with its remedy."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from server_index_contract import opened, various
from sqlalchemy import create_engine, insert, select, text

from lydite.cli import main
from lydite.errors import InputError, MissingExtraError
from lydite.server.database import engine as databases
from lydite.server.database import migrating, tables
from lydite.server.database.engine import BrokenIndexError, open_engine
from lydite.server.home import Home


def test_migrations_make_the_tables_that_the_code_speaks_of(home: Path) -> None:
    engine = open_engine(Home(home))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, tables.metadata) == []
        migrated = set(connection.execute(text("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")).scalars())
    engine.dispose()
    plain = create_engine("sqlite://")
    tables.metadata.create_all(plain)
    with plain.connect() as connection:
        made = set(connection.execute(text("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")).scalars())

    def shape(statement: str) -> str:
        return "".join(statement.split()).replace('"', "")

    assert {shape(one) for one in made} == {shape(one) for one in migrated if "alembic_version" not in one}


def test_the_newest_revision_is_known_without_alembic() -> None:
    assert ScriptDirectory(str(databases.MIGRATIONS)).get_heads() == [tables.HEAD]
    assert migrating.knows(tables.HEAD)


def test_alembic_is_imported_only_where_there_is_something_for_it_to_do(home: Path) -> None:
    open_engine(Home(home)).dispose()
    code = (
        "import sys; from pathlib import Path; from lydite.server.home import Home;"
        "from lydite.server.database.engine import open_engine; open_engine(Home(Path(sys.argv[1])));"
        "assert 'alembic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(home)], check=True)


def test_several_that_open_a_new_home_at_once_all_get_it(home: Path) -> None:
    place, found = Home(home), []
    threads = [threading.Thread(target=lambda: found.append(open_engine(place))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for engine in found:
        engine.dispose()


def test_what_is_written_stays_where_it_is_opened_again(home: Path) -> None:
    engine = open_engine(Home(home))
    with engine.begin() as connection:
        connection.execute(insert(tables.marks).values(name="x", value=1))
    engine.dispose()
    again = open_engine(Home(home))
    with again.connect() as connection:
        assert connection.execute(select(tables.marks.c.value)).scalar() == 1
    again.dispose()


def test_one_that_reads_and_then_writes_waits_for_its_turn(home: Path) -> None:
    engine = open_engine(Home(home))
    with engine.begin() as connection:
        connection.execute(insert(tables.marks).values(name="n", value=0))

    def count() -> None:
        for _ in range(25):
            with engine.begin() as connection:
                value = connection.execute(select(tables.marks.c.value)).scalar_one()
                connection.execute(tables.marks.update().values(value=value + 1))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with engine.connect() as connection:
        assert connection.execute(select(tables.marks.c.value)).scalar() == 100
    engine.dispose()


def test_one_that_only_reads_waits_for_nobody(home: Path) -> None:
    engine = open_engine(Home(home))
    with engine.begin() as writer, engine.connect() as reader:
        writer.execute(insert(tables.marks).values(name="n", value=0))
        assert reader.execute(select(tables.marks.c.value)).all() == []
    engine.dispose()


def test_an_index_of_a_newer_lydite_is_refused(home: Path) -> None:
    engine = open_engine(Home(home))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(BrokenIndexError, match=r"newer Lydite.*9999.*update Lydite.*index rebuild") as told:
        open_engine(Home(home))
    assert told.value.exit_code == 2


@pytest.mark.parametrize("content", [b"no database, " * 500, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_told_with_the_remedy(home: Path, content: bytes) -> None:
    place = Home(home)
    (place.private / "index.sqlite3").write_bytes(content)
    with pytest.raises(BrokenIndexError, match=r"index\.sqlite3 cannot be used: .*lydite index rebuild"):
        open_engine(place)


@pytest.mark.parametrize("kind", ["fifo", "folder", "link"])
def test_what_is_no_regular_file_is_no_index(home: Path, kind: str) -> None:
    path = Home(home).private / "index.sqlite3"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(home / "elsewhere")
    with pytest.raises(BrokenIndexError, match="no regular file"):
        open_engine(Home(home))


def test_a_file_that_another_program_holds_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "_BUSY_SECONDS", 0)
    place = Home(home)
    holder = sqlite3.connect(place.private / "index.sqlite3")
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("CREATE TABLE mine (x)")
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(BrokenIndexError, match=r"locked by another program .*lydite index rebuild") as told:
        open_engine(place)
    assert told.value.held
    holder.close()


@pytest.mark.parametrize("url", ["nonsense", "mysql://x/y", "sqlite+nothing:///x", "postgresql+nothing://x/y", "://"])
def test_a_url_that_is_none_is_told(home: Path, url: str) -> None:
    with pytest.raises((InputError, MissingExtraError)):
        open_engine(Home(home), url)


def test_a_server_that_is_not_there_is_told(home: Path) -> None:
    pytest.importorskip("psycopg")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(InputError, match="does not answer"):
        open_engine(Home(home), f"postgresql://nobody@127.0.0.1:{port}/none")


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(words)
    return int(left.value.code or 0)


def test_rebuild_prints_what_there_is(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    various(home, "one")
    assert run("index", "rebuild", "--home", str(home), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found.pop("seconds") >= 0
    assert found == {"runs": 1, "rollouts": 75, "unreadable": 0, "documents": 0, "files": 0, "jobs": 0}
    assert run("index", "rebuild", "--home", str(home)) == 0
    assert capsys.readouterr().out == "1 runs, 75 rollouts, 0 unreadable, 0 documents, 0 files, 0 jobs\n"


def test_rebuild_puts_a_new_file_in_the_place_of_a_broken_one(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    various(home, "one")
    served = opened(home)
    served.refresh()
    (home / ".lydite" / "index.sqlite3").write_bytes(b"broken" * 1000)
    assert run("index", "rebuild", "--home", str(home), "--json") == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["rollouts"] == 75
    assert "a new one takes its place" in told.err
    various(home, "two")
    assert served.refresh() == ["two"]  # the service has moved to the new file
    fresh = opened(home)
    assert {one.id for one in fresh.runs().items} == {"one", "two"}
    for index in (served, fresh):
        index.engine.dispose()


def test_rebuild_makes_no_home_of_any_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("index", "rebuild", "--home", str(tmp_path)) == 2
    assert "no runs/ in it" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
