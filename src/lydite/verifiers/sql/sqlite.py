"""SQLite, as a place where a query can do nothing but read.

Covered: every query runs on a copy of its own, in memory, read-only, under an authoriser with a list of what is allowed
(reading tables and the schema, functions by name, recursion), with limits on steps, memory, lengths and nesting. The
steps and the memory are counted, not timed: the same query always ends the same way. The schema is the task's own: its
views may call what a query may call, and nothing else. Not covered: faults of SQLite itself; the process that this runs
in has limits of its own for that.

Source: https://www.sqlite.org/security.html, "Untrusted SQL Inputs".
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from lydite.verifiers.sql.rows import Database, Limits, QueryError, Ran, quoted, taken

HEAP_BYTES = 256_000_000
"""Memory that SQLite may use in this process, the database included."""
MAX_IMAGE = 32_000_000
"""Bytes of a database."""
MAX_CELL = 1_000_000
"""Bytes of one text or blob, also of what stands between."""
_PERIOD = 1000  # steps between two looks at their number

_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_CELL,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 200_000,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 200,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

FUNCTIONS = frozenset(
    # https://www.sqlite.org/lang_corefunc.html, lang_aggfunc, windowfunctions, lang_datefunc, lang_mathfunc, json1,
    # fts5: those that neither have effects, nor are of chance, nor tell about the process.
    """abs char coalesce concat concat_ws format glob hex if ifnull iif instr length like likelihood likely lower ltrim
    match max min nullif octet_length printf quote replace round rtrim sign soundex substr substring subtype trim typeof
    unhex unicode unistr unistr_quote unlikely upper zeroblob -> ->>
    avg count group_concat median percentile percentile_cont percentile_disc string_agg sum total
    row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
    date time datetime julianday unixepoch strftime timediff
    acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power
    radians sin sinh sqrt tan tanh trunc
    json json_array json_array_length json_error_position json_extract json_group_array json_group_object json_insert
    json_object json_patch json_pretty json_quote json_remove json_replace json_set json_type json_valid jsonb
    jsonb_array jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch jsonb_remove
    jsonb_replace jsonb_set
    bm25 highlight snippet matchinfo offsets""".split()  # noqa: SIM905
)
_SCHEMA = frozenset({"sqlite_master", "sqlite_schema"})
_READABLE = _SCHEMA | {"sqlite_temp_master", "sqlite_temp_schema", "json_each", "json_tree", "jsonb_each", "jsonb_tree"}
_WRITES = frozenset({sqlite3.SQLITE_DELETE, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE})
_HARMFUL_PRAGMAS = frozenset({"temp_store_directory", "data_store_directory", "hard_heap_limit", "soft_heap_limit"})
_HARMFUL_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer"})


def _connect(image: bytes | None = None) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
    if image is not None:
        connection.deserialize(image)
    # Sorting stays in memory, where it is counted. The heap limit is the process's: setting it again changes nothing.
    connection.execute(f"PRAGMA hard_heap_limit={HEAP_BYTES}")
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    return connection


def _setting_up(action: int, first: Any, second: Any, *_: Any) -> int:
    """What a set-up script may do: all but reach out of its database."""
    if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH):
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_PRAGMA and str(first).lower() in _HARMFUL_PRAGMAS:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and str(second).lower() in _HARMFUL_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


class _Reader:
    """Authoriser and step counter of one query."""

    def __init__(self, tables: tuple[str, ...], steps: int) -> None:
        self.tables, self.limit = frozenset(tables), steps
        self.steps = 0
        self.read: set[str] = set()
        self.denied: tuple[str, str] | None = None

    def authorise(self, action: int, first: Any, second: Any, *_: Any) -> int:
        if action == sqlite3.SQLITE_READ:
            table = str(first).lower()
            if table in self.tables:
                self.read.add(table)
                return sqlite3.SQLITE_OK
            # No column: rows are counted, also those of a subquery, under the name that the query gives it.
            return sqlite3.SQLITE_OK if table in _READABLE or not second else self._deny("forbidden", f"reads {table}")
        if action == sqlite3.SQLITE_FUNCTION:
            name = str(second).lower()
            return sqlite3.SQLITE_OK if name in FUNCTIONS else self._deny("forbidden_function", f"calls {name}")
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_UPDATE and str(first).lower() in _SCHEMA:
            return sqlite3.SQLITE_OK  # how a table-valued function is declared; the schema itself is not writable
        if action == sqlite3.SQLITE_PRAGMA and str(first).lower() == "data_version" and second is None:
            return sqlite3.SQLITE_OK  # asked by full-text search
        if action in _WRITES:
            return self._deny("not_a_select", f"writes to {first}")
        return self._deny("forbidden", f"does what is not reading ({action})")

    def _deny(self, reason: str, evidence: str) -> int:
        self.denied = self.denied or (reason, evidence[:200])
        return sqlite3.SQLITE_DENY

    def step(self) -> bool:
        self.steps += _PERIOD
        return self.steps > self.limit


class SQLiteEngine:
    """See :class:`~lydite.verifiers.sql.rows.Engine`. The image is SQLite's serialisation."""

    def prepare(self, setup: str) -> Database:
        return self._made(lambda connection: connection.executescript(setup))

    def twins(self, database: Database) -> list[Database]:
        found: list[Database] = []
        for kept in (0, 1):
            try:
                found.append(self._made(partial(_halve, kept), database.image))
            except QueryError:  # a table without row ids, a virtual table
                return []
        return found

    def _made(self, change: Callable[[sqlite3.Connection], object], image: bytes | None = None) -> Database:
        connection = _connect(image)
        try:
            connection.set_authorizer(_setting_up)
            change(connection)
            if connection.in_transaction:
                connection.execute("COMMIT")
            names = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            tables = tuple(sorted(name.lower() for (name,) in names if not name.startswith("sqlite_")))
            made = connection.serialize()
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError) as error:
            raise QueryError("sql_error", str(error)[:200] or "it needs too much memory") from None
        finally:
            connection.close()
        if len(made) > MAX_IMAGE:
            raise QueryError("resource", f"the database has more than {MAX_IMAGE} bytes")
        return Database(made, tables)

    def run(self, database: Database, sql: str, limits: Limits) -> Ran:
        connection = _connect(database.image)
        reader = _Reader(database.tables, limits.steps)
        try:
            for limit, value in _LIMITS.items():
                connection.setlimit(limit, value)
            connection.execute("PRAGMA query_only=ON")
            if sys.version_info >= (3, 12):
                connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
            connection.set_authorizer(reader.authorise)
            connection.set_progress_handler(reader.step, _PERIOD)
            cursor = connection.execute(sql)
            rows = taken(cursor, limits)
            return Ran(tuple(column[0] for column in cursor.description or ()), rows, frozenset(reader.read))
        except MemoryError:
            raise QueryError("resource", "needs more memory than it may") from None
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            raise _refused(error, reader) from None
        finally:
            connection.close()


