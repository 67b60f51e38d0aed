"""Queries that do not ask the question, or do more than ask."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lydite.verdict import Outcome
from lydite.verifiers import build, verify
from verifiers.sql_cases import STAFF, judge

NAMES = "SELECT name FROM staff WHERE pay = 20"
COUNTED = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"
DOUBLED = "WITH a AS (SELECT 1 AS x), " + ", ".join(
    f"a{i} AS (SELECT p.x FROM {f'a{i - 1}' if i else 'a'} p, {f'a{i - 1}' if i else 'a'} q)" for i in range(40)
)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        # Changing the data first, so that nothing equals nothing.
        (f"DELETE FROM staff; {NAMES}", "several_statements"),
        ("DELETE FROM staff", "not_a_select"),
        ("DROP TABLE staff", "not_a_select"),
        ("UPDATE staff SET pay = 20", "not_a_select"),
        ("INSERT INTO staff (name) VALUES ('x') RETURNING name", "not_a_select"),
        ("WITH x AS (SELECT 1) DELETE FROM staff RETURNING name", "not_a_select"),
        ("WITH x AS (SELECT 1) UPDATE sqlite_master SET sql = ''", "not_a_select"),
        ("CREATE TEMP VIEW staff AS SELECT 1", "not_a_select"),
        ("CREATE TEMP TRIGGER t AFTER INSERT ON staff BEGIN SELECT 1; END", "several_statements"),
        ("PRAGMA writable_schema = ON", "not_a_select"),
        ("ATTACH 'other.db' AS other", "not_a_select"),
        ("VACUUM INTO 'copy.db'", "not_a_select"),
        (f"{NAMES} /*; */; DROP TABLE staff --", "several_statements"),
        # Reaching out.
        ("SELECT load_extension('x')", "forbidden_function"),
        ("SELECT fts3_tokenizer('simple') FROM staff", "forbidden_function"),
        ("SELECT readfile('/etc/passwd')", "sql_error"),
        ("SELECT name FROM other.staff", "sql_error"),
        ("SELECT file FROM pragma_database_list", "forbidden"),
        ("SELECT COUNT(*) FROM pragma_database_list", "forbidden"),
        ("SELECT sql FROM sqlite_stmt", "forbidden"),
        # Answers of chance, of today.
        (f"{NAMES} AND random() <> 0", "forbidden_function"),
        (f"{NAMES} AND CURRENT_DATE > '2000'", "forbidden_function"),
        (f"{NAMES} AND date('now') > '2000'", "forbidden_function"),
        # Time, memory, length.
        (f"{COUNTED} SELECT COUNT(*) FROM r", "timeout"),
        (f"{COUNTED} SELECT name FROM staff WHERE (SELECT MAX(n) FROM r) > 0", "timeout"),
        ("SELECT COUNT(*) FROM " + ", ".join(f"staff s{i}" for i in range(20)), "timeout"),
        (f"{DOUBLED} SELECT x FROM a39", "resource"),
        ("SELECT zeroblob(900000000) FROM staff", "resource"),
        ("SELECT randomblob(900000000) FROM staff", "forbidden_function"),
        ("SELECT replace(hex(zeroblob(400000)), '0', hex(zeroblob(400000))) FROM staff", "resource"),
        ("SELECT group_concat(hex(zeroblob(400000))) FROM staff a, staff b", "resource"),
        ("SELECT printf('%900000000d', id) = '' FROM staff", "wrong_rows"),
        (
            "WITH RECURSIVE r(n, x) AS (SELECT 1, hex(zeroblob(100000)) UNION ALL SELECT n + 1, x FROM r LIMIT 90000)"
            f" {NAMES} AND (SELECT COUNT(*) FROM (SELECT * FROM r ORDER BY x, n)) > 0",
            "resource",
        ),
        (f"SELECT name FROM staff WHERE name LIKE '{'%a' * 5000}'", "sql_error"),
        (f"SELECT name FROM staff WHERE name GLOB '{'*a' * 5000}'", "sql_error"),
        (f"SELECT {'(' * 5000}1{')' * 5000} FROM staff", "sql_error"),
        (f"SELECT name FROM staff WHERE {'NOT ' * 5000} id", "sql_error"),
        (" UNION ALL ".join([NAMES] * 500), "sql_error"),
        (f"SELECT '{'x' * 60_000}' FROM staff", "resource"),
        ("SELECT \0name FROM staff", "sql_error"),
        ("SELECT '\ud800' FROM staff", "wrong_rows"),
    ],
)
def test_attack_is_the_candidates_fault(query: str, reason: str) -> None:
    verdict = judge(query, NAMES)
    assert (verdict.outcome, verdict.reason) == (Outcome.INCORRECT, reason)
    assert judge(NAMES, NAMES).correct


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 3",
        "VALUES (3)",
        "SELECT 1 WHERE 0",
        "WITH staff AS (SELECT 3 AS n) SELECT n FROM staff",
        "SELECT value FROM json_each('[3]')",
        "SELECT COUNT(*) + 2 FROM sqlite_master",
        # These read the table, and do not care what is in it.
        "SELECT 3 FROM staff LIMIT 1",
        "SELECT 3 WHERE EXISTS (SELECT 1 FROM staff)",
        "SELECT COUNT(*) * 0 + 3 FROM staff",
        "SELECT 3 FROM (SELECT COUNT(*) FROM staff)",
    ],
)
def test_a_literal_answer_is_none(query: str) -> None:
    reference = "SELECT COUNT(*) FROM staff WHERE pay = 20"
    verdict = judge(query, reference, setup=[STAFF])
    assert (verdict.outcome, verdict.reason) == (Outcome.INCORRECT, "constant_select")


def test_one_row_too_many_ends_a_result() -> None:
    query = (
        "SELECT s.name FROM staff s, staff a, staff b, staff c, staff d, staff e, staff f, staff g, staff h, staff i"
    )
    verdict = judge(query, NAMES)
    assert (verdict.reason, verdict.detail) == ("wrong_rows", "more than 3 rows")


def test_what_a_query_may_take_is_counted_and_not_timed() -> None:
    query = f"{COUNTED} SELECT COUNT(*) FROM (SELECT n FROM r LIMIT 10000), staff"
    reference = "SELECT COUNT(*) * 10000 FROM staff"
    assert judge(query, reference).correct
    verdicts = [judge(query, reference, max_steps=100_000) for _ in range(3)]
    assert {verdict.reason for verdict in verdicts} == {"timeout"}
    assert verdicts[0] == verdicts[1] == verdicts[2]
    assert [part.reason for part in verdicts[0].parts] == ["timeout", "not_run"]


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    judge("ATTACH 'left.db' AS x", NAMES)
    judge("SELECT name FROM staff a ORDER BY hex(zeroblob(100000)) || a.name", NAMES)
    assert os.listdir(tmp_path) == []


def test_candidates_do_not_see_one_another() -> None:
    check = {"type": "sql", "config": {"setup": [STAFF], "reference": NAMES}}
    for attack in ("DELETE FROM staff", "SELECT load_extension('x')", f"{COUNTED} SELECT COUNT(*) FROM r"):
        verify(check, attack)
        assert verify(check, NAMES).correct


def test_a_verdict_does_not_grow_with_the_query() -> None:
    verdict = judge("SELECT " + ", ".join(["name"] * 9000) + " FROM staff", NAMES)
    assert len(verdict.extracted or "") < 2100
    assert build({"type": "sql", "config": {"setup": [STAFF], "reference": NAMES}}).id == verdict.verifier
