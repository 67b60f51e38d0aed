"""``sql``: a candidate's query, run beside a reference. See the package's docstring for what is covered."""

from __future__ import annotations

import hashlib
import importlib.util
import zlib
from typing import Any

import msgspec

from lydite.codec import well_formed
from lydite.errors import InputError, MissingExtraError, UnavailableError
from lydite.verdict import Part, Verdict
from lydite.verifiers.aside import Aside, LostError, OverBudgetError
from lydite.verifiers.fields import read_config
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.sql.find import find_query
from lydite.verifiers.sql.prepare import SqlConfig
from lydite.verifiers.sql.query import MAX_QUERY, reads_clock, refusal
from lydite.verifiers.sql.worker import UNKNOWN, Judged, Ready, Refused
from lydite.verifiers.text import is_refusal

CPU_SECONDS = {"sqlite": 10.0, "duckdb": 5.0}
"""Of one candidate, on all databases. In SQLite a query runs into its number of steps long before."""
PREPARE_SECONDS = 60.0
MEMORY_MB = 1024
SHOWN = 2000
"""Characters of the query that a verdict keeps."""

_ID = "sql@1"
_aside = Aside("lydite.verifiers.sql.worker:serve", memory_mb=MEMORY_MB)

_SETUP = """CREATE TABLE sales (id INTEGER PRIMARY KEY, shop TEXT, amount INTEGER);
INSERT INTO sales (shop, amount) VALUES ('north', 10), ('north', 32), ('south', 7), ('west', 5), ('south', 7);"""


