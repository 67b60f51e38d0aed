"""Opening the database and bringing its tables to today's shape."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, OperationalError

from lydite.errors import InputError, LyditeError, MissingExtraError
from lydite.ledger.files import storage
from lydite.server.database.tables import HEAD
from lydite.server.home import Home

MIGRATIONS = Path(__file__).parent / "migrations"
_WRITING = "lydite_writing"
_LOCK = 0x6C79646974  # of PostgreSQL, held while tables change
_BUSY_SECONDS = 10
_SIDES = ("", "-wal", "-shm", "-journal")
"""What SQLite keeps beside a database, by what is added to its name."""


class BrokenIndexError(LyditeError):
    """The index is not a database that can be used. It holds nothing that the folders do not.

    Attributes:
        reason: why, in a few words.
        held: whether it may be in order, but another program holds it.
    """

    def __init__(self, reason: str, *, held: bool = False) -> None:
        self.reason, self.held = reason, held
        remedy = "end that program, then perhaps" if held else "make it again:"
        super().__init__(f"{reason} ({remedy} `lydite index rebuild`)")


class _Engine(Engine):
    """Transactions that are begun in so many words (``begin``) are there to write, and held from their beginning.

    With SQLite a transaction that reads first and writes later fails where somebody else wrote in between; such a one
    waits for its turn before it reads. Whoever only reads uses ``connect``, and waits for nobody.
    """

    @contextlib.contextmanager
    def begin(self) -> Iterator[Connection]:
        with self.connect() as plain:
            connection = plain.execution_options(**{_WRITING: True})
            with connection.begin():
                yield connection


def open_engine(home: Home, url: str = "") -> Engine:
    """The database of a home, its tables brought to today's shape.

    Args:
        home: whose.
        url: SQLAlchemy URL; empty for ``index.sqlite3`` in the private folder. ``postgresql://`` means psycopg.

    Raises:
        InputError: the URL is none, or nothing answers there.
        BrokenIndexError: the file is damaged, or another program holds it.
            Also where a newer Lydite made the tables.
    """
    engine = _engine(home, url)
    try:
        _upgrade(engine)
    except DatabaseError as error:
        engine.dispose()
        raise _unusable(engine, error) from error
    except BaseException:
        engine.dispose()
        raise
    return engine


def remove_broken(home: Path, url: str = "") -> bool:
    """Take the file of a home's own index out of the way; whether there was one. One elsewhere is left alone."""
    if url:
        return False
    found = False
    for side in _SIDES:
        path = home / ".lydite" / f"index.sqlite3{side}"
        with storage(path), contextlib.suppress(FileNotFoundError):
            path.unlink()
            found = True
    return found


def _engine(home: Home, url: str) -> Engine:
    if not url:
        path = home.private / "index.sqlite3"
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISREG(path.lstat().st_mode):
                raise BrokenIndexError(f"{path} is no regular file")
        url = f"sqlite:///{path}"
    if url.startswith(("postgresql://", "postgres://")):
        url = f"postgresql+psycopg://{url.partition('://')[2]}"
    try:
        if url.startswith("sqlite"):
            plain = create_engine(url, pool_size=8, max_overflow=64, connect_args={"timeout": _BUSY_SECONDS})
            engine: Engine = _Engine(plain.pool, plain.dialect, plain.url)
            event.listen(engine, "connect", _pragmas)
            event.listen(engine, "begin", _begin)
        else:
            engine = create_engine(url, pool_size=8, max_overflow=64, pool_pre_ping=True)
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        raise InputError(
            f"no URL of a database: {error}", field="--database", remedy="postgresql+psycopg://USER@HOST/NAME"
        ) from None
    except ImportError as error:
        raise MissingExtraError("PostgreSQL", "postgres") from error
    if engine.dialect.name not in ("sqlite", "postgresql"):
        raise InputError(f"{engine.dialect.name} is not supported", field="--database", remedy="SQLite or PostgreSQL")
    return engine


def _pragmas(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where `_begin` says, tables included
    cursor = connection.cursor()
    for pragma in (f"busy_timeout={_BUSY_SECONDS * 1000}", "journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.execute("PRAGMA cache_size=-32768")  # 32 MiB
    cursor.execute("PRAGMA temp_store=MEMORY")
    cursor.close()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITING)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _upgrade(engine: Engine) -> None:
    """Alembic is imported only where there is something for it to do: it takes its time."""
    with engine.connect() as connection:
        if _revision(connection) == HEAD:
            return
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        found = _revision(connection)
        if found == HEAD:  # another process was quicker
            return
        from lydite.server.database.migrating import knows, upgrade

        if found is not None and not knows(found):
            raise BrokenIndexError(
                f"the index was made by a newer Lydite, tables of revision {found[:40]!r}: update Lydite"
            )
        upgrade(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _unusable(engine: Engine, error: DatabaseError) -> LyditeError:
    told = str(error.orig).strip().splitlines()
    reason = told[0] if told else type(error.orig).__name__
    if engine.dialect.name != "sqlite":
        if isinstance(error, OperationalError):
            return InputError(f"the database does not answer: {reason}", field="--database", remedy="is it running?")
        return BrokenIndexError(f"the index cannot be used: {reason}")
    path = engine.url.database
    if "locked" in reason or "busy" in reason:
        return BrokenIndexError(f"{path} is locked by another program", held=True)
    return BrokenIndexError(f"{path} cannot be used: {reason}")
