"""A flag: a detector's suspicion about a rollout, with its evidence. Stands beside a verdict, never changes it."""

from __future__ import annotations

from typing import Any

import msgspec


class Flag(msgspec.Struct, frozen=True, kw_only=True):
    """One suspicion.

    Attributes:
        detector: name of the detector, for example ``no_visible_work``.
        version: the detector's version; detectors evolve, verdicts do not follow them.
        bars: whether the sample may not become ``chosen`` in a preference pair, nor an SFT row.
        evidence: what was seen, as plain JSON values.
    """

    detector: str
    version: int
    bars: bool
    evidence: dict[str, Any] = {}
