"""DuckDB as the engine."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from lydite.errors import MissingExtraError
from lydite.verdict import Outcome
from lydite.verifiers.sql.verifier import SqlVerifier
from verifiers.sql_cases import STAFF, judge

pytest.importorskip("duckdb")
NAMES = "SELECT name FROM staff WHERE pay = 20"


@pytest.mark.parametrize(
    ("reference", "query", "reason"),
    [
        (NAMES, "FROM staff SELECT name WHERE pay = 20", "correct"),
        (NAMES, "SELECT name FROM staff QUALIFY dense_rank() OVER (ORDER BY pay DESC) = 1", "correct"),
        (NAMES, f"{NAMES} UNION ALL {NAMES}", "wrong_rows"),
        ("SELECT name FROM staff ORDER BY pay", "SELECT name FROM staff ORDER BY pay, id DESC", "correct"),
        ("SELECT name FROM staff ORDER BY pay", "SELECT name FROM staff ORDER BY name", "wrong_order"),
        (
            "SELECT name FROM staff ORDER BY pay DESC LIMIT 1",
            "SELECT name FROM staff WHERE id = 2 OR id = 7 LIMIT 1",
            "correct",
        ),
        (
            "SELECT pay > 7, DATE '2020-01-01' + id FROM staff",
            "SELECT pay >= 8, DATE '2020-01-01' + id FROM staff",
            "correct",
        ),
        ("SELECT pay > 7 FROM staff", "SELECT CASE WHEN pay > 7 THEN 1 ELSE 0 END FROM staff", "wrong_rows"),
        ("SELECT SUM(pay) FROM staff", "SELECT SUM(pay)::DECIMAL(10, 2) FROM staff", "correct"),
        ("SELECT [id, pay] FROM staff", "SELECT list_value(id, pay) FROM staff", "correct"),
        ("SELECT AVG(share) FROM staff", "SELECT SUM(share) / COUNT(share) FROM staff", "correct"),
        ("SELECT COUNT(*) FROM staff WHERE pay = 20", "SELECT 3", "constant_select"),
    ],
)
def test_results(reference: str, query: str, reason: str) -> None:
    assert judge(query, reference, engine="duckdb").reason == reason


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT * FROM read_csv('/etc/passwd')", "forbidden"),
        ("SELECT content FROM read_text('/etc/passwd')", "forbidden"),
        ("SELECT * FROM '/etc/passwd'", "sql_error"),
        ("SELECT * FROM glob('/*')", "forbidden"),
        ("COPY staff TO 'left.csv'", "not_a_select"),
        ("ATTACH 'left.db'", "not_a_select"),
        ("INSTALL httpfs", "not_a_select"),
        ("SET threads = 8", "not_a_select"),
        ("PRAGMA database_list", "not_a_select"),
        ("CALL pragma_version()", "not_a_select"),
        ("WITH x AS (SELECT 1) DELETE FROM staff", "not_a_select"),
        (f"DELETE FROM staff; {NAMES}", "several_statements"),
        ("SELECT * FROM query('DELETE FROM staff')", "sql_error"),
        ("SELECT * FROM sys", "sql_error"),
        ("SELECT name FROM staff WHERE random() < 2", "forbidden_function"),
        ('SELECT name FROM staff WHERE "now"() IS NOT NULL', "forbidden_function"),
        ("SELECT nextval('s')", "forbidden_function"),
        ("SELECT repeat('x', 3000000000) FROM staff", "resource"),
    ],
)
def test_attack_is_the_candidates_fault(
    query: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    verdict = judge(query, NAMES, engine="duckdb")
    assert (verdict.outcome, verdict.reason) == (Outcome.INCORRECT, reason)
    assert os.listdir(tmp_path) == []


def test_a_query_without_end() -> None:
    query = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r"
    assert judge(query, NAMES, engine="duckdb").reason == "timeout"
    assert judge(NAMES, NAMES, engine="duckdb").correct


def test_a_literal_answer_beside_a_table() -> None:
    reference = "SELECT COUNT(*) FROM staff WHERE pay = 20"
    verdict = judge("SELECT 3 FROM staff LIMIT 1", reference, setup=[STAFF], engine="duckdb")
    assert verdict.reason == "constant_select"


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"lydite\[duckdb\]"):
        SqlVerifier().compile({"setup": [STAFF], "reference": NAMES, "engine": "duckdb"})
