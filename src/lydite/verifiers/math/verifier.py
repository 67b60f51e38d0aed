"""First comparator: plain numbers and equal text."""

from __future__ import annotations
from fractions import Fraction
from typing import Any
from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers.protocol import Check, Submission
from lydite.verifiers.math.extract import extract
import re


def _num(s: str) -> Fraction | None:
    s = s.replace("−", "-").replace("{,}", "").replace("\\$", "").replace("$", "").replace(" ", "")
    s = re.sub(r"\\[dt]?frac\{(-?\d{1,40})\}\{(\d{1,40})\}", r"\1/\2", s)
    s = re.sub(r"(?<=\d),(?=\d{3})", "", s)
    m = re.match(r"-?\d{0,200}(?:\.\d{1,200})?(?:/\d{1,40})?", s)
    try:
        return Fraction(m.group()) if m else None
    except (ValueError, ZeroDivisionError):
        return None


class MathVerifier:
    name = "math"
    version = 1
    modules = ("lydite.verifiers.math", "lydite.verifiers.text")

    def compile(self, config: dict[str, Any]) -> Check:
        if not isinstance(config.get("answer"), str | int | float):
            raise InputError("missing", field="answer", remedy="give the expected answer")
        gold = str(config["answer"])
        value = _num(gold)
        policy = config.get("extraction", "lenient")

        def check(submission: Submission) -> Verdict:
            found = extract(submission.text, policy)
            if not found.answers:
                return Verdict.unparseable("refused" if found.refused else "no_answer", "math@1")
            if found.relation == "scatter" or found.hedged:
                return Verdict.of(0.0, "ambiguous", "math@1", extracted=found.answers[-1])
            said = ", ".join(found.answers)
            good = said == gold or (value is not None and _num(said) == value)
            return Verdict.of(1.0 if good else 0.0, "correct" if good else "incorrect", "math@1", extracted=said)

        return check
