"""Suspicions about attempts, groups and runs: flags that stand beside verdicts and never change them."""

from lydite.detectors.false_step import FalseStep
from lydite.detectors.protocol import Detector, GroupDetector, TaskDetector
from lydite.detectors.registry import (
    DETECTORS,
    GROUP_DETECTORS,
    check_settings,
    detect,
    detect_group,
    listed,
    names_looking,
)
from lydite.detectors.visible_work import NoVisibleWork

__all__ = [
    "DETECTORS",
    "GROUP_DETECTORS",
    "Detector",
    "FalseStep",
    "GroupDetector",
    "NoVisibleWork",
    "TaskDetector",
    "check_settings",
    "detect",
    "detect_group",
    "listed",
    "names_looking",
]
