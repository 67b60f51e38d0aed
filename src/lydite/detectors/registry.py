"""Which detectors look at an attempt, and one call to have them all look."""

from __future__ import annotations

from lydite.detectors.false_step import FalseStep
from lydite.detectors.protocol import Detector
from lydite.detectors.visible_work import NoVisibleWork
from lydite.errors import InputError
from lydite.flag import Flag
from lydite.rollout import Rollout
from lydite.task import Task
from lydite.verdict import Verdict

DETECTORS: tuple[Detector, ...] = (NoVisibleWork(), FalseStep())
"""Every detector, in the order in which their flags are reported."""


def detect(rollout: Rollout, verdict: Verdict, task: Task) -> tuple[Flag, ...]:
    """Flags of one attempt.

    Args:
        rollout: the attempt.
        verdict: what was said of it.
        task: its task; ``metadata.flags.<detector>`` holds thresholds, and ``false`` there switches a detector off.

    Raises:
        InputError: unusable thresholds; names the field.
    """
    settings = task.metadata.get("flags") or {}
    if not isinstance(settings, dict):
        raise InputError("expected an object: detector to thresholds", field="metadata.flags")
    flags: list[Flag] = []
    for detector in DETECTORS:
        config = settings.get(detector.name, {})
        if config is False:
            continue
        if not isinstance(config, dict):
            raise InputError("expected an object, or false", field=f"metadata.flags.{detector.name}")
        try:
            flag = detector.look(rollout, verdict, config)
        except InputError as error:
            raise error.at(prefix=f"metadata.flags.{detector.name}") from None
        if flag is not None:
            flags.append(flag)
    return tuple(flags)
