"""Opening the database and bringing its tables to today's shape."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, create_engine, event

from lydite.server.database.tables import metadata
from lydite.server.home import Home


def open_engine(home: Home, url: str = "") -> Engine:
    """The database of a home, with its tables.

    Args:
        home: whose.
        url: SQLAlchemy URL; empty for ``index.sqlite3`` in the private folder.
    """
    engine = create_engine(url or f"sqlite:///{home.private / 'index.sqlite3'}")
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _pragmas)
    metadata.create_all(engine)
    return engine


def _pragmas(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=10000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
