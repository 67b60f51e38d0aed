"""Which orders, and which choices of rows, a reference leaves open.

``ORDER BY score`` says nothing of rows of the same score, ``LIMIT 3`` without an order says nothing of which three. An
honest answer may decide these otherwise than the reference's plan happened to. So the reference is run once more,
without its limit and with the rank of each row under its order as one more column. Where its text is too special to be
rewritten so, the reference's own rows and order stand.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # of its process at the side, that is


class Ranked(NamedTuple):
    """The reference without its limit; its last column is the rank. ``limit``: None where it has none."""

    sql: str
    start: int
    limit: int | None


class _TooSpecialError(Exception):
    """No rewriting is known for this."""


def ranked(reference: str, dialect: str, columns: Sequence[str], order: bool) -> list[Ranked]:
    """Ways to run a reference so, the best one first.

    Args:
        reference: one query.
        dialect: ``sqlite`` or ``duckdb``.
        columns: names of its result's columns.
        order: whether its order counts, and it has one.
    """
    try:
        tree = sqlglot.parse_one(reference, dialect=dialect)
        if not isinstance(tree, exp.Query):
            return []
        start, limit = _number(tree.args.get("offset")) or 0, _number(tree.args.get("limit"))
        ordering = tree.args.get("order")
        terms = list(ordering.expressions) if order and ordering is not None else []
        for clause in ("order", "limit", "offset"):
            tree.set(clause, None)
    except (SqlglotError, _TooSpecialError, RecursionError):
        return []
    found: list[Ranked] = []
    for rewrite in (_outside, _inside):
        try:
            found.append(Ranked(rewrite(tree.copy(), terms, columns, dialect), start, limit))
        except (SqlglotError, _TooSpecialError, RecursionError):
            continue
    return found


def _number(clause: Any) -> int | None:
    """The number of a LIMIT or OFFSET."""
    if clause is None:
        return None
    value = clause.args.get("expression")
    if clause.args.get("offset") is not None or value is None or not value.is_int:
        raise _TooSpecialError
    number = int(value.name)
    if number < 0:
        raise _TooSpecialError
    return number


def _rank(terms: Sequence[Any], dialect: str) -> str:
    return f"DENSE_RANK() OVER (ORDER BY {', '.join(term.sql(dialect) for term in terms)})" if terms else "0"


def _outside(tree: Any, terms: Sequence[Any], columns: Sequence[str], dialect: str) -> str:
    """Around the whole query, where it orders by what it returns."""
    lower = [name.lower() for name in columns]
    selects = tree.selects
    listed = selects if len(selects) == len(columns) and not tree.is_star else []

    def placed(node: Any) -> Any:
        if isinstance(node, exp.Column) and not node.table and lower.count(node.name.lower()) == 1:
            return exp.column(f"c{lower.index(node.name.lower()) + 1}")
        for index, select in enumerate(listed):
            if node == select.unalias():
                return exp.column(f"c{index + 1}")
        if isinstance(node, exp.Column):
            raise _TooSpecialError
        return node

    keys = []
    for term in terms:
        key = term.copy()
        if key.this.is_int:
            if not 0 < int(key.this.name) <= len(columns):
                raise _TooSpecialError
            key.set("this", exp.column(f"c{key.this.name}"))
        else:
            key.set("this", key.this.transform(placed))
        keys.append(key)
    names = ", ".join(f"c{index + 1}" for index in range(len(columns)))
    return f"WITH ranked_({names}) AS ({tree.sql(dialect)}) SELECT *, {_rank(keys, dialect)} FROM ranked_"  # noqa: S608


def _inside(tree: Any, terms: Sequence[Any], columns: Sequence[str], dialect: str) -> str:
    """As one more column of the query itself, where it orders by what it does not return."""
    if not isinstance(tree, exp.Select) or tree.args.get("distinct") or not terms:
        raise _TooSpecialError
    aliases = {select.alias.lower(): select.unalias() for select in tree.selects if isinstance(select, exp.Alias)}

    def meant(node: Any) -> Any:
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in aliases:
            return aliases[node.name.lower()].copy()
        return node

    keys = []
    for term in terms:
        key = term.copy()
        if key.this.is_int:
            if tree.is_star or not 0 < int(key.this.name) <= len(tree.selects):
                raise _TooSpecialError
            key.set("this", tree.selects[int(key.this.name) - 1].unalias().copy())
        else:
            key.set("this", key.this.transform(meant))
        keys.append(key)
    tree.select(_rank(keys, dialect), append=True, dialect=dialect, copy=False)
    return str(tree.sql(dialect))
