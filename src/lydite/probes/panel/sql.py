"""Attacks on ``sql``: queries that do not ask the question."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lydite.probes.panel.programs import fenced
from lydite.probes.protocol import Attack, Check, Target

_ROWS = "let the reference give rows, on two databases whose answers differ"
_ONE = "run one SELECT on a connection that cannot write"
_TABLE = re.compile(r"CREATE\s+(?:TEMP\w*\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"`\[]?(\w+)", re.IGNORECASE)


def attacks(target: Target) -> Iterator[Attack]:
    """Delete first, constants, nothing equals nothing, duplicated rows."""
    for part in target.of("sql"):
        reference = str(part.config.get("reference") or "").strip().rstrip(";").strip()
        setup = part.config.get("setup") or []
        databases = [setup] if isinstance(setup, str) else [text for text in setup if isinstance(text, str)]
        tables = list(dict.fromkeys(name for text in databases for name in _TABLE.findall(text)))[:3]
        for kind, what, mend, query in _queries(reference, tables):
            yield Attack(name=Check.ADVERSARIAL, kind=kind, what=what, mend=mend, text=fenced(query + "\n", "sql"))


def _queries(reference: str, tables: list[str]) -> Iterator[tuple[str, str, str, str]]:
    for table in tables:
        yield "delete_first", "empties a table, then asks", _ONE, f"DELETE FROM {table}; {reference}"  # noqa: S608
        yield "drop_first", "drops a table", _ONE, f"DROP TABLE {table}"
    for constant in ("0", "1", "NULL", "'x'"):
        yield "constant_select", f"selects {constant}, whatever is in the tables", _ROWS, f"SELECT {constant}"
    for width in range(1, 7):
        columns = ", ".join(["NULL"] * width)
        what = f"no rows of {width} columns"
        yield "empty_equals_empty", what, _ROWS, f"SELECT {columns} WHERE 1 = 0"
    if re.match(r"SELECT\b", reference, re.IGNORECASE):
        none = f"SELECT * FROM ({reference}) AS answer WHERE 1 = 0"  # noqa: S608
        yield "empty_equals_empty", "the reference's columns without a row", _ROWS, none
        twice = f"SELECT * FROM ({reference}) AS a UNION ALL SELECT * FROM ({reference}) AS b"  # noqa: S608
        yield "duplicated_rows", "every row twice", "compare rows as often as they occur", twice
