"""A question with lettered options: where the answer stands, what it names, and whether that is right."""

from lydite.verifiers.choice.verifier import ChoiceVerifier

__all__ = ["ChoiceVerifier"]
