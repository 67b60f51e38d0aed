"""A result against what is expected: as a multiset of rows, or in order.

Cells: NULL equals NULL; numbers are equal by value, whatever their types (1 = 1.0), and two of which one is a float
also when they differ by no more than the tolerance; a text never equals a number, nor a blob a text. Names of columns
do not count, their number and order do.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec

from lydite.verifiers.sql.rows import Other, Row

NEAR_ZERO = 1e-12
"""What is no larger than this may stand for 0, where there is a tolerance at all: ``0.1 + 0.2 - 0.3``."""
SHOWN = 120
"""Characters of a row that evidence shows."""

Finding = tuple[str, str]
"""Reason (``wrong_columns``, ``wrong_rows``, ``wrong_order``) and evidence."""


class Expected(msgspec.Struct, frozen=True, array_like=True):
    """What the reference allows on one database.

    Attributes:
        width: columns.
        rows: every row that may come, in the reference's order.
        ranks: one per row; rows of the same rank may stand in any order. All the same where there is no order.
        start, count: which of the rows come (``LIMIT``, ``OFFSET``); of a rank that this cuts, any rows may come.
        ordered: whether the order of ranks counts.
    """

    width: int
    rows: list[Row]
    ranks: list[int]
    start: int
    count: int
    ordered: bool

    def groups(self) -> list[tuple[int, int]]:
        """The ranks that come: from which row to which."""
        found: list[tuple[int, int]] = []
        at, end = 0, self.start + self.count
        while at < len(self.rows) and at < end:
            last = bisect_right(self.ranks, self.ranks[at], at)
            if last > self.start:
                found.append((at, last))
            at = last
        return found


def plainly(width: int, rows: list[Row], ordered: bool) -> Expected:
    """Exactly these rows, in any order or in this one."""
    ranks = list(range(len(rows))) if ordered else [0] * len(rows)
    return Expected(width, rows, ranks, 0, len(rows), ordered)


def compare(expected: Expected, width: int, rows: list[Row], tolerance: float) -> Finding | None:
    """What is wrong with a result; ``None`` where nothing is. ``tolerance``: relative."""
    if width != expected.width:
        return "wrong_columns", f"{_counted(width, 'column')}, not {expected.width}"
    if len(rows) != expected.count:
        wanted = _counted(expected.count, "row")
        return "wrong_rows", f"more than {wanted}" if len(rows) > expected.count else f"{len(rows)}, not {wanted}"
    if not expected.ordered:
        return _any_order(expected, rows, tolerance)
    for start, end in expected.groups():
        first, last = max(start, expected.start), min(end, expected.start + expected.count)
        given = rows[first - expected.start : last - expected.start]
        extra, _ = unmatched(given, expected.rows[start:end], tolerance)
        if extra:
            row, place = given[extra[0]], f"row {first - expected.start + extra[0] + 1}: "
            if _any_order(expected, rows, tolerance) is None:
                return "wrong_order", f"{place}{shown(row)} is out of order"
            return "wrong_rows", _difference(row, expected.rows[first + extra[0]], place)
    return None


def _any_order(expected: Expected, rows: list[Row], tolerance: float) -> Finding | None:
    end = expected.start + expected.count
    must: list[Row] = []
    may: list[Row] = []
    for first, last in expected.groups():
        (must if first >= expected.start and last <= end else may).extend(expected.rows[first:last])
    extra, missing = unmatched(rows, must, tolerance)
    if not missing and may:
        over, _ = unmatched([rows[index] for index in extra], may, tolerance)
        extra = [extra[index] for index in over]
    if extra:
        return "wrong_rows", _difference(rows[extra[0]], must[missing[0]] if missing else None, "")
    return ("wrong_rows", f"lacks {shown(must[missing[0]])}") if missing else None


def same(one: Sequence[Row], other: Sequence[Row]) -> bool:
    """Whether two results hold exactly the same rows, in any order."""
    return len(one) == len(other) and not unmatched(one, other, 0.0)[0]


def unmatched(rows: Sequence[Row], wanted: Sequence[Row], tolerance: float) -> tuple[list[int], list[int]]:
    """Pair each row with one of those wanted that equals it. Indices of the rows, and of those wanted, that stay
    alone."""
    pool: dict[Row, list[int]] = defaultdict(list)
    for index in range(len(wanted) - 1, -1, -1):
        pool[wanted[index]].append(index)
    alone = [index for index, row in enumerate(rows) if not ((found := pool.get(row)) and (found.pop() or True))]
    left = sorted(index for found in pool.values() for index in found)
    if not alone or not left or not tolerance:
        return alone, left
    near = _Near([(index, wanted[index]) for index in left], tolerance)
    alone = [index for index in alone if not near.take(rows[index])]
    return alone, sorted(near.left)


class _Near:
    """Rows by their cells that are no numbers, and among these in the order of their first number."""

    def __init__(self, rows: list[tuple[int, Row]], tolerance: float) -> None:
        self.tolerance = tolerance
        self.left = {index for index, _ in rows}
        self.groups: dict[Row, list[tuple[float, int, list[Any]]]] = defaultdict(list)
        for index, row in rows:
            key, numbers = _parted(row)
            self.groups[key].append((_float(numbers[0]) if numbers else 0.0, index, numbers))
        for group in self.groups.values():
            group.sort(key=lambda entry: entry[:2])

    def take(self, row: Row) -> bool:
        """Whether a row is near one that is left, which then is not left any longer."""
        key, numbers = _parted(row)
        group = self.groups.get(key, [])
        if not group or not numbers or any(map(math.isinf, numbers)):
            return False
        first = _float(numbers[0])
        slack = 2 * self.tolerance * abs(first) + NEAR_ZERO
        at = bisect_left(group, first - slack, key=lambda entry: entry[0])
        for place in range(at, len(group)):
            value, index, others = group[place]
            if value > first + slack:
                return False
            if index in self.left and all(
                _close(mine, theirs, self.tolerance) for mine, theirs in zip(numbers, others, strict=True)
            ):
                self.left.remove(index)
                del group[place]
                return True
        return False


def _parted(row: Row) -> tuple[Row, list[Any]]:
    numbers = [cell for cell in row if isinstance(cell, int | float)]
    return tuple(("#",) if isinstance(cell, int | float) else cell for cell in row), numbers


def _float(number: float) -> float:
    return float(number)  # integers of engines have 64 bits


def _close(one: float, other: float, tolerance: float) -> bool:
    if one == other:
        return True
    if isinstance(one, int) and isinstance(other, int):
        return False
    if math.isinf(one) or math.isinf(other):
        return False
    if not one or not other:
        return abs(one) <= NEAR_ZERO and abs(other) <= NEAR_ZERO
    return abs(one - other) <= tolerance * max(abs(one), abs(other))


def _difference(given: Row, wanted: Row | None, place: str) -> str:
    if wanted is None:
        return f"{place}{shown(given)} is not expected"
    for column, (mine, theirs) in enumerate(zip(given, wanted, strict=True), 1):
        if _kind(mine) != _kind(theirs) and str(mine) == str(theirs):
            return f"{place}{shown(given)}, not {shown(wanted)}: column {column} is {_kind(mine)}, not {_kind(theirs)}"
    return f"{place}{shown(given)}, not {shown(wanted)}"


def _kind(cell: Any) -> str:
    if isinstance(cell, int | float):
        return "a number"
    if isinstance(cell, Other):
        return f"of type {cell.kind}"
    return "a text" if isinstance(cell, str) else "a blob" if isinstance(cell, bytes) else "NULL"


def shown(row: Row) -> str:
    """A row for people: plain text, bounded."""
    text = ", ".join(_cell(cell) for cell in row[:20])
    return f"({text[:SHOWN]}…)" if len(text) > SHOWN or len(row) > 20 else f"({text})"


def _cell(cell: Any) -> str:
    if cell is None:
        return "NULL"
    if isinstance(cell, Other):
        return ascii(cell.text[:SHOWN])
    return ascii(cell[:SHOWN] if isinstance(cell, str | bytes) else cell)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
