"""Attack a checker before a policy does."""

from lydite.probes.attempt import Probed, target_of
from lydite.probes.protocol import PROMISES, Attack, Check, Family, Finding, Level, Target
from lydite.probes.run import probe

__all__ = [
    "PROMISES",
    "Attack",
    "Check",
    "Family",
    "Finding",
    "Level",
    "Probed",
    "Target",
    "probe",
    "target_of",
]
