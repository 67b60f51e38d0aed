"""What the engines hand over, and how they refuse."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import msgspec

Row = tuple[Any, ...]
"""Cells: ``None``, int, float, str, bytes, and :class:`Other`."""


class Other(NamedTuple):
    """A cell of a kind that SQLite does not have: a truth value, a date, a list."""

    kind: str
    text: str


MAX_ROWS = 100_000
"""Rows of a reference's result."""
MAX_BYTES = 32_000_000
"""Bytes of text and blobs of one result."""


class QueryError(Exception):
    """A query that gives no result. ``reason``: ``sql_error``, ``forbidden``, ``forbidden_function``,
    ``not_a_select``, ``several_statements``, ``timeout``, ``resource``."""

    def __init__(self, reason: str, evidence: str) -> None:
        self.reason, self.evidence = reason, evidence
        super().__init__(evidence)


class Limits(NamedTuple):
    """What a query may use: rows that it may return, steps of the engine's machine that it may take."""

    rows: int
    steps: int


class Ran(NamedTuple):
    """A result: names of its columns, its rows (one more than allowed where there are more), the tables of the database
    that were read."""

    columns: tuple[str, ...]
    rows: list[Row]
    read: frozenset[str]


class Database(msgspec.Struct, frozen=True, array_like=True):
    """A database as it stands after its set-up. ``image``: what the engine makes a copy from; ``tables``: names of
    tables and views, in lower case."""

    image: bytes
    tables: tuple[str, ...]


class Engine(Protocol):
    """One kind of database."""

    def prepare(self, setup: str) -> Database:
        """The database that a set-up script makes.

        Raises:
            QueryError: the script fails.
        """
        ...

    def twins(self, database: Database) -> list[Database]:
        """Databases of the same schema with about half of the rows of each table; none where that cannot be done."""
        ...

    def run(self, database: Database, sql: str, limits: Limits) -> Ran:
        """The result of one query on a copy of its own.

        Raises:
            QueryError: there is none, by the query's doing.
        """
        ...


def quoted(name: str) -> str:
    """A name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def taken(rows: Any, limits: Limits) -> list[Row]:
    """Rows from a cursor, up to the limits.

    Raises:
        QueryError: they hold more text than they may.
    """
    found: list[Row] = []
    size = 0
    for row in rows:
        found.append(row)
        for cell in row:
            if isinstance(cell, str | bytes):
                size += len(cell)
        if size > MAX_BYTES:
            raise QueryError("resource", "the result is larger than it may be")
        if len(found) > limits.rows:
            break
    return found
