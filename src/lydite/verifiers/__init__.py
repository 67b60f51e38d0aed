"""From what a policy said to a verdict."""

from lydite.verifiers.build import CompiledChecker, build
from lydite.verifiers.protocol import Check, Example, Submission, Verifier
from lydite.verifiers.registry import find, names
from lydite.verifiers.run import verify, verify_many
from lydite.verifiers.task_checker import checker_of

__all__ = [
    "Check",
    "CompiledChecker",
    "Example",
    "Submission",
    "Verifier",
    "build",
    "checker_of",
    "find",
    "names",
    "verify",
    "verify_many",
]
