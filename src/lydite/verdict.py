"""A verdict: what a verifier says of one attempt. A pure function of (rollout, checker, verifier version)."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Outcome(StrEnum):
    """Five outcomes; nothing is ever squeezed into fewer."""

    CORRECT = "correct"
    PARTIAL = "partial"  # 0 < score < 1
    INCORRECT = "incorrect"
    UNPARSEABLE = "unparseable"  # the candidate's fault: there is nothing to grade
    INVALID = "invalid"  # our fault: no score, in no mean, counted and shown


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """One check among several: a test case, a claim, a component of a composite."""

    name: str
    score: float | None
    reason: str
    evidence: str | None = None


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a verifier says. Timings travel beside it, never inside: they would break replay.

    Attributes:
        outcome: one of the five.
        score: in [0, 1]; ``None`` exactly when the outcome is ``invalid``.
        reason: a short code, such as ``correct``, ``no_answer``, ``ambiguous``.
        extracted: the answer that was graded, as found in the completion.
        parts: one entry per check, where there are several.
        verifier: ``name@version``.
        detail: one sentence for a person; never needed to interpret the verdict.
    """

    outcome: Outcome
    score: float | None
    reason: str
    extracted: str | None = None
    parts: tuple[Part, ...] = ()
    verifier: str = ""
    detail: str | None = None

    def __post_init__(self) -> None:
        outcome, score = self.outcome, self.score
        if outcome is Outcome.INVALID:
            good = score is None
        elif outcome is Outcome.CORRECT:
            good = score == 1
        elif outcome is Outcome.PARTIAL:
            good = score is not None and 0 < score < 1
        else:
            good = score == 0
        if not good:
            raise ValueError(f"outcome {outcome} cannot have score {score!r}")

    @classmethod
    def of(cls, score: float, reason: str, verifier: str, **fields: Any) -> Verdict:
        """The verdict for a score in [0, 1]: its outcome follows from it."""
        outcome = Outcome.CORRECT if score == 1 else Outcome.PARTIAL if score > 0 else Outcome.INCORRECT
        return cls(outcome=outcome, score=score, reason=reason, verifier=verifier, **fields)

    @classmethod
    def unparseable(cls, reason: str, verifier: str, **fields: Any) -> Verdict:
        """Nothing to grade, by the candidate's doing: a refusal, no answer, an answer that is none."""
        return cls(outcome=Outcome.UNPARSEABLE, score=0.0, reason=reason, verifier=verifier, **fields)

    @classmethod
    def invalid(cls, reason: str, verifier: str, **fields: Any) -> Verdict:
        """Our own fault: no score at all."""
        return cls(outcome=Outcome.INVALID, score=None, reason=reason, verifier=verifier, **fields)

    @property
    def correct(self) -> bool:
        return self.outcome is Outcome.CORRECT
