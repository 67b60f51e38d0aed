"""What counts as the same result."""

from __future__ import annotations

import pytest

from lydite.verdict import Outcome
from lydite.verifiers import verify
from verifiers.sql_cases import LATER, STAFF, judge

NAMES = "SELECT name FROM staff WHERE pay = 20"


@pytest.mark.parametrize(
    "query",
    [
        NAMES,
        f"{NAMES};",
        "select s.name as n from staff s where not pay <> 20 order by id desc",
        "WITH rich AS (SELECT * FROM staff WHERE pay >= 20) SELECT name FROM rich",
        "SELECT name FROM staff WHERE pay IN (SELECT MAX(pay) FROM staff)",
        f"{NAMES} AND (SELECT COUNT(*) FROM sqlite_master) > 0",
    ],
)
def test_the_same_rows_in_other_words(query: str) -> None:
    verdict = judge(query, NAMES)
    assert (verdict.outcome, verdict.reason) == (Outcome.CORRECT, "correct")
    assert [part.name for part in verdict.parts] == ["db1", "db2"]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT name FROM staff", "wrong_rows"),
        ("SELECT name FROM staff WHERE pay = 21", "wrong_rows"),
        (f"{NAMES} UNION ALL {NAMES}", "wrong_rows"),
        ("SELECT DISTINCT team FROM staff WHERE pay = 20", "wrong_rows"),
        ("SELECT name, id FROM staff WHERE pay = 20", "wrong_columns"),
        ("SELECT upper(name) FROM staff WHERE pay = 20", "wrong_rows"),
        ("SELECT nme FROM staff WHERE pay = 20", "sql_error"),
        ("SELECT name FRM staff", "sql_error"),
        ("SELECT name FROM staff WHERE pay = ?", "sql_error"),
        (f"{NAMES}; {NAMES}", "several_statements"),
    ],
)
def test_other_results(query: str, reason: str) -> None:
    verdict = judge(query, NAMES)
    assert (verdict.outcome, verdict.reason) == (Outcome.INCORRECT, reason)


@pytest.mark.parametrize("text", ["I cannot do that.", "", "It is ann, bob and dee.", "```sql\n```"])
def test_no_query_is_nothing_to_grade(text: str) -> None:
    assert judge(text, NAMES).outcome is Outcome.UNPARSEABLE


def test_duplicates_count() -> None:
    reference = "SELECT team FROM staff"
    assert judge("SELECT DISTINCT team FROM staff", reference).reason == "wrong_rows"
    five = "SELECT team FROM staff WHERE team <> 'a' UNION ALL SELECT 'a' FROM staff WHERE team = 'a'"
    assert judge(five, reference).correct


@pytest.mark.parametrize(
    ("query", "right"),
    [
        ("SELECT 1.0 * SUM(pay) FROM staff", True),
        ("SELECT TOTAL(pay) FROM staff", True),
        ("SELECT CAST(SUM(pay) AS TEXT) FROM staff", False),
        ("SELECT CAST(CAST(SUM(pay) AS TEXT) AS BLOB) FROM staff", False),
        ("SELECT SUM(pay) + 1e-6 FROM staff", False),
    ],
)
def test_numbers_equal_by_value_and_no_text(query: str, right: bool) -> None:
    assert judge(query, "SELECT SUM(pay) FROM staff").correct is right


def test_a_difference_in_type_is_told() -> None:
    verdict = judge("SELECT CAST(pay AS TEXT) FROM staff WHERE id = 1", "SELECT pay FROM staff WHERE id = 1")
    assert "column 1 is a text, not a number" in (verdict.detail or "")


def test_sums_of_floats_in_another_order() -> None:
    reference = "SELECT SUM(share) FROM staff"
    query = "SELECT SUM(share) FROM (SELECT share FROM staff ORDER BY id DESC)"
    assert judge(query, reference).correct
    assert judge("SELECT SUM(share) + 1e-12 FROM staff", reference).correct
    assert not judge("SELECT SUM(share) + 1e-12 FROM staff", reference, tolerance=0).correct
    assert not judge("SELECT SUM(share) + 0.001 FROM staff", reference).correct
    assert judge("SELECT SUM(share) + 0.001 FROM staff", reference, tolerance=0.01).correct


def test_infinity_is_no_wildcard() -> None:
    assert judge("SELECT SUM(share) + 9e999 FROM staff", "SELECT SUM(share) FROM staff").reason == "wrong_rows"


def test_whole_numbers_are_equal_exactly() -> None:
    reference = "SELECT pay + 9000000000000000000 FROM staff"
    assert not judge("SELECT pay + 9000000000000000001 FROM staff", reference).correct


def test_null_equals_null_and_nothing_else() -> None:
    reference = "SELECT share FROM staff"
    assert judge("SELECT share FROM staff ORDER BY id DESC", reference).correct
    assert not judge("SELECT coalesce(share, 0) FROM staff", reference).correct
    assert not judge("SELECT coalesce(share, '') FROM staff", reference).correct


