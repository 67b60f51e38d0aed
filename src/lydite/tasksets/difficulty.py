"""Difficulty labels: from a data set's own level, and from how often a policy solved the task."""

from __future__ import annotations

import re

from lydite.errors import InputError

_NUMBER = re.compile(r"[0-9]{1,4}")


def from_level(level: str | int | None) -> str:
    """``level-5`` from ``"Level 5"``, ``"5"`` or 5; empty where there is no number (MATH has ``"Level ?"``)."""
    found = _NUMBER.search(str(level)) if level is not None else None
    return f"level-{int(found[0])}" if found else ""


def from_pass_rate(rate: float, *, low: float = 0.1, high: float = 0.9) -> str:
    """A label from a task's success rate.

    A group that is all right or all wrong has no advantage to learn from, so the two ends have names of their own.

    Args:
        rate: share of correct attempts among the graded ones, 0 to 1.
        low, high: ends of the band that is worth training on.

    Returns:
        ``never`` (0), ``hard`` (below ``low``), ``medium``, ``easy`` (above ``high``) or ``always`` (1).

    Raises:
        InputError: the rate is not a fraction.
    """
    if not 0.0 <= rate <= 1.0:
        raise InputError(f"a pass rate is a fraction from 0 to 1, not {rate}", field="rate")
    if rate in (0.0, 1.0):
        return "never" if rate == 0.0 else "always"
    return "hard" if rate < low else "easy" if rate > high else "medium"
