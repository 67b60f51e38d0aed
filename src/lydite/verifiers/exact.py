"""``exact``: the whole completion is the answer, and it must equal the expected text.

Config: ``{answer: text | [texts, any of which will do], choices?: [texts], normalise?: [names]}``. With ``choices``, a
completion that is none of them is ``unparseable`` (``no_choice``) rather than wrong. Without ``normalise`` both sides
are brought to Unicode NFC and outer white space is dropped, nothing more: ``Paris.`` is not ``Paris``. A given list
replaces the default and is applied in its order.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.text import is_refusal

MAX_CHARS = 1_000_000
"""A longer completion is compared as it stands, without normalising it; it can only be wrong."""

NORMALISATIONS: dict[str, Callable[[str], str]] = {
    "strip": str.strip,
    "nfc": lambda text: unicodedata.normalize("NFC", text),
    "nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "casefold": str.casefold,
    "collapse": lambda text: " ".join(text.split()),
    "lines": lambda text: "\n".join(line.rstrip() for line in text.splitlines()).strip("\n"),
    "punctuation": lambda text: text.strip(" \t\r\n.,;:!?"),
    "quotes": lambda text: _unquote(text),
    "articles": lambda text: re.sub(r"\b(?:a|an|the)\s", "", text, flags=re.IGNORECASE),
}
"""Normalisations by name: outer white space; Unicode NFC or NFKC; case; runs of white space to one space; trailing
space of each line; outer punctuation; one pair of outer quotes; English articles."""

_DEFAULT = ["nfc", "strip"]
_PAIRS = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`", "«": "»"}


def _unquote(text: str) -> str:
    return text[1:-1] if len(text) > 1 and _PAIRS.get(text[0]) == text[-1] else text


class ExactVerifier:
    """The expected text, the whole text, and nothing but the text."""

    name = "exact"
    version = 1
    modules = ("lydite.verifiers.exact", "lydite.verifiers.text")
    examples = (
        Example(
            config={"answer": "forty-two"},
            right="forty-two\n",
            wrong="forty-one",
            hacks={"every answer": "forty-one\nforty-two\nforty-three", "the answer among words": "It is forty-two."},
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Normalise the expected answers once.

        Raises:
            InputError: unknown field or normalisation, no answer, an answer of which normalising leaves nothing.
        """
        for field in config:
            if field not in ("answer", "choices", "normalise"):
                raise InputError("unknown field", field=field, remedy="exact knows answer, choices and normalise")
        steps = [NORMALISATIONS[name] for name in _names(config.get("normalise", _DEFAULT))]

        def normal(text: str) -> str:
            for step in steps:
                text = step(text)
            return text

        expected = frozenset(normal(answer) for answer in _answers(config.get("answer"), "answer"))
        if "" in expected:
            raise InputError("is empty after normalising", field="answer", remedy="give the expected text")
        given = config.get("choices")
        choices = None if given is None else {normal(choice) for choice in _answers(given, "choices")}
        if choices is not None and not expected <= choices:
            raise InputError("is not among the choices", field="answer")
        identity = f"{self.name}@{self.version}"

        def check(submission: Submission) -> Verdict:
            text = submission.text
            said = normal(text) if len(text) <= MAX_CHARS else text
            shown = said if len(said) <= 500 else said[:500] + "…"
            if said in expected:
                return Verdict.of(1.0, "correct", identity, extracted=shown)
            if not said.strip():
                return Verdict.unparseable("no_answer", identity)
            if is_refusal(said):
                return Verdict.unparseable("refused", identity, extracted=shown)
            if choices is not None and said not in choices:
                return Verdict.unparseable("no_choice", identity, extracted=shown)
            return Verdict.of(0.0, "incorrect", identity, extracted=shown)

        return check


def _names(given: Any) -> list[str]:
    if not isinstance(given, list):
        raise InputError("expected a list of names", field="normalise", remedy=f"known: {', '.join(NORMALISATIONS)}")
    for name in given:
        if name not in NORMALISATIONS:
            raise InputError(f"unknown {name!r}", field="normalise", remedy=f"known: {', '.join(NORMALISATIONS)}")
    return given


def _answers(given: Any, field: str) -> list[str]:
    answers = given if isinstance(given, list) else [given]
    if not answers or not all(isinstance(answer, str | int | float) and answer is not True for answer in answers):
        raise InputError("expected a text, or a list of texts", field=field, remedy="give the expected text")
    return [str(answer) for answer in answers]
