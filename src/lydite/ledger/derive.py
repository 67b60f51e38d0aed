"""The verdict on a rollout: one definition, for those who judge it first and for those who replay it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lydite.rollout import FinishReason, Rollout
from lydite.verdict import Verdict
from lydite.verifiers import CompiledChecker, Submission

if TYPE_CHECKING:
    from lydite.sandbox import Snapshot


def derive(rollout: Rollout, check: CompiledChecker, state: Snapshot | None = None) -> Verdict:
    """What a compiled checker says of a rollout and of what its episode left behind. Depends on these alone."""
    if rollout.finish is FinishReason.LOST:
        return Verdict.of(0.0, "workspace_lost", check.id, detail="its programs filled the memory of the workspace")
    submission = Submission(text=rollout.text, prompt=rollout.prompt_text, messages=rollout.completion, state=state)
    return check(submission)


def policy_fault(code: str) -> Verdict:
    """The verdict on an attempt that the policy could not be asked for: ours to mend, never a wrong answer."""
    return Verdict.invalid(f"policy_error:{code}", "")
