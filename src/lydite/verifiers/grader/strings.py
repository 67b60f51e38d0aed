"""``string_check``: whether one text is another, or is within it."""

from __future__ import annotations

from collections.abc import Callable

from lydite.errors import InputError
from lydite.verifiers.grader.grade import Grade, Grader, Kind
from lydite.verifiers.grader.sample import Sample
from lydite.verifiers.grader.templates import Template
from lydite.verifiers.text import is_refusal

OPERATIONS: dict[str, Callable[[str, str], bool]] = {
    "eq": lambda said, reference: said == reference,
    "ne": lambda said, reference: said != reference,
    "like": lambda said, reference: reference in said,
    "ilike": lambda said, reference: reference.casefold() in said.casefold(),
}
"""What holds of (input, reference). ``eq`` and ``ne`` look at every character, ``like`` and ``ilike`` for the reference
within the input."""
SHOWN = 500


def string_check(operation: str, said: Template, reference: Template) -> Grader:
    """A grader that gives 1 or 0.

    Raises:
        InputError: an empty reference, which every text contains and no answer equals.
    """
    if operation != "ne" and reference.fixed is not None and not reference.fixed.strip():
        raise InputError("is empty", field="reference", remedy="give the expected text")
    holds = OPERATIONS[operation]
    contains = operation in ("like", "ilike")

    def grade(sample: Sample) -> Grade:
        one, other = said.text(sample), reference.text(sample)
        shown = one if len(one) <= SHOWN else one[:SHOWN] + "…"
        if holds(one, other) and not (contains and not other.strip()):
            return Grade(1.0, "correct", shown)
        if is_refusal(one):
            return Grade(0.0, "refused", shown, kind=Kind.NOTHING)
        return Grade(0.0, "incorrect", shown)

    return grade
