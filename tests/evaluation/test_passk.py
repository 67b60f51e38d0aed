import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.evaluation import pass_at_k, pass_hat_k

counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [(10, 3, 1, 0.3), (10, 3, 5, 0.916667), (4, 1, 4, 1.0), (1, 0, 1, 0.0), (5, 0, 5, 0.0), (200, 1, 100, 0.5)],
)
def test_pass_at_k_values(n: int, c: int, k: int, value: float) -> None:
    assert pass_at_k(n, c, k) == pytest.approx(value, abs=1e-6)


def test_pass_hat_k_value() -> None:
    assert pass_hat_k(8, 6, 4) == pytest.approx(0.214286, abs=1e-6)


@pytest.mark.parametrize("function", [pass_at_k, pass_hat_k])
def test_more_k_than_attempts_is_an_error_and_never_a_number(function) -> None:
    with pytest.raises(InputError, match="at least 10 attempts"):
        function(1, 1, 10)


@pytest.mark.parametrize(("n", "c", "k"), [(4, 5, 1), (4, -1, 1), (4, 1, 0), (0, 0, 1)])
def test_impossible_counts_are_errors(n: int, c: int, k: int) -> None:
    with pytest.raises(InputError):
        pass_at_k(n, c, k)


@given(counts)
def test_equals_the_product_form(sizes: tuple[int, int, int]) -> None:
    n, c, k = sizes
    product = 1.0 if n - c < k else 1 - math.prod(1 - k / i for i in range(n - c + 1, n + 1))
    assert pass_at_k(n, c, k) == pytest.approx(product, abs=1e-12)


@given(counts)
def test_all_succeed_at_most_as_often_as_one_and_at_most_as_often_as_any(sizes: tuple[int, int, int]) -> None:
    n, c, k = sizes
    assert pass_hat_k(n, c, k) <= c / n <= pass_at_k(n, c, k)


@given(st.integers(1, 50).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), st.integers(2, 5))
def test_equal_rates_are_equal_numbers(sizes: tuple[int, int], times: int) -> None:
    n, c = sizes
    assert pass_at_k(n, c, 1) == pass_at_k(n * times, c * times, 1)


def test_is_an_average_over_subsets() -> None:
    from itertools import combinations

    attempts = [1, 1, 0, 0, 0, 0, 1]
    subsets = list(combinations(attempts, 3))
    assert pass_at_k(7, 3, 3) == pytest.approx(sum(map(any, subsets)) / len(subsets))
    assert pass_hat_k(7, 3, 3) == pytest.approx(sum(map(all, subsets)) / len(subsets))


def test_large_counts_do_not_overflow() -> None:
    assert pass_at_k(5000, 1, 2500) == pytest.approx(0.5)
