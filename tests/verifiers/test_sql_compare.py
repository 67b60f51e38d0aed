"""Comparison of results, by its invariants."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from lydite.verifiers.sql.compare import Expected, compare, plainly, same, shown, unmatched
from lydite.verifiers.sql.rows import Row

CELLS = st.one_of(
    st.none(),
    st.integers(-3, 3),
    st.sampled_from([0.1, 0.5, 1.0, -2.0, 1e300]),
    st.sampled_from(["", "1", "a", "A"]),
    st.just(b"a"),
)
ROWS = st.lists(st.tuples(CELLS, CELLS), max_size=12)


@given(ROWS, st.randoms(use_true_random=False))
def test_a_result_equals_itself_in_any_order(rows: list[Row], chance: random.Random) -> None:
    mixed = rows[:]
    chance.shuffle(mixed)
    assert same(rows, mixed)
    for tolerance in (0.0, 1e-9):
        assert compare(plainly(2, rows, False), 2, mixed, tolerance) is None
        assert compare(plainly(2, rows, True), 2, rows, tolerance) is None


@given(ROWS, st.floats(-1e-10, 1e-10), st.randoms(use_true_random=False))
def test_rounding_is_forgiven_in_any_order(rows: list[Row], error: float, chance: random.Random) -> None:
    near = [tuple(cell * (1 + error) if isinstance(cell, float) else cell for cell in row) for row in rows]
    chance.shuffle(near)
    assert compare(plainly(2, rows, False), 2, near, 1e-9) is None


@given(ROWS, ROWS)
def test_rows_are_paired_one_to_one(rows: list[Row], wanted: list[Row]) -> None:
    extra, missing = unmatched(rows, wanted, 1e-9)
    assert len(rows) - len(extra) == len(wanted) - len(missing)
    assert same(rows, wanted) == (not unmatched(rows, wanted, 0.0)[0] and len(rows) == len(wanted))


@given(st.lists(st.integers(0, 2), min_size=1, max_size=8), st.data())
def test_any_order_within_a_rank_and_none_across(keys: list[int], data: st.DataObject) -> None:
    keys = sorted(keys)
    rows: list[Row] = [(key, number) for number, key in enumerate(keys)]
    start = data.draw(st.integers(0, len(rows)))
    count = data.draw(st.integers(0, len(rows) - start))
    expected = Expected(2, rows, keys, start, count, True)
    mixed = sorted(rows, key=lambda row: (row[0], data.draw(st.integers())))[start : start + count]
    assert compare(expected, 2, mixed, 0.0) is None
    if mixed and mixed[0][0] != mixed[-1][0]:
        assert (compare(expected, 2, mixed[::-1], 0.0) or ("", ""))[0] == "wrong_order"


def test_many_rows_that_are_almost_alike() -> None:
    rows: list[Row] = [(1.0 + 1e-13 * number, "x") for number in range(3000)]
    wanted: list[Row] = [(1.0 - 1e-13 * number, "x") for number in range(3000)]
    assert compare(plainly(2, wanted, False), 2, rows, 1e-9) is None


def test_zero_and_what_is_next_to_it() -> None:
    zero = plainly(1, [(0,)], False)
    assert compare(zero, 1, [(5e-17,)], 1e-9) is None
    assert compare(zero, 1, [(1e-6,)], 1e-9) is not None
    assert compare(plainly(1, [(1e-13,)], False), 1, [(2e-13,)], 1e-9) is not None


def test_infinity_is_near_nothing() -> None:
    infinity = float("inf")
    for number in (1.5, -1.5, 0.0, 1e308, -infinity):
        for one, other in ((number, infinity), (infinity, number)):
            assert compare(plainly(1, [(one,)], False), 1, [(other,)], 1e-9) is not None
            assert compare(plainly(2, [(2.0, one)], False), 2, [(2.0, other)], 1e-9) is not None
    assert compare(plainly(1, [(infinity,)], False), 1, [(infinity,)], 1e-9) is None


def test_a_row_is_shown_short_and_plain() -> None:
    assert len(shown(("x" * 1000,) * 100)) < 200
    assert shown((None, 1, "é", b"\0")) == "(NULL, 1, '\\xe9', b'\\x00')"
