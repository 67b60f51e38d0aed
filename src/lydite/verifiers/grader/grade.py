"""What one grader says of one completion."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Protocol

import msgspec

from lydite.verdict import Part
from lydite.verifiers.grader.sample import Sample


class Kind(StrEnum):
    """How far a grader came."""

    SCORED = "scored"
    NOTHING = "nothing"  # there is nothing to grade: the completion has no such field, or is no JSON
    FAILED = "failed"  # the grader failed on this completion, though it works on others
    BROKEN = "broken"  # our fault, or the author's: no completion may be blamed


class Grade(msgspec.Struct, frozen=True):
    """``score`` is in [0, 1], 0 unless ``kind`` is ``scored``; ``shown`` is what was compared, shortened."""

    score: float
    reason: str
    shown: str | None = None
    kind: Kind = Kind.SCORED
    detail: str | None = None
    parts: tuple[Part, ...] = ()


class Grader(Protocol):
    """A grader, ready for completions. Pure and thread-safe; raises nothing but ``SampleError``."""

    def __call__(self, sample: Sample) -> Grade: ...


def scored(score: float, threshold: float | None, shown: str | None = None, detail: str | None = None) -> Grade:
    """The grade for a number, brought into [0, 1]. NaN and infinities are no number, and count 0."""
    if not math.isfinite(score):
        return Grade(0.0, "score_out_of_range", shown, kind=Kind.FAILED, detail=f"the grader says {score}")
    if not 0.0 <= score <= 1.0:
        return Grade(float(score > 1.0), "score_out_of_range", shown, detail=f"the grader says {score:.6g}")
    if score == 1.0:
        return Grade(1.0, "correct", shown, detail=detail)
    if threshold is not None and score >= threshold:
        return Grade(score, "passed", shown, detail=detail)
    if threshold is not None and score > 0:
        return Grade(score, "below_threshold", shown, detail=detail)
    return Grade(score, "score" if score > 0 else "incorrect", shown, detail=detail)