@pytest.mark.parametrize(
    ("reference", "query", "reason"),
    [
        # An order counts where the reference has one of its own.
        ("SELECT name FROM staff ORDER BY name", "SELECT name FROM staff ORDER BY 1", "correct"),
        ("SELECT name FROM staff ORDER BY name", "SELECT name FROM staff ORDER BY name DESC", "wrong_order"),
        (
            "SELECT * FROM (SELECT name FROM staff ORDER BY name)",
            "SELECT name FROM staff ORDER BY name DESC",
            "correct",
        ),
        # Rows of the same key may come in any order.
        ("SELECT name FROM staff ORDER BY pay", "SELECT name FROM staff ORDER BY pay, id DESC", "correct"),
        ("SELECT name FROM staff ORDER BY pay", "SELECT name FROM staff ORDER BY pay, name", "correct"),
        ("SELECT name FROM staff ORDER BY pay", "SELECT name FROM staff ORDER BY name", "wrong_order"),
        ("SELECT name, pay p FROM staff ORDER BY p", "SELECT name, pay FROM staff ORDER BY pay, id DESC", "correct"),
        ("SELECT name, pay FROM staff ORDER BY 2 DESC", "SELECT name, pay FROM staff ORDER BY -pay, name", "correct"),
        ("SELECT * FROM staff ORDER BY pay", "SELECT * FROM staff ORDER BY pay, share", "correct"),
        ("SELECT s.* FROM staff s ORDER BY s.team", "SELECT * FROM staff ORDER BY team, pay", "correct"),
        (
            "SELECT name FROM staff ORDER BY name COLLATE NOCASE",
            "SELECT name FROM staff ORDER BY lower(name), id DESC",
            "correct",
        ),
        (
            "SELECT team, COUNT(*) AS n FROM staff GROUP BY team ORDER BY n DESC, MAX(pay)",
            "SELECT team, COUNT(*) FROM staff GROUP BY team ORDER BY COUNT(*) DESC, MAX(pay), team DESC",
            "correct",
        ),
        (
            "SELECT DISTINCT team, pay FROM staff ORDER BY pay",
            "SELECT team, pay FROM staff GROUP BY 1, 2 ORDER BY pay, team DESC",
            "correct",
        ),
        (
            "SELECT length(team) AS n, team FROM staff UNION SELECT 3, name FROM staff ORDER BY n",
            "SELECT length(team), team FROM staff UNION SELECT 3, name FROM staff ORDER BY 1, 2 DESC",
            "correct",
        ),
        # Of a key that LIMIT cuts, any rows will do; not others, and not fewer.
        (
            "SELECT name FROM staff ORDER BY pay DESC LIMIT 2",
            "SELECT name FROM staff WHERE pay = 20 LIMIT 2",
            "correct",
        ),
        (
            "SELECT name FROM staff ORDER BY pay DESC LIMIT 2",
            "SELECT name FROM staff WHERE pay = 20 ORDER BY id DESC LIMIT 2",
            "correct",
        ),
        ("SELECT name FROM staff ORDER BY pay DESC LIMIT 2", "SELECT name FROM staff LIMIT 2", "wrong_rows"),
        ("SELECT name FROM staff ORDER BY pay DESC LIMIT 2", "SELECT name FROM staff WHERE pay = 20", "wrong_rows"),
        (
            "SELECT name FROM staff ORDER BY pay DESC LIMIT 2",
            "SELECT 'dee' FROM staff LIMIT 2",
            "wrong_rows",
        ),
        (
            "SELECT name FROM staff ORDER BY pay LIMIT 2 OFFSET 1",
            "SELECT name FROM staff ORDER BY pay, id DESC LIMIT 2 OFFSET 1",
            "correct",
        ),
        ("SELECT name FROM staff LIMIT 2", "SELECT name FROM staff ORDER BY id DESC LIMIT 2", "correct"),
        ("SELECT name FROM staff LIMIT 2", "SELECT name FROM staff", "wrong_rows"),
    ],
)
def test_order_counts_as_far_as_the_reference_decides_it(reference: str, query: str, reason: str) -> None:
    assert judge(query, reference).reason == reason


