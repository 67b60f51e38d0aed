"""What a configuration makes of a task: its databases, and what the reference gives on each.

All of it is computed before any candidate is seen, on connections that are closed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from lydite.errors import InputError
from lydite.verifiers.sql.compare import Expected, compare, plainly, same
from lydite.verifiers.sql.query import MAX_QUERY, clause, reads_clock, refusal
from lydite.verifiers.sql.rows import MAX_ROWS, Database, Engine, Limits, QueryError, Ran, Row

MAX_DATABASES = 32
REFERENCE_SHARE = 10
"""A reference must do with this fraction of a candidate's steps."""


class SqlConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Configuration of ``sql``.

    Attributes:
        setup: SQL scripts; each makes one database.
        reference: a query that is right.
        ordered: whether the order of rows counts; left out: where the reference has an ORDER BY of its own, not of a
            subquery.
        engine: what runs all this.
        tolerance: relative difference of numbers that is forgiven, where one of the two is a float.
        max_steps: steps of SQLite's machine that a candidate may take on one database.
    """

    setup: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MAX_DATABASES)]
    reference: str
    ordered: bool | None = None
    engine: Literal["sqlite", "duckdb"] = "sqlite"
    tolerance: Annotated[float, msgspec.Meta(ge=0, lt=0.5)] = 1e-9
    max_steps: Annotated[int, msgspec.Meta(ge=10_000, le=10**10)] = 50_000_000


class Prepared(msgspec.Struct, frozen=True, array_like=True):
    """All that judging needs.

    Attributes:
        twins: databases on which a literal answer gives itself away; only where the reference gives the same on all
            databases of the configuration.
    """

    engine: str
    databases: list[Database]
    expected: list[Expected]
    twins: list[Database]
    tolerance: float
    max_steps: int


def engine_named(name: str) -> Engine:
    """The engine; its library is imported when it is first asked for."""
    if name == "duckdb":
        from lydite.verifiers.sql.duck import DuckEngine

        return DuckEngine()
    from lydite.verifiers.sql.sqlite import SQLiteEngine

    return SQLiteEngine()


def prepare(config: SqlConfig) -> Prepared:
    """Build the databases and run the reference.

    Raises:
        InputError: a set-up fails; the reference is no query, fails, reads no table, is not deterministic, gives no
            row on any database, or the same answer on all databases and on copies with half of their rows.
    """
    _check_text(config.reference)
    engine = engine_named(config.engine)
    limits = Limits(MAX_ROWS, config.max_steps // REFERENCE_SHARE)
    databases: list[Database] = []
    for index, script in enumerate(config.setup):
        try:
            databases.append(engine.prepare(script))
        except QueryError as error:
            raise InputError(
                f"the set-up fails: {error.evidence}",
                field=f"setup.{index}",
                remedy="each entry makes a whole database; put its statements into one text",
            ) from None
    results = [_reference(engine, database, config, limits) for database in databases]
    if not any(result.read for result in results):
        raise InputError("reads no table", field="reference", remedy="a literal answer would be as right")
    if not any(result.rows for result in results):
        raise InputError("gives no row on any database", field="reference", remedy="add rows that it finds")
    expected = [
        _expected(engine, database, config, result, limits) for database, result in zip(databases, results, strict=True)
    ]
    return Prepared(
        engine=config.engine,
        databases=databases,
        expected=expected,
        twins=_twins(engine, databases, config.reference, results, limits),
        tolerance=config.tolerance,
        max_steps=config.max_steps,
    )


def _check_text(reference: str) -> None:
    if len(reference) > MAX_QUERY:
        raise InputError(f"has more than {MAX_QUERY} characters", field="reference", remedy="shorten it")
    reason = refusal(reference)
    if reason is not None:
        said = {"several_statements": "holds several statements", "not_a_select": "does not only read"}
        remedy = "give one SELECT, WITH ... SELECT or VALUES"
        raise InputError(said.get(reason, "is no query"), field="reference", remedy=remedy)
    if reads_clock(reference):
        raise InputError("depends on the present time", field="reference", remedy="write the date into it")


def _reference(engine: Engine, database: Database, config: SqlConfig, limits: Limits) -> Ran:
    try:
        result = engine.run(database, config.reference, limits)
        again = engine.run(database, config.reference, limits)
    except QueryError as error:
        remedy = _REMEDIES.get(error.reason)
        raise InputError(f"{error.reason}: {error.evidence}", field="reference", remedy=remedy) from None
    if len(result.rows) > MAX_ROWS:
        raise InputError(f"gives more than {MAX_ROWS} rows", field="reference", remedy="ask for fewer")
    if result.rows != again.rows:
        raise InputError("gives another result each time", field="reference", remedy="no random(), no present time")
    return result


_REMEDIES = {
    "timeout": "smaller databases, a cheaper reference, or a larger max_steps",
    "resource": "smaller databases, or a smaller result",
    "forbidden_function": "it may use what a candidate may use: docs/verdicts.md",
    "sql_error": "run it on the databases of setup",
}


def _expected(engine: Engine, database: Database, config: SqlConfig, result: Ran, limits: Limits) -> Expected:
    has_order, has_limit = clause(config.reference, "ORDER", "BY"), clause(config.reference, "LIMIT")
    ordered = has_order if config.ordered is None else config.ordered
    strict = plainly(len(result.columns), result.rows, ordered)
    if ordered and not has_order:  # by decree: as the reference's plan happens to have it
        return strict
    if not has_limit and not ordered:
        return strict
    from lydite.verifiers.sql.order import ranked  # its parser takes long to load

    for way in ranked(config.reference, config.engine, result.columns, has_order):
        try:
            rows = engine.run(database, way.sql, limits).rows
        except QueryError:
            continue
        if len(rows) > MAX_ROWS or not all(isinstance(row[-1], int) for row in rows):
            continue
        rows = sorted(rows, key=lambda row: row[-1])
        ranks = [int(row[-1]) for row in rows]
        count = max(0, len(rows) - way.start if way.limit is None else min(way.limit, len(rows) - way.start))
        expected = Expected(strict.width, [row[:-1] for row in rows], ranks, way.start, count, ordered)
        if compare(expected, strict.width, result.rows, 0.0) is None:
            return expected
    return strict


def _twins(
    engine: Engine, databases: Sequence[Database], reference: str, results: Sequence[Ran], limits: Limits
) -> list[Database]:
    """Copies with half of the rows, of the first database that has some on which the reference's answer changes; none
    where it is not the same on all databases anyway.

    Raises:
        InputError: it changes on no copy at all, so that it could be written down as a literal.
    """
    first = results[0].rows
    if not all(same(result.rows, first) for result in results[1:]):
        return []
    ran = False
    for database in databases:
        found: list[Database] = []
        for twin in engine.twins(database):
            try:
                rows: list[Row] = engine.run(twin, reference, limits).rows
            except QueryError:
                continue
            ran = True
            if not same(rows, first):
                found.append(twin)
        if found:
            return found
    if ran:
        raise InputError(
            "the reference's answer never changes: it is the same on all databases, and with half of their rows",
            field="reference",
            remedy="give data on which it differs, as another entry of setup: a literal would be as right",
        )
    return []
