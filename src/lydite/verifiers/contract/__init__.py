"""The contract suite: what every verifier, built in or a user's own, is held to.

Covered: verdicts that are right on the verifier's examples, refuse its hacks and never become ``invalid`` by what a
completion holds; the same verdict again, in any order, thread, event loop and process; bounds on time and memory; a
configuration that is used or refused; a process left as it was. Not covered: whether the verifier is right beyond its
examples, and what it does on purpose: the file of a user's verifier is executed.
"""

from lydite.verifiers.contract.checks import CHECKS, ContractCheck
from lydite.verifiers.contract.finding import Finding
from lydite.verifiers.contract.run import TIMEOUT, run_contract

__all__ = ["CHECKS", "TIMEOUT", "ContractCheck", "Finding", "run_contract"]
