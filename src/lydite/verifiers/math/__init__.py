"""Mathematical answers: find the answer in a completion, and compare it by what it means.

In two stages, each of use by itself::

    found = extract(completion, "lenient")  # where the answer is, and what it says there
    gold = read("\\frac{1}{2}")  # once, for all attempts
    right = bool(found.answers) and compare(found.answers[-1], gold)

``MathVerifier`` adds what makes a verdict of it: doubts, restated questions, reasons, and limits. It compiles a gold
once; ``lydite.verifiers.build`` keeps what it compiled.
"""

from lydite.verifiers.math.answer import Answer, Rules
from lydite.verifiers.math.compare import compare
from lydite.verifiers.math.extract import extract
from lydite.verifiers.math.extraction import Extraction
from lydite.verifiers.math.kinds import kind_name, show
from lydite.verifiers.math.reading import read
from lydite.verifiers.math.verifier import MathVerifier, explain

__all__ = [
    "Answer",
    "Extraction",
    "MathVerifier",
    "Rules",
    "compare",
    "explain",
    "extract",
    "kind_name",
    "read",
    "show",
]
