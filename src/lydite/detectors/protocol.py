"""What a detector is: it looks at an attempt and its verdict, a group, or the curves of a run, and may raise a flag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from lydite.flag import Flag
from lydite.rollout import Rollout
from lydite.task import Task
from lydite.verdict import Verdict


class Named(Protocol):
    """What all detectors have.

    Attributes:
        name: as it stands in flags and in ``metadata.flags``.
        version: rises whenever any flag could change.
        bars: whether its flags keep a sample from becoming ``chosen``. Only where honest work is flagged in less than
            one of a hundred cases.
    """

    name: str
    version: int
    bars: bool


class Detector(Named, Protocol):
    """A kind of suspicion about one attempt. Never changes a verdict; deterministic; never raises for anything in the
    attempt; time linear in the text."""

    def look(self, rollout: Rollout, verdict: Verdict, config: dict[str, Any]) -> Flag | None:
        """A flag, or nothing.

        Args:
            rollout: the attempt.
            verdict: what was said of it.
            config: this detector's thresholds for the task (``metadata.flags.<name>``); may be empty.

        Raises:
            InputError: a threshold is unknown or of another type.
        """
        ...


class TaskDetector(Named, Protocol):
    """As ``Detector``, for those that have to know what the task says: its tests, its files, its reference."""

    def look(self, rollout: Rollout, verdict: Verdict, config: dict[str, Any], task: Task) -> Flag | None:
        """A flag, or nothing."""
        ...


class GroupDetector(Named, Protocol):
    """A kind of suspicion that only shows when the attempts at one task stand side by side."""

    def look(
        self, rollouts: Sequence[Rollout], verdicts: Sequence[Verdict], config: dict[str, Any], task: Task
    ) -> list[Flag | None]:
        """For each attempt of the group a flag, or nothing."""
        ...
