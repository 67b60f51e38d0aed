"""DuckDB, as a place where a query can do nothing but read. Needs the extra ``duckdb``.

Covered: files, extensions, settings and the variables of this process are out of reach; every query gets a database of
its own, made from the set-up; one statement of kind SELECT; a limit on memory. Not covered: DuckDB counts no steps, so
that the processor time of the process is what ends a long query, and the edge of that is not exact.

Source: https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import duckdb

from lydite.verifiers.sql.query import called
from lydite.verifiers.sql.rows import Database, Limits, Other, QueryError, Ran, quoted, taken

MEMORY = "256MB"
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": MEMORY,
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
}
_CLOSED = "SET enable_progress_bar = false; SET temp_directory = ''; SET enable_external_access = false"
"""In this order; and not among the settings above, which do not keep theirs."""
_FORBIDDEN = frozenset(
    """RANDOM SETSEED UUID UUIDV4 UUIDV7 GEN_RANDOM_UUID NEXTVAL CURRVAL NOW TODAY GET_CURRENT_TIME
    GET_CURRENT_TIMESTAMP TRANSACTION_TIMESTAMP TXID_CURRENT CURRENT_SETTING GETENV GETVARIABLE CHECKPOINT
    FORCE_CHECKPOINT WRITE_LOG ENABLE_LOGGING DISABLE_LOGGING TRUNCATE_DUCKDB_LOGS PARSE_DUCKDB_LOG_MESSAGE
    DUCKDB_LOGS SLEEP_MS""".split()  # noqa: SIM905
)
"""Functions of chance, of the present time, with effects, or that tell about the process."""


class DuckEngine:
    """See :class:`~lydite.verifiers.sql.rows.Engine`. The image is the set-up script."""

    def prepare(self, setup: str) -> Database:
        connection = _made(setup.encode())
        try:
            found = connection.execute(
                "SELECT table_name FROM duckdb_tables() UNION SELECT view_name FROM duckdb_views() WHERE NOT internal"
            ).fetchall()
        finally:
            connection.close()
        return Database(setup.encode(), tuple(sorted(name.lower() for (name,) in found)))

    def twins(self, database: Database) -> list[Database]:
        connection = _made(database.image)
        try:
            listed = "SELECT schema_name, table_name FROM duckdb_tables() ORDER BY table_oid"
            names = connection.execute(listed).fetchall()
        finally:
            connection.close()
        found: list[Database] = []
        for kept in (0, 1):
            tables = [f"{quoted(schema)}.{quoted(name)}" for schema, name in names]
            deletes = "".join(f"\n;DELETE FROM {table} WHERE rowid % 2 = {kept};" for table in tables)  # noqa: S608
            twin = database.image + deletes.encode()
            try:
                _made(twin).close()
            except QueryError:  # keys that refer to what is gone
                return []
            found.append(Database(twin, database.tables))
        return found

    def run(self, database: Database, sql: str, limits: Limits) -> Ran:
        bad = sorted(called(sql) & _FORBIDDEN)
        if bad:
            raise QueryError("forbidden_function", f"calls {bad[0].lower()}")
        connection = _made(database.image)
        try:
            statements = connection.extract_statements(sql)
            if len(statements) != 1:
                raise QueryError("several_statements", "one query is asked for")
            if statements[0].type != duckdb.StatementType.SELECT:
                raise QueryError("not_a_select", f"is a statement of kind {statements[0].type.name}")
            read = {name.lower().rpartition(".")[2] for name in connection.get_table_names(sql)}
            connection.execute(statements[0])
            columns = tuple(str(column[0]) for column in connection.description or ())
            rows = [tuple(map(_plain, row)) for row in taken(_fetched(connection), limits)]
            return Ran(columns, rows, frozenset(read & set(database.tables)))
        except duckdb.Error as error:
            raise _refused(error) from None
        except (ValueError, OverflowError, UnicodeError) as error:  # a date that Python does not have
            raise QueryError("sql_error", str(error)[:200]) from None
        finally:
            connection.close()


def _fetched(connection: duckdb.DuckDBPyConnection) -> Any:
    while rows := connection.fetchmany(1000):
        yield from rows


def _made(image: bytes) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config=_SETTINGS)
    try:
        connection.execute(_CLOSED)
        connection.execute(image.decode())
        connection.execute("SET lock_configuration = true")
    except duckdb.Error as error:
        connection.close()
        raise _refused(error) from None
    return connection


def _refused(error: duckdb.Error) -> QueryError:
    if isinstance(error, duckdb.OutOfMemoryException):
        return QueryError("resource", "needs more memory than it may")
    reason = "forbidden" if isinstance(error, duckdb.PermissionException) else "sql_error"
    return QueryError(reason, str(error).partition("\n")[0][:200])


def _plain(value: Any) -> Any:
    """A cell. Decimals are numbers as all others; what is neither number, text nor bytes keeps its type."""
    kind = type(value)
    if value is None or kind is str or kind is bytes:
        return value
    if kind is bool:
        return Other("bool", str(value))
    if kind is int:
        return value if -(2**63) <= value < 2**63 else Other("int", str(value))
    if kind is float:
        return Other("float", "nan") if math.isnan(value) else value
    if kind is Decimal:
        return _plain(int(value)) if value == value.to_integral_value() else float(value)
    return Other(kind.__name__, str(value))
