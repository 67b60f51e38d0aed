"""Which text of a completion is the query, and what kind of statement it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.verifiers.sql.find import find_query
from lydite.verifiers.sql.query import called, clause, reads_clock, refusal, tokens


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("SELECT 1", "SELECT 1"),
        ("```sql\nSELECT 1\n```", "SELECT 1"),
        ("```sql\nSELECT 1\n```\nor\n```sql\nSELECT 2;\n```", "SELECT 2;"),
        ("```sql\nSELECT 1\n```\nwhich gives\n```\n1\n```", "SELECT 1"),
        ("```\nSELECT 1\n```\nthen\n```text\n7\n```", "SELECT 1"),
        ("First.\n```sql\nSELECT 1", "SELECT 1"),
        ("<think>```sql\nSELECT 2\n```</think>SELECT 1", "SELECT 1"),
        ("  1. So:\n  ```sql\n  SELECT 1\n    FROM t\n  ```", "SELECT 1\n  FROM t"),
        ("```sql\r\nSELECT 1\r\n```\r\n", "SELECT 1"),
        ("\ufeffSELECT 1", "SELECT 1"),
        ("<think>SELECT 1", None),
        ("```sql\n```", None),
        ("", None),
    ],
)
def test_the_text_that_counts(text: str, query: str | None) -> None:
    assert find_query(text) == query


QUERY = "SELECT name FROM staff WHERE pay > 5"


@pytest.mark.parametrize(
    "text",
    [
        f"<answer>{QUERY}</answer>",
        f"One filter does.\n<answer>\n```sql\n{QUERY}\n```\n</answer>\nDone.",
        f"<answer>{QUERY}</answer> I repeat: <answer>{QUERY};</answer>",
        f"Put it in `<answer>` tags: <answer>{QUERY}</answer>",
        f"<answer>`{QUERY}`</answer>",
        rf"\boxed{{{QUERY}}}",
        rf"\boxed{{\text{{{QUERY}}}}}",
        f"```sql\n{QUERY}\n```\nIt finds \\boxed{{3}} people.",
        f"Answer:\n{QUERY}",
        f"SQL: {QUERY}",
        f"**Query:** {QUERY};",
        f"The filter is on pay.\n\nFinal answer: {QUERY}",
        f"Run `{QUERY}` on it.",
        f"The clause `SELECT` picks columns, so `{QUERY}`.",
        f"{QUERY};\n\nThis query lists the names of the better paid.",
        f"{QUERY}\n\nHere the filter leaves out the others.",
        f"{QUERY};\n\nExplanation:\n- `WHERE` filters\n- `FROM` names the table",
        f"With one filter this is easy.\n\n{QUERY}\n\nEach row is one person of the staff.",
        f"Sure, here it is:\n\n{QUERY}",
        f"```\n{QUERY}\n```\nprints\n```\nann\nbob\n```",
        f"```sql\n{QUERY}\n```\nTo be faster:\n```sql\nCREATE INDEX p ON staff (pay)\n```",
        f"```sql\n{QUERY}\n```\nand in Python\n```python\ncursor.execute(sql)\n```",
        f"```\nSELECT 1 FROM staff\n```\nBetter:\n```sql\n{QUERY}\n```",
    ],
)
def test_a_query_amid_talk(text: str) -> None:
    assert (find_query(text) or "").rstrip(";") == QUERY


@pytest.mark.parametrize(
    "text",
    [
        "<answer>SELECT a FROM t</answer><answer>SELECT b FROM t</answer>",
        "\\boxed{SELECT a FROM t} or \\boxed{SELECT b FROM t}",
        "Either `SELECT a FROM t` or `SELECT b FROM t`.",
        "SELECT a FROM t;\n\nOr this one:\nSELECT b FROM t;",
        "First this:\nSELECT a FROM t;\nThen that:\nSELECT b FROM t;",
        "DELETE FROM t;\nSELECT a FROM t",
        "Clean up first:\nDELETE FROM t;\nSELECT a FROM t",
    ],
)
def test_several_different_queries_are_none(text: str) -> None:
    assert refusal(find_query(text) or "") in ("several_statements", "no_query")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("SELECT a\n\nFROM t\n\nWHERE b = 'This is a text\n\nThat is more of it.'", None),
        ("SELECT a -- the name\n\nFROM t", None),
        ("SELECT `a` FROM t WHERE `b` = 1", None),
        ("Select the rows that are needed, then `SELECT a FROM t`.", "SELECT a FROM t"),
        ("SELECT '<answer>' || a FROM t", None),
        ("```sql\nSELECT '<answer>x</answer>' FROM t\n```", "SELECT '<answer>x</answer>' FROM t"),
    ],
)
def test_what_only_looks_like_talk(text: str, query: str | None) -> None:
    assert find_query(text) == (query or text)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT 1", None),
        ("select 1 ; -- done", None),
        ("/* why */ WITH a AS (SELECT 1) SELECT * FROM a;;", None),
        ("VALUES (1), (2)", None),
        ("SELECT ';' || \";\" || [;] || `;`", None),
        ("SELECT 1 -- ; DROP TABLE t", None),
        ("SELECT 1 /* ; DROP TABLE t */", None),
        ("WITH a AS (SELECT 1) SELECT replace(x, 'a', 'b') FROM a", None),
        ("SELECT 1; SELECT 2", "several_statements"),
        ("DELETE FROM t; SELECT 1", "several_statements"),
        ("SELECT '--'; DROP TABLE t --'", "several_statements"),
        ("SELECT 1; nonsense", "several_statements"),
        ("DELETE FROM t", "not_a_select"),
        ("ATTACH 'x' AS y", "not_a_select"),
        ("PRAGMA writable_schema = 1", "not_a_select"),
        ("EXPLAIN SELECT 1", "not_a_select"),
        ("WITH a AS (SELECT 1) DELETE FROM t", "not_a_select"),
        ("with a as (select 1) replace into t select 1", "not_a_select"),
        ("The query is SELECT 1", "no_query"),
        ("-- SELECT 1", "no_query"),
        (";", "no_query"),
        ("42", "no_query"),
    ],
)
def test_one_query_and_nothing_else(sql: str, reason: str | None) -> None:
    assert refusal(sql) == reason


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT x FROM t ORDER BY x", True),
        ("SELECT x FROM t ORDER /* */ BY x LIMIT 1", True),
        ("SELECT x FROM t UNION SELECT 1 ORDER\nBY 1", True),
        ("SELECT x FROM (SELECT x FROM t ORDER BY x)", False),
        ("SELECT rank() OVER (ORDER BY x) FROM t", False),
        ("WITH a AS (SELECT x FROM t ORDER BY x) SELECT * FROM a", False),
        ("SELECT 'ORDER BY' FROM t -- ORDER BY x", False),
        ('SELECT "ORDER" FROM t', False),
    ],
)
def test_the_order_of_the_whole_query(sql: str, found: bool) -> None:
    assert clause(sql, "ORDER", "BY") is found


@pytest.mark.parametrize(
    ("sql", "now"),
    [
        ("SELECT CURRENT_DATE", True),
        ("SELECT date('now', '-1 day')", True),
        ('SELECT julianday("now")', True),
        ("SELECT date()", True),
        ("SELECT strftime('%Y')", True),
        ("SELECT strftime('%Y', born) FROM t", False),
        ("SELECT date(born) FROM t", False),
        ("SELECT 1 FROM t WHERE state = 'now'", False),
        ("SELECT date FROM t", False),
        ("SELECT 1 -- CURRENT_DATE", False),
    ],
)
def test_a_query_that_asks_for_the_time(sql: str, now: bool) -> None:
    assert reads_clock(sql) is now


def test_names_that_are_called() -> None:
    assert called("SELECT f(a), \"g\" (b), 'h'(c), k FROM t -- m(") == {"F", "G"}


@given(st.text(alphabet="'\"`[]()/*-; \nabSELECT", max_size=200))
def test_tokens_cover_the_text_in_order(sql: str) -> None:
    at = 0
    for token in tokens(sql):
        at = sql.upper().index(token.text.upper(), at) + len(token.text)


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    query = find_query(text)
    assert query is None or refusal(query) in (None, "no_query", "several_statements", "not_a_select")
