r"""Exact values of digits: plain, and with a period (0.1\overline{6}, 0.1(6), 0.333...)."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from lydite.verifiers.math.nodes import NotMathError, TooBigError

MAX_DIGITS = 2000


def number(text: str) -> Fraction:
    """Exact value of digits with an optional point. Refuses what is too long, before converting it."""
    if len(text) > MAX_DIGITS:
        raise TooBigError
    return _small(text) if len(text) < 16 else _exact(text)


def _exact(text: str) -> Fraction:
    return Fraction(int(text)) if text.isdigit() else Fraction(text)


_small = lru_cache(maxsize=4096)(_exact)


def repeating(text: str) -> Fraction:
    r"""0.1\overline{6}, 0.1(6), 0.\dot{1}4285\dot{7}, 0.333..."""
    if len(text) > 400:
        raise TooBigError
    if "line" in text or "bar" in text or "\\dot" in text.replace("\\dots", ""):
        text = re.split(r"\\[lc]?dots|\.\.\.", text)[0]
    if "..." in text or "dots" in text:
        digits = re.split(r"\\[lc]?dots|\.\.\.", text)[0]
        whole, _, fraction = digits.partition(".")
        for period in range(1, len(fraction) // 2 + 1):
            times = 3 if period == 1 else 2
            if len(fraction) >= period * times and fraction[-period * times :] == fraction[-period:] * times:
                return _period(whole, fraction[:-period], fraction[-period:])
        raise NotMathError
    head, _, rest = text.partition(".")
    lead = re.match(r"\d*", rest)
    fixed = lead.group() if lead else ""
    return _period(head, fixed, "".join(char for char in rest[len(fixed) :] if char.isdigit()))


def _period(whole: str, fixed: str, period: str) -> Fraction:
    base = Fraction(f"{whole or 0}.{fixed or 0}")
    return base + Fraction(int(period), (10 ** len(period) - 1) * 10 ** len(fixed))
