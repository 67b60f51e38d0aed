"""What is refused before any candidate is seen."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from lydite.errors import InputError
from lydite.verifiers import build, verify
from verifiers.sql_cases import LATER, STAFF

MANY = ", ".join(f"staff {name}" for name in "abcdefghijkl")
GOOD = {"setup": [STAFF, LATER], "reference": "SELECT name FROM staff"}


@pytest.mark.parametrize(
    ("changed", "field", "words"),
    [
        ({"setup": []}, "setup", "length"),
        ({"setup": "CREATE TABLE t (x)"}, "setup", "list"),
        ({"setup": [STAFF, "nonsense"]}, "setup.1", "syntax error"),
        ({"setup": ["CREATE TABLE t (x)", "INSERT INTO t VALUES (1)"]}, "setup.1", "no such table"),
        ({"setup": ["ATTACH '/tmp/other.db' AS other"]}, "setup.0", "not authorized"),
        ({"setup": ["CREATE TABLE t (x); VACUUM INTO '/tmp/other.db'"]}, "setup.0", "fails"),
        ({"setup": ["SELECT load_extension('x')"]}, "setup.0", "not authorized"),
        ({"setup": ["PRAGMA temp_store_directory = '/tmp'"]}, "setup.0", "not authorized"),
        ({"reference": "SELECT nme FROM staff"}, "reference", "no such column"),
        ({"reference": "SELECT name FROM staff WHERE id > 99"}, "reference", "no row on any database"),
        ({"reference": "SELECT 1"}, "reference", "reads no table"),
        ({"reference": "SELECT name FROM sqlite_master"}, "reference", "reads no table"),
        ({"reference": "SELECT name FROM staff ORDER BY random()"}, "reference", "calls random"),
        ({"reference": "SELECT name, date('now') FROM staff"}, "reference", "present time"),
        ({"reference": "SELECT name FROM staff; SELECT 1"}, "reference", "several statements"),
        ({"reference": "DELETE FROM staff"}, "reference", "does not only read"),
        ({"reference": "the names"}, "reference", "no query"),
        ({"reference": "SELECT a.id FROM " + MANY}, "reference", "more than 100000 rows"),
        ({"reference": "SELECT COUNT(*) FROM " + MANY}, "reference", "timeout"),
        ({"reference": None}, "reference", "found null"),
        ({"ordered": "yes"}, "ordered", "found text"),
        ({"engine": "mysql"}, "engine", "mysql"),
        ({"tolerance": -1}, "tolerance", ">= 0"),
        ({"max_steps": 1}, "max_steps", ">= 10000"),
        ({"references": []}, "references", "unknown field"),
    ],
)
def test_unusable_configuration(changed: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "sql", "config": {**GOOD, **changed}})
    assert caught.value.field == f"checker.config.{field}"
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "reference",
    [
        "SELECT COUNT(*) FROM staff WHERE pay > 1000",
        "SELECT EXISTS (SELECT * FROM staff WHERE id = 99)",
        "SELECT 'staff' FROM staff GROUP BY 1",
        "SELECT MAX(id) * 0 FROM staff",
    ],
)
def test_an_answer_that_never_changes(reference: str) -> None:
    with pytest.raises(InputError, match="the reference's answer never changes") as caught:
        build({"type": "sql", "config": {**GOOD, "reference": reference}})
    assert caught.value.field == "checker.config.reference"


def test_an_answer_that_is_the_same_here_but_hangs_on_the_rows() -> None:
    build({"type": "sql", "config": {"setup": [STAFF, STAFF], "reference": "SELECT COUNT(*) FROM staff"}})


def test_an_answer_of_nothing_that_changes_on_another_database() -> None:
    rich = STAFF + "UPDATE staff SET pay = 2000 WHERE id = 1;"
    checker = {
        "type": "sql",
        "config": {"setup": [STAFF, rich], "reference": "SELECT COUNT(*) FROM staff WHERE pay > 1000"},
    }
    assert not verify(checker, "SELECT 0 FROM staff LIMIT 1").correct
    assert verify(checker, "SELECT COUNT(CASE WHEN pay > 1000 THEN 1 END) FROM staff").correct


@pytest.mark.parametrize("field", ["setup", "reference"])
def test_what_is_needed(field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "sql", "config": {key: value for key, value in GOOD.items() if key != field}})
    assert (caught.value.field, caught.value.message) == (f"checker.config.{field}", "is missing")


def test_a_setup_may_be_of_chance_once_made() -> None:
    setup = "CREATE TABLE t AS SELECT random() AS x UNION ALL SELECT random();"
    checker = {"type": "sql", "config": {"setup": [setup], "reference": "SELECT x FROM t"}}
    assert verify(checker, "SELECT t.x FROM t").correct


def test_a_setup_may_leave_a_transaction_open_and_use_triggers() -> None:
    setup = (
        "CREATE TABLE t (x); CREATE TABLE log (x); CREATE TRIGGER put AFTER INSERT ON t BEGIN INSERT INTO log"
        " VALUES (new.x); END; BEGIN; INSERT INTO t VALUES (1), (2);"
    )
    checker = {"type": "sql", "config": {"setup": [setup], "reference": "SELECT x FROM log"}}
    assert verify(checker, "SELECT x FROM t").correct


def test_a_database_larger_than_a_query_may_be_long() -> None:
    rows = ", ".join(f"({number}, 'name {number}')" for number in range(30_000))
    checker = {
        "type": "sql",
        "config": {
            "setup": [f"CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES {rows};"],
            "reference": "SELECT COUNT(*) FROM t WHERE name LIKE '%7'",
        },
    }
    assert verify(checker, "SELECT SUM(id % 10 = 7) FROM t").correct


def test_importing_the_verifier_loads_no_engine() -> None:
    code = (
        "import sys, lydite.verifiers.sql.verifier\n"
        "print([name for name in ('sqlite3', 'duckdb', 'sqlglot', 'sympy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
