"""Reward schemes as other trainers name them."""

from __future__ import annotations

from lydite.errors import InputError
from lydite.reward import Flagged, Preset, RewardScheme
from lydite.verdict import Outcome, Verdict


def read_scheme(scheme: str | RewardScheme) -> RewardScheme:
    """The reward scheme of that name, or the scheme itself.

    Raises:
        InputError: an unknown name, or a scheme that acts on flags: no detector looks at another trainer's samples.
    """
    if isinstance(scheme, RewardScheme):
        if scheme.flagged is not Flagged.KEEP:
            raise InputError("flags are not raised here", field="scheme.flagged", remedy="use keep")
        return scheme
    try:
        return RewardScheme(preset=Preset(scheme))
    except ValueError:
        raise InputError(f"unknown scheme {scheme!r}", field="scheme", remedy=f"one of {', '.join(Preset)}") from None


def scheme_name(scheme: RewardScheme) -> str:
    """The scheme in words, as it goes into every record."""
    return f"{scheme.preset}+format={scheme.format_weight:g}+flagged={scheme.flagged}"


def reward_of(scheme: RewardScheme, verdict: Verdict) -> float | None:
    """The scalar of a verdict. The format term pays for a parseable answer, as everywhere in Lydite."""
    parseable = verdict.outcome is not Outcome.UNPARSEABLE and verdict.extracted is not None
    return scheme.reward(verdict, format_score=float(parseable))
