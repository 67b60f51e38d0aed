"""Mathematical answers: find the answer in a completion, and compare it by what it means."""

from lydite.verifiers.math.answer import Answer, Rules
from lydite.verifiers.math.compare import compare
from lydite.verifiers.math.extract import Extraction, extract
from lydite.verifiers.math.kinds import kind_name, show
from lydite.verifiers.math.reading import read
from lydite.verifiers.math.verifier import MathVerifier, explain

__all__ = ["Answer", "Extraction", "MathVerifier", "Rules", "compare", "explain", "extract", "kind_name", "read", "show"]
