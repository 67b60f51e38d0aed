"""What a detector is: it looks at an attempt and its verdict, and may raise a flag with evidence."""

from __future__ import annotations

from typing import Any, Protocol

from lydite.flag import Flag
from lydite.rollout import Rollout
from lydite.verdict import Verdict


class Detector(Protocol):
    """A kind of suspicion. Never changes a verdict; deterministic."""

    name: str
    version: int
    bars: bool

    def look(self, rollout: Rollout, verdict: Verdict, config: dict[str, Any]) -> Flag | None:
        """A flag, or nothing.

        Args:
            rollout: the attempt.
            verdict: what was said of it.
            config: this detector's thresholds for the task (``metadata.flags.<name>``); may be empty.
        """
        ...
