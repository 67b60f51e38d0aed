"""The verdict on a rollout: one definition, for those who judge it first and for those who replay it."""

from __future__ import annotations

from lydite.rollout import Rollout
from lydite.verdict import Verdict
from lydite.verifiers.protocol import Check, Submission


def derive(rollout: Rollout, check: Check) -> Verdict:
    """What a compiled checker says of a rollout. Depends on these two alone."""
    return check(Submission(text=rollout.text, prompt=rollout.prompt_text, messages=rollout.completion))


def policy_fault(code: str) -> Verdict:
    """The verdict on an attempt that the policy could not be asked for: ours to mend, never a wrong answer."""
    return Verdict.invalid(f"policy_error:{code}", "")
