"""The arithmetic of the work: claims, found and checked one by one."""

from lydite.verifiers.steps.claims import Claim, false_claims, find_claims
from lydite.verifiers.steps.tokens import TooManyClaimsError
from lydite.verifiers.steps.verifier import StepsVerifier

__all__ = ["Claim", "StepsVerifier", "TooManyClaimsError", "false_claims", "find_claims"]
