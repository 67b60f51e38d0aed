"""``false_step``: a right answer, with a step on the way that is false.

The answer was guessed, or two mistakes undid each other; a policy that learns from such work learns the mistake. The
sample stays correct; it is flagged, and barred from becoming a preferred example.

Applies to ``correct`` verdicts of ``math`` and ``choice``, alone or within a composite. The claims, and what makes one
false, are those of the checker ``steps``: an equality of known numbers that no reading makes right. What is thought
before the answer is not looked at.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from lydite.detectors.kinds import kinds
from lydite.errors import InputError
from lydite.flag import Flag
from lydite.rollout import Rollout
from lydite.verdict import Verdict

MAX_SHOWN = 3
"""False claims in the evidence; ``false`` there counts no more than these beyond the threshold, and nothing further is
looked at."""


class FalseStep:
    """Threshold per task: ``metadata.flags.false_step = {max_false}``, false claims that are let pass (default 0)."""

    name = "false_step"
    version = 2
    bars = True

    def look(self, rollout: Rollout, verdict: Verdict, config: dict[str, Any]) -> Flag | None:
        """A flag when a correct answer comes with more false claims than the threshold says.

        Raises:
            InputError: a threshold that is unknown, or not a whole number of at least 0.
        """
        most = _threshold(config)
        if not verdict.correct or not {"math", "choice"} & kinds(verdict):
            return None
        steps = _steps()
        try:
            wrong = steps.false_claims(rollout.text, most + MAX_SHOWN)
        except steps.TooManyClaimsError:
            return None
        if len(wrong) <= most:
            return None
        shown = [claim.text for claim in wrong[:MAX_SHOWN]]
        evidence = {"false": len(wrong), "max_false": most, "steps": shown}
        return Flag(detector=self.name, version=self.version, bars=self.bars, evidence=evidence)


@cache
def _steps() -> Any:
    """Imported where an attempt is right: others do not pay for it."""
    return import_module("lydite.verifiers.steps")


def _threshold(config: dict[str, Any]) -> int:
    for field, value in config.items():
        if field != "max_false":
            raise InputError("unknown threshold", field=field, remedy="false_step knows max_false")
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise InputError("expected a whole number of at least 0", field=field)
    return int(config.get("max_false", 0))
