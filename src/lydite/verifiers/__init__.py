"""From what a policy said to a verdict."""

from lydite.verifiers.build import CompiledChecker, build
from lydite.verifiers.protocol import Check, Submission, Verifier
from lydite.verifiers.registry import find, names
from lydite.verifiers.run import verify, verify_many

__all__ = ["Check", "CompiledChecker", "Submission", "Verifier", "build", "find", "names", "verify", "verify_many"]
