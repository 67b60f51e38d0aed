import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.evaluation import bootstrap_mean, mean_interval, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"), [(50, 164, 0.2396, 0.3791), (0, 25, 0.0, 0.1332), (0, 5000, 0.0, 0.00077)]
)
def test_wilson_values(successes: int, n: int, low: float, high: float) -> None:
    interval = wilson(successes, n)
    assert (interval.low, interval.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@given(st.integers(1, 10_000))
def test_at_the_edges_one_end_is_exact_and_the_other_is_not(n: int) -> None:
    none, every = wilson(0, n), wilson(n, n)
    assert none.low == 0.0 < none.high
    assert every.low < 1.0 == every.high
    assert none.high == pytest.approx(1 - every.low)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_rate_inside_the_unit_interval(sizes: tuple[int, int]) -> None:
    successes, n = sizes
    interval = wilson(successes, n)
    assert 0 <= interval.low <= successes / n <= interval.high <= 1


@pytest.mark.parametrize(("successes", "n"), [(1, 0), (3, 2), (-1, 2)])
def test_no_proportion_is_an_error(successes: int, n: int) -> None:
    with pytest.raises(InputError):
        wilson(successes, n)


def test_bootstrap_agrees_with_resampling_tasks_one_by_one() -> None:
    values = np.random.default_rng(5).choice([0, 0.25, 0.5, 0.75, 1], size=80)
    plain = values[np.random.default_rng(6).integers(0, 80, size=(20_000, 80))].mean(axis=1)
    interval = bootstrap_mean(list(values))
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(plain, [0.025, 0.975])), abs=0.006)


def test_bootstrap_width_is_that_of_the_normal_approximation() -> None:
    values = list(np.random.default_rng(1).random(400))
    interval = bootstrap_mean(values)
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * np.std(values) / 20, rel=0.05)


def test_bootstrap_is_a_function_of_its_seed_and_not_of_the_order() -> None:
    values = [index % 17 / 16.3 for index in range(40)]
    assert bootstrap_mean(values, seed=3) == bootstrap_mean(values[::-1], seed=3)
    assert bootstrap_mean(values, seed=3) != bootstrap_mean(values, seed=4)


def test_many_distinct_values_are_drawn_in_parts_of_bounded_size() -> None:
    values = list(np.random.default_rng(2).random(1_200))
    interval = bootstrap_mean(values, draws=2_000)
    assert interval.low < np.mean(values) < interval.high


def test_too_few_draws_are_refused() -> None:
    with pytest.raises(InputError, match="2000"):
        bootstrap_mean([0.0, 0.5], draws=100)


def test_zero_and_one_values_are_a_proportion() -> None:
    assert mean_interval([1.0] * 50 + [0.0] * 114) == wilson(50, 164)


def test_fractions_are_bootstrapped() -> None:
    assert mean_interval([0.0, 0.5, 1.0, 0.25]).method == "bootstrap"


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_equal_values_never_give_an_interval_of_no_width(value: float) -> None:
    interval = mean_interval([value] * 25)
    assert interval.high - interval.low == pytest.approx(0.1332, abs=1e-4)
    assert interval.low <= value <= interval.high


def test_equal_differences_never_give_an_interval_of_no_width() -> None:
    interval = mean_interval([0.0] * 25, bounds=(-1.0, 1.0))
    assert (interval.low, interval.high) == pytest.approx((-0.1332, 0.1332), abs=1e-4)
    improved = mean_interval([1.0] * 25, bounds=(-1.0, 1.0))
    assert 0 < improved.low < improved.high == 1


@settings(max_examples=40)
@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=60))
def test_an_interval_of_rates_is_within_bounds_and_has_width(values: list[float]) -> None:
    interval = mean_interval(values, draws=2_000)
    assert 0 <= interval.low < interval.high <= 1


def test_coverage_of_the_bootstrap_over_tasks_is_about_nominal() -> None:
    generator = np.random.default_rng(11)
    hits = 0
    for _ in range(200):
        rates = generator.beta(1, 1, size=100)
        values = list(generator.binomial(4, rates) / 4)
        interval = mean_interval(values, draws=2_000)
        hits += interval.low <= 0.5 <= interval.high
    assert hits / 200 > 0.89