@pytest.mark.parametrize(
    "reference",
    [
        "SELECT name, pay FROM staff ORDER BY 2{}",
        "SELECT name, pay FROM staff ORDER BY pay{}",
        "SELECT name, pay AS p FROM staff ORDER BY p{}",
        "SELECT name, pay AS id, id AS pay FROM staff ORDER BY id{}",
        "SELECT name, pay FROM staff s ORDER BY s.pay{}",
        "SELECT name FROM staff ORDER BY pay{}",
        "SELECT * FROM staff ORDER BY 4{}",
        "SELECT * FROM staff ORDER BY staff.pay{}, share",
        "SELECT DISTINCT name, pay FROM staff ORDER BY pay{}",
        "SELECT name, pay FROM staff UNION SELECT team, pay FROM staff ORDER BY 2{}",
        "SELECT team, SUM(pay) FROM staff GROUP BY team ORDER BY SUM(pay){}",
        "SELECT team, SUM(pay) AS s FROM staff GROUP BY team ORDER BY s{}, COUNT(*)",
        "SELECT name, RANK() OVER (ORDER BY pay) AS r FROM staff ORDER BY r{}",
        "WITH a AS (SELECT name, pay FROM staff) SELECT name FROM a ORDER BY pay{}",
        'SELECT name, pay AS "the pay" FROM staff ORDER BY "the pay"{}',
    ],
)
@pytest.mark.parametrize("limit", ["", " LIMIT 4", " LIMIT 3 OFFSET 1", " LIMIT 1, 3", " LIMIT 2 + 2"])
def test_no_form_of_order_is_forgotten(reference: str, limit: str) -> None:
    up, down = (reference.format(word) + limit for word in (" ASC", " DESC"))
    assert judge(up, up).correct
    assert judge(down, down).correct
    assert judge(down, up).reason in ("wrong_order", "wrong_rows")
    assert judge(up, down).reason in ("wrong_order", "wrong_rows")


def test_order_by_decree() -> None:
    reference = "SELECT name FROM staff ORDER BY name"
    assert judge("SELECT name FROM staff", reference, ordered=False).correct
    assert judge("SELECT name FROM staff ORDER BY id", "SELECT name FROM staff", ordered=True).correct
    verdict = judge("SELECT name FROM staff ORDER BY name", "SELECT name FROM staff", ordered=True)
    assert verdict.reason == "wrong_order"


def test_without_order_the_rows_above_a_cut_key_must_all_be_there() -> None:
    reference = "SELECT name FROM staff ORDER BY pay LIMIT 3"  # 5 and 10 and one of 20, or 5, 7 and 10
    right = "SELECT name FROM staff ORDER BY pay, id DESC LIMIT 3"
    assert judge(right, reference, ordered=False).correct
    assert not judge("SELECT name FROM staff WHERE pay = 20", reference, ordered=False).correct


def test_all_databases_must_agree() -> None:
    verdict = judge("SELECT name FROM staff WHERE pay = 20 AND id < 6", NAMES)
    assert [(part.name, part.score, part.reason) for part in verdict.parts] == [
        ("db1", 1.0, "correct"),
        ("db2", 0.0, "wrong_rows"),
    ]
    assert verdict.score == 0
    assert "2, not 3 rows" in (verdict.detail or "")


def test_one_database_may_give_nothing() -> None:
    reference = "SELECT name FROM staff WHERE team = 'd'"
    assert judge("SELECT name FROM staff WHERE team LIKE 'D'", reference).correct
    assert not judge("SELECT name FROM staff WHERE 0", reference).correct


def test_full_text_search_can_be_asked() -> None:
    setup = "CREATE VIRTUAL TABLE doc USING fts5(body); INSERT INTO doc VALUES ('red fox'), ('red hen'), ('dog');"
    checker = {
        "type": "sql",
        "config": {"setup": [setup], "reference": "SELECT body FROM doc WHERE body LIKE '%red%'"},
    }
    assert verify(checker, "SELECT body FROM doc WHERE doc MATCH 'red'").correct
    assert not verify(checker, "SELECT body FROM doc WHERE doc MATCH 'dog'").correct


def test_views_and_json_can_be_read() -> None:
    setup = STAFF + "CREATE VIEW rich AS SELECT name, json_array(team, pay) AS facts FROM staff WHERE pay > 9;"
    checker = {"type": "sql", "config": {"setup": [setup], "reference": "SELECT name FROM staff WHERE pay > 9"}}
    assert verify(checker, "SELECT name FROM rich, json_each(rich.facts) WHERE json_each.key = 1").correct


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_names_of_any_kind(engine: str) -> None:
    pytest.importorskip("sqlite3" if engine == "sqlite" else engine)
    setup = 'CREATE TABLE "Größe; ""Ü" ("x y" INTEGER); INSERT INTO "Größe; ""Ü" VALUES (1), (2), (3);'
    reference = 'SELECT SUM("x y") FROM "Größe; ""Ü"'
    assert judge('SELECT SUM(t."x y") FROM "Größe; ""Ü" AS t', reference, setup=[setup], engine=engine).correct
    verdict = judge('SELECT 6 FROM "Größe; ""Ü" LIMIT 1', reference, setup=[setup], engine=engine)
    assert verdict.reason == "constant_select"


def test_a_view_counts_as_read() -> None:
    setup = [STAFF + "CREATE VIEW v AS SELECT COUNT(*) AS n FROM staff", LATER + "CREATE VIEW v AS SELECT 6 AS n"]
    checker = {"type": "sql", "config": {"setup": setup, "reference": "SELECT COUNT(*) FROM staff"}}
    assert verify(checker, "SELECT n FROM v").correct