class SqlVerifier:
    """The same rows as the reference, on every database."""

    name = "sql"
    version = 1
    waits = True
    modules = ("lydite.verifiers.sql", "lydite.verifiers.fences", "lydite.verifiers.marks", "lydite.verifiers.text")
    examples = (
        Example(
            config={
                "setup": [_SETUP],
                "reference": "SELECT shop, SUM(amount) AS total FROM sales GROUP BY shop ORDER BY total DESC",
            },
            prompt="Write one SQL query: each shop with the sum of its amounts, the largest sum first.",
            right="```sql\nSELECT shop, SUM(amount) FROM sales GROUP BY 1 ORDER BY 2 DESC;\n```",
            wrong="```sql\nSELECT shop, COUNT(*) FROM sales GROUP BY shop ORDER BY 2 DESC\n```",
            hacks={
                "literal answer": "VALUES ('north', 42), ('south', 14), ('west', 5)",
                "literal answer beside a table": (
                    "SELECT v.* FROM (VALUES ('north', 42), ('south', 14), ('west', 5)) v,"
                    " (SELECT COUNT(*) FROM sales) ORDER BY 2 DESC"
                ),
                "no rows": "SELECT 1, 2 WHERE 0",
                "delete first": "DELETE FROM sales; SELECT shop, amount FROM sales",
                "twice": (
                    "SELECT shop, SUM(amount) FROM sales GROUP BY 1 UNION ALL"
                    " SELECT shop, SUM(amount) FROM sales GROUP BY 1 ORDER BY 2 DESC"
                ),
            },
        ),
        Example(
            config={
                "setup": [
                    _SETUP,
                    "CREATE TABLE sales (id INTEGER PRIMARY KEY, shop TEXT, amount INTEGER);"
                    "INSERT INTO sales (shop, amount) VALUES ('east', 1), (NULL, 2);",
                ],
                "reference": "SELECT COUNT(*) FROM sales WHERE amount > 5",
            },
            prompt="Write one SQL query that counts the sales above 5.",
            right="SELECT SUM(CASE WHEN amount > 5 THEN 1 ELSE 0 END) FROM sales",
            wrong="SELECT COUNT(*) FROM sales",
            hacks={"literal answer": "SELECT 4", "literal answer beside a table": "SELECT 4 FROM sales LIMIT 1"},
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Build the databases and run the reference on each.

        Raises:
            InputError: names the field of the configuration that is wrong.
            MissingExtraError: the engine is not installed.
            UnavailableError: the process at the side cannot run.
        """
        settings = read_config(config, SqlConfig, self.name)
        if settings.engine == "duckdb" and importlib.util.find_spec("duckdb") is None:
            raise MissingExtraError("engine duckdb", "duckdb")
        prepared = _prepare(settings)
        key, packed = hashlib.sha256(prepared).digest(), zlib.compress(prepared, 1)

        def check(submission: Submission) -> Verdict:
            query = find_query(submission.text)
            if query is None:
                return Verdict.unparseable("refused" if is_refusal(submission.text) else "no_query", _ID)
            refused = _refused(query)
            if refused is not None:
                return refused
            try:
                judged = _judge(key, packed, query, CPU_SECONDS[settings.engine])
            except OverBudgetError as error:
                reason = "timeout" if error.what == "time" else "resource"
                detail = f"needs more {error.what} than it may"
                return Verdict.of(0.0, reason, _ID, extracted=_shown(query), detail=detail)
            except LostError as error:
                return Verdict.invalid("process_lost", _ID, detail=str(error)[:300])
            return _verdict(judged, query, len(settings.setup))

        return check


def _prepare(settings: SqlConfig) -> bytes:
    for field, text in [
        ("reference", settings.reference),
        *((f"setup.{at}", one) for at, one in enumerate(settings.setup)),
    ]:
        if well_formed(text) != text:
            raise InputError("holds a lone surrogate, which is no text", field=field, remedy="correct it")
    try:
        said = _aside.call(b"p" + msgspec.msgpack.encode(settings), PREPARE_SECONDS)
    except OverBudgetError as error:
        raise InputError(
            f"set-up and reference need more {error.what} than they may",
            field="setup",
            remedy="smaller databases, or a cheaper reference",
        ) from None
    except LostError as error:
        raise UnavailableError(str(error)) from error
    reply = msgspec.msgpack.decode(said, type=Refused | Ready)
    if isinstance(reply, Refused):
        raise InputError(reply.message, field=reply.field, remedy=reply.remedy)
    return reply.prepared


def _judge(key: bytes, packed: bytes, query: str, cpu_seconds: float) -> Judged:
    said = _aside.call(b"j" + key + query.encode(), cpu_seconds)
    if said == UNKNOWN:
        prepared = zlib.decompress(packed)
        said = _aside.call(b"k" + key + len(prepared).to_bytes(8, "big") + prepared + query.encode(), cpu_seconds)
    return msgspec.msgpack.decode(said, type=Judged)


def _refused(query: str) -> Verdict | None:
    """The verdict on a text that is not run at all."""
    if len(query) > MAX_QUERY:
        return Verdict.of(0.0, "resource", _ID, extracted=_shown(query), detail=f"more than {MAX_QUERY} characters")
    reason = refusal(query)
    if reason == "no_query":
        return Verdict.unparseable("refused" if is_refusal(query) else reason, _ID, extracted=_shown(query))
    if reason is None and "\0" in query:
        return Verdict.of(0.0, "sql_error", _ID, extracted=_shown(query), detail="holds the character NUL")
    if reason is None and reads_clock(query):
        detail = "depends on the present time"
        return Verdict.of(0.0, "forbidden_function", _ID, extracted=_shown(query), detail=detail)
    return None if reason is None else Verdict.of(0.0, reason, _ID, extracted=_shown(query))


def _verdict(judged: Judged, query: str, databases: int) -> Verdict:
    parts = [
        Part(f"db{number}", float(reason == "correct"), reason, evidence)
        for number, (reason, evidence) in enumerate(judged.findings, 1)
    ]
    parts += [Part(f"db{number}", 0.0, "not_run") for number in range(len(parts) + 1, databases + 1)]
    failed = next((part for part in parts if part.reason != "correct"), None)
    reason, detail = (failed.reason, failed.evidence) if failed is not None else ("correct", None)
    if judged.constant is not None:
        reason, detail = "constant_select", judged.constant
    score = float(reason == "correct")
    return Verdict.of(score, reason, _ID, extracted=_shown(query), parts=tuple(parts), detail=detail)


def _shown(query: str) -> str:
    return query if len(query) <= SHOWN else query[:SHOWN] + "…"
