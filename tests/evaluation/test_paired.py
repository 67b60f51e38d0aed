import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.evaluation import paired, sign_test
from memory_rows import make_rows


def binary(passed: str) -> dict[str, list[float]]:
    return {f"t{index}": [float(mark)] for index, mark in enumerate(passed)}


def test_difference_is_b_minus_a_over_the_same_tasks() -> None:
    result = paired(make_rows(binary("0010")), make_rows(binary("1110")))
    assert (result.a, result.b, result.difference) == (0.25, 0.75, 0.5)
    assert (result.fixed, result.broken, result.same, result.tasks) == (2, 0, 2, 4)


def test_pairing_sees_what_overlapping_intervals_hide() -> None:
    base = "01" * 100
    better = "1" * 20 + base[20:]
    result = paired(make_rows(binary(base)), make_rows(binary(better)))
    assert result.low > 0
    assert result.p == pytest.approx(2 * 0.5**10)


def test_swapping_sides_mirrors_the_result() -> None:
    one, two = make_rows(binary("0110100")), make_rows(binary("1110001"))
    there, back = paired(one, two), paired(two, one)
    assert there.difference == -back.difference
    assert (there.fixed, there.broken) == (back.broken, back.fixed)
    assert there.p == back.p


def test_no_change_at_all_still_has_an_interval() -> None:
    result = paired(make_rows(binary("01" * 20)), make_rows(binary("01" * 20)))
    assert result.difference == 0
    assert result.low < 0 < result.high
    assert result.p == 1


def test_only_common_tasks_are_compared_and_the_others_counted() -> None:
    result = paired(make_rows({"a": [1], "b": [0]}), make_rows({"b": [1], "c": [1], "d": [0]}))
    assert (result.tasks, result.only_a, result.only_b) == (1, 1, 2)


def test_runs_without_a_common_task_are_refused() -> None:
    with pytest.raises(InputError, match="no task in common"):
        paired(make_rows({"a": [1]}), make_rows({"b": [1]}))


def test_one_id_for_two_tasks_is_refused() -> None:
    with pytest.raises(InputError, match="stand for different tasks"):
        paired(make_rows({"a": [1]}), make_rows({"a": [1]}, task_digest="another"))


def test_tasks_without_valid_attempts_are_left_out_and_counted() -> None:
    result = paired(make_rows({"a": [1], "b": [None]}), make_rows({"a": [1], "b": [1]}))
    assert (result.tasks, result.left_out) == (1, 1)


def test_nothing_comparable_is_an_error() -> None:
    with pytest.raises(InputError, match="2 valid attempts"):
        paired(make_rows({"a": [1]}), make_rows({"a": [1]}), k=2)


def test_equal_rates_from_different_numbers_of_attempts_are_the_same() -> None:
    result = paired(make_rows({"a": [1, 0, 0]}), make_rows({"a": [1, 0, 0] * 3}))
    assert (result.same, result.fixed, result.broken) == (1, 0, 0)


@pytest.mark.parametrize(
    ("up", "down", "p"), [(0, 0, 1.0), (6, 0, 0.03125), (10, 2, 0.0385742), (5, 5, 1.0), (1, 0, 1.0)]
)
def test_sign_test_values(up: int, down: int, p: float) -> None:
    assert sign_test(up, down) == pytest.approx(p, abs=1e-6)


@given(st.integers(0, 60), st.integers(0, 60))
def test_sign_test_is_the_exact_binomial_tail(up: int, down: int) -> None:
    n = up + down
    tail = sum(math.comb(n, i) for i in range(min(up, down) + 1)) / 2**n
    assert sign_test(up, down) == pytest.approx(min(1.0, 2 * tail), rel=1e-9)


def test_sign_test_of_many_tasks_does_not_underflow_to_nonsense() -> None:
    assert 0 <= sign_test(20_000, 10_000) < 1e-100
    assert sign_test(10_000, 10_100) == pytest.approx(math.erfc(99 / math.sqrt(20_100) / math.sqrt(2)), abs=1e-4)
