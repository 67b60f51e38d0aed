"""A small company, on which the tests of ``sql`` ask their questions."""

from __future__ import annotations

from typing import Any

from lydite.verdict import Verdict
from lydite.verifiers import verify

STAFF = """CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, team TEXT, pay INTEGER, share DOUBLE);
INSERT INTO staff VALUES (1, 'ann', 'a', 10, 0.1), (2, 'bob', 'a', 20, 0.2), (3, 'cid', 'b', 20, 0.3),
    (4, 'Bob', 'b', 5, NULL), (5, 'dee', 'c', 20, 0.7);"""
LATER = (
    STAFF + "DELETE FROM staff WHERE id = 3; INSERT INTO staff VALUES (6, 'eve', 'c', 7, 0.5), (7, 'fay', 'd', 20, 0);"
)


def judge(query: str, reference: str, **config: Any) -> Verdict:
    """The verdict on a query, on two databases."""
    config = {"setup": [STAFF, LATER], "reference": reference, **config}
    return verify({"type": "sql", "config": config}, query)
