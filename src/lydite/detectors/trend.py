"""Does a curve rise? Mann and Kendall's test, with Hamed and Rao's correction, and Theil and Sen's slope.

Sources: Mann (1945), Econometrica 13, 245-259; Kendall (1975), Rank Correlation Methods; Hamed and Rao (1998), J.
Hydrology 204, 182-196 (neighbouring steps of a training run are alike, which would make the plain test too sure of
itself); Sen (1968), JASA 63, 1379-1389. Only the order of values counts, so neither outliers nor the scale matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np

MIN_POINTS = 10
"""Fewer points than that show no trend that one could tell from chance."""
MAX_POINTS = 1000
"""A longer curve is averaged to so many: the test looks at every pair of points."""


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """What a curve does.

    Attributes:
        n: points.
        slope: Theil and Sen's, per step.
        p_rise: how likely at least such a rise is where there is none (one-sided).
        p_fall: the same for a fall.
    """

    n: int
    slope: float
    p_rise: float
    p_fall: float


def trend(xs: Sequence[float], ys: Sequence[float]) -> Trend | None:
    """The trend of a curve; nothing where it has fewer than ``MIN_POINTS`` finite points.

    Args:
        xs: steps, ascending, all different.
        ys: values; those that are not finite are left out.
    """
    x, y = np.asarray(xs, dtype=np.float64), np.asarray(ys, dtype=np.float64)
    kept = np.isfinite(x) & np.isfinite(y)
    x, y = _shortened(x[kept], y[kept])
    n = len(y)
    if n < MIN_POINTS:
        return None
    above = np.triu_indices(n, 1)
    rise = y[above[1]] - y[above[0]]
    slope = float(np.median(rise / (x[above[1]] - x[above[0]])))
    score = float(np.sign(rise).sum())
    _, ties = np.unique(y, return_counts=True)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    variance *= _correction(y - slope * x)
    if variance <= 0:
        return Trend(n=n, slope=slope, p_rise=1.0, p_fall=1.0)
    return Trend(
        n=n,
        slope=slope,
        p_rise=_above((score - 1) / math.sqrt(variance)),
        p_fall=_above((-score - 1) / math.sqrt(variance)),
    )


def linear_slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """The slope of least squares. Slopes of curves that add up add up too, which Theil and Sen's do not."""
    x, y = np.asarray(xs, dtype=np.float64), np.asarray(ys, dtype=np.float64)
    spread = x - x.mean()
    return float((spread * (y - y.mean())).sum() / (spread**2).sum())


def _above(z: float) -> float:
    """The normal distribution's upper tail."""
    return 0.5 * math.erfc(z / math.sqrt(2))


def _shortened(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A curve of at most ``MAX_POINTS``: means of neighbours."""
    if len(y) <= MAX_POINTS:
        return x, y
    parts = min(MAX_POINTS, len(y))
    return (
        np.array([part.mean() for part in np.array_split(x, parts)]),
        np.array([part.mean() for part in np.array_split(y, parts)]),
    )


def _correction(rest: np.ndarray) -> float:
    """How much larger the variance is because neighbours are alike (Hamed and Rao 1998, formula 3), from the ranks of
    what a straight line leaves; lags within chance left out; never below 1, which keeps the test careful."""
    n = len(rest)
    ranks = np.empty(n)
    ranks[np.argsort(rest, kind="stable")] = np.arange(n)
    ranks -= ranks.mean()
    total = float((ranks**2).sum())
    if total == 0:
        return 1.0
    factor = 0.0
    for lag in range(1, n // 2):
        like = float((ranks[lag:] * ranks[:-lag]).sum()) / total
        if abs(like) > 1.96 / math.sqrt(n):
            factor += (n - lag) * (n - lag - 1) * (n - lag - 2) * like
    return max(1.0, 1 + 2 * factor / (n * (n - 1) * (n - 2)))
