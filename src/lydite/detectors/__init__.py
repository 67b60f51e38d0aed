"""Suspicions about attempts: flags that stand beside verdicts and never change them."""

from lydite.detectors.false_step import FalseStep
from lydite.detectors.protocol import Detector
from lydite.detectors.registry import DETECTORS, detect
from lydite.detectors.visible_work import NoVisibleWork

__all__ = ["DETECTORS", "Detector", "FalseStep", "NoVisibleWork", "detect"]
