"""Formal proofs, checked by the prover's own kernel in the sandbox against the grader's own statement."""

from lydite.verifiers.proof.verifier import ProofVerifier

__all__ = ["ProofVerifier"]
