"""``multi``: several graders, and a formula over their scores.

A part that could not be graded (no such field, a grader that failed) could be worth more than a bad score: in
``1 - rambling`` it would be the best there is. So such a part counts as whatever makes the result worst.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from lydite.verdict import Part
from lydite.verifiers.grader.formula import Formula, FormulaError
from lydite.verifiers.grader.grade import Grade, Grader, Kind, scored
from lydite.verifiers.grader.sample import Sample, SampleError

MAX_UNGRADED = 6
"""Parts without a score for which the worst result is looked for; with more it is 0."""
SHOWN = 300


class MultiGrader:
    """Parts by name, asked in their order, and a formula over their scores."""

    def __init__(self, graders: Mapping[str, Grader], formula: Formula, text: str, threshold: float | None) -> None:
        self._graders, self._formula, self._text, self._threshold = graders, formula, text, threshold

    def __call__(self, sample: Sample) -> Grade:
        said: dict[str, Grade] = {}
        for name, grader in self._graders.items():
            grade = said[name] = graded(grader, sample)
            if grade.kind is Kind.BROKEN:
                return Grade(0.0, f"invalid:{name}", kind=Kind.BROKEN, detail=f"{grade.reason}: {grade.detail}")
        parts = tuple(Part(name, grade.score, grade.reason, _evidence(grade)) for name, grade in said.items())
        shown = next((grade.shown for grade in said.values() if grade.shown is not None), None)
        try:
            score = self._worst(said)
        except FormulaError as error:
            detail = f"{self._text[:SHOWN]}: {error}"
            return Grade(0.0, "formula_error", shown, kind=Kind.FAILED, detail=detail, parts=parts)
        if all(grade.kind is Kind.NOTHING for grade in said.values()) and score <= 0:
            first = next(iter(said.items()))
            reason = f"{first[0]}:{first[1].reason}"
            return Grade(0.0, reason, shown, kind=Kind.NOTHING, detail=first[1].detail, parts=parts)
        found = scored(score, self._threshold, shown, self._text[:SHOWN])
        return Grade(found.score, found.reason, shown, detail=found.detail, parts=parts)

    def _worst(self, said: Mapping[str, Grade]) -> float:
        scores = {name: grade.score for name, grade in said.items()}
        ungraded = [n for n, g in said.items() if g.kind is not Kind.SCORED and n in self._formula.names]
        if len(ungraded) > MAX_UNGRADED:
            return 0.0
        return min(
            self._formula.value({**scores, **dict(zip(ungraded, values, strict=True))})
            for values in product((0.0, 1.0), repeat=len(ungraded))
        )


def graded(grader: Grader, sample: Sample) -> Grade:
    """What a grader says, also where the completion lacks what it asks for."""
    try:
        return grader(sample)
    except SampleError as error:
        return Grade(0.0, error.reason, kind=Kind.NOTHING, detail=error.detail)


def _evidence(grade: Grade) -> str | None:
    shown = grade.detail or grade.shown
    return shown[:SHOWN] if shown else None
