"""95 % intervals for means over tasks. The task is the unit: attempts at one task are not independent of each other.

* Every task's value is 0 or 1 (one attempt each, or all attempts agree): the mean is a proportion, Wilson's interval.
* Anything else: percentile bootstrap over tasks. Attempts are never resampled, so sampling each of them twice, with
  nothing learned, does not narrow the interval.
* All values equal: a bootstrap would claim ±0. Instead Wilson bounds the share of tasks that could differ from what was
  seen (see ``_constant``); for values 0 and 1 this is Wilson's interval again: [0, 0.133] after 0 of 25.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal

import msgspec
import numpy as np

from lydite.errors import InputError

DRAWS = 10_000
"""Bootstrap draws: enough that two seeds agree to about a tenth of a point."""

LEVEL = 0.95
_CELLS = 2_000_000  # counts held at once while drawing

Method = Literal["wilson", "bootstrap", "constant"]


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A two-sided interval and how it was made."""

    low: float
    high: float
    method: Method


def wilson(successes: float, n: int, *, level: float = LEVEL) -> Interval:
    """Wilson's score interval for a proportion (Wilson 1927). At 0 and at n one end is exact, the other still has room.

    Args:
        successes: 0 to n.
        n: trials, at least 1.
        level: coverage, in (0, 1).
    """
    if n < 1 or not 0 <= successes <= n:
        raise InputError(f"{successes:g} successes out of {n} is no proportion")
    z = NormalDist().inv_cdf((1 + level) / 2)
    rate, weight = successes / n, z * z / n
    centre = (rate + weight / 2) / (1 + weight)
    half = z / (1 + weight) * math.sqrt(rate * (1 - rate) / n + weight / (4 * n))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Interval(low=low, high=high, method="wilson")


def bootstrap_mean(values: Sequence[float], *, draws: int = DRAWS, seed: int = 0, level: float = LEVEL) -> Interval:
    """Percentile bootstrap interval of the mean of ``values``, one value a task.

    A resample is drawn as the multinomial count of each distinct value, which has the law of drawing tasks with
    replacement and costs ``draws`` x distinct values instead of ``draws`` x tasks.

    Args:
        values: one number a task, at least one.
        draws: resamples, at least 2,000.
        seed: of the generator (PCG64); equal arguments give equal intervals.
        level: coverage, in (0, 1).
    """
    if not values:
        raise InputError("no values to resample")
    if draws < 2_000:
        raise InputError(f"must be at least 2000, not {draws}", field="draws")
    distinct, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    total = int(counts.sum())
    generator = np.random.default_rng(seed)
    step = max(1, _CELLS // len(distinct))
    means = np.concatenate(
        [
            generator.multinomial(total, counts / total, size=min(step, draws - start)) @ distinct
            for start in range(0, draws, step)
        ]
    )
    low, high = np.quantile(means / total, [(1 - level) / 2, (1 + level) / 2])
    return Interval(low=float(low), high=float(high), method="bootstrap")


def mean_interval(
    values: Sequence[float],
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    draws: int = DRAWS,
    seed: int = 0,
    level: float = LEVEL,
) -> Interval:
    """The interval of a mean over tasks by the rules at the head of this module.

    Args:
        values: one number a task, each within ``bounds``, at least one.
        bounds: the least and greatest value that a task can have: (0, 1) for pass@k, (-1, 1) for differences.
        draws, seed, level: as in ``bootstrap_mean``.
    """
    if not values:
        raise InputError("no tasks, so there is no interval")
    if bounds == (0.0, 1.0) and all(value in (0.0, 1.0) for value in values):
        return wilson(math.fsum(values), len(values), level=level)
    if min(values) == max(values):
        return _constant(values[0], len(values), bounds, level)
    return bootstrap_mean(values, draws=draws, seed=seed, level=level)


def _constant(value: float, n: int, bounds: tuple[float, float], level: float) -> Interval:
    """n tasks all gave ``value``. The share of tasks that give something else is at most Wilson's u after 0 of n;
    at worst they all sit at one bound, which moves the mean from ``value`` by u times the distance to it.
    """
    share = wilson(0, n, level=level).high
    return Interval(
        low=value - share * (value - bounds[0]), high=value + share * (bounds[1] - value), method="constant"
    )
