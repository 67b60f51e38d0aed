"""Does a curve rise? Mann and Kendall's test, its variance by Yue and Wang, and Theil and Sen's slope.

Sources: Mann (1945), Econometrica 13, 245-259; Kendall (1975), Rank Correlation Methods; Yue and Wang (2004), Water
Resources Management 18, 201-218 (neighbouring steps of a training run are alike, which makes the plain test too sure
of itself); Sen (1968), JASA 63, 1379-1389. Only the order of values counts, so neither outliers nor the scale matter.

At the level of 5 % the one-sided test speaks in 2 to 8 % of flat curves of 12 to 200 points whose neighbours correlate
by 0 to 0.8; the plain test in up to 27 %. More than that (a policy's drift is no stationary process) it cannot promise.
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
    """How much larger the variance is because neighbours are alike: n / n* of Yue and Wang (2004) for a first-order
    process, from what a straight line leaves. A fitted line takes correlation away; (n r + 2) / (n - 4) gives it back.
    Never below 1, which keeps the test careful."""
    n = len(rest)
    if float(np.ptp(rest)) <= 1e-9 * max(1.0, float(np.abs(rest).max())):
        return 1.0  # a straight line: what is left is rounding
    rest = rest - rest.mean()
    like = float((rest[1:] * rest[:-1]).sum() / (rest**2).sum())
    like = min(0.95, (n * like + 2) / (n - 4))
    if like <= 0:
        return 1.0
    lags = np.arange(1, n)
    return 1 + 2 * float(((1 - lags / n) * like**lags).sum())