def _refused(error: Exception, reader: _Reader) -> QueryError:
    code = getattr(error, "sqlite_errorname", "")
    if reader.denied is not None:
        return QueryError(*reader.denied)
    if code == "SQLITE_INTERRUPT":
        return QueryError("timeout", "takes more steps than it may")
    if code in ("SQLITE_TOOBIG", "SQLITE_NOMEM", "SQLITE_FULL") or "too big" in str(error):
        return QueryError("resource", "makes a value or a result that is larger than it may be")
    if isinstance(error, sqlite3.Warning) or "one statement" in str(error):
        return QueryError("several_statements", "one query is asked for")
    return QueryError("sql_error", str(error)[:200])


def _halve(kept: int, connection: sqlite3.Connection) -> None:
    """Delete every second row of each table."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%' LIMIT 1").fetchone():
        raise QueryError("sql_error", "virtual tables")
    connection.execute("PRAGMA foreign_keys=OFF")
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {quoted(name)}")
    listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
    for (name,) in connection.execute(listed).fetchall():
        table = quoted(name)
        numbered = f"SELECT rowid AS r, row_number() OVER (ORDER BY rowid) AS n FROM {table}"  # noqa: S608
        connection.execute(f"DELETE FROM {table} WHERE rowid IN (SELECT r FROM ({numbered}) WHERE n % 2 = {kept})")  # noqa: S608
