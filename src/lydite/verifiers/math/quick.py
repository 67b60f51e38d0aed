"""Verdicts on whole numbers, at once: most golds are one, and most answers."""

from __future__ import annotations

import re
from fractions import Fraction

from lydite.verdict import Outcome, Verdict

_WHOLE = re.compile(r"(?:-|\\?\$)?(?:\d{1,15}|\d{1,3}(?:,\d{3}){1,4})", re.ASCII)
_INCORRECT = Outcome.INCORRECT


class Quick:
    """A gold that is a number and nothing else, and the verdict on who repeats it. That it is dollars is forgiven.

    What it says of an answer, reading and comparing it would say as well: a test holds the two together.
    """

    __slots__ = ("_id", "_right", "_stated", "_value")

    def __init__(self, stated: str, value: Fraction, name: str) -> None:
        """Prepare the verdicts.

        Args:
            stated: the gold's text.
            value: what it says.
            name: name and version of the verifier.
        """
        self._value: Fraction | int = value.numerator if value.denominator == 1 else value
        self._id = name
        self._stated = stated if _WHOLE.fullmatch(stated) else None
        self._right = self._correct(stated)

    def __call__(self, said: str) -> Verdict | None:
        """The verdict on an answer that nothing around it changes; ``None`` where it is no whole number."""
        if said == self._stated:
            return self._right
        if not said.isdigit() or len(said) > 15:
            if _WHOLE.fullmatch(said) is None:
                return None
            value = int(said.replace(",", "").lstrip("\\$"))
        elif said.isascii():
            value = int(said)
        else:
            return None
        if value == self._value:
            return self._correct(said)
        return Verdict(outcome=_INCORRECT, score=0.0, reason="incorrect", extracted=said, verifier=self._id)

    def _correct(self, said: str) -> Verdict:
        return Verdict(outcome=Outcome.CORRECT, score=1.0, reason="correct", extracted=said, verifier=self._id)
