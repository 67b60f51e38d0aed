"""``exact``: the whole completion is the answer, and it must equal the expected text.

Config: ``{answer: text | [texts, any of which will do], choices?: [texts], normalise?: [names]}``. With ``choices``, a
completion that is none of them is ``unparseable`` (``no_choice``) rather than wrong. Without ``normalise`` both sides
are brought to Unicode NFC and outer white space is dropped, nothing more: ``Paris.`` is not ``Paris``. A given list
replaces the default; both sides go through it in its order.

Equality, never containment: an empty answer is in every text, and a list of everything has the right one in it. What is
thought before the answer (``<think>...</think>``) is no part of it, unless the expected text speaks of such tags.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers.fields import read_config
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.text import after_thinking, is_refusal

MAX_CHARS = 1_000_000
"""A longer completion is compared as it stands, without normalising it; it can only be wrong."""

NORMALISATIONS: dict[str, Callable[[str], str]] = {
    "strip": str.strip,
    "whitespace": lambda text: " ".join(text.split()),
    "collapse": lambda text: " ".join(text.split()),
    "lines": lambda text: "\n".join(line.rstrip() for line in text.splitlines()).strip("\n"),
    "nfc": lambda text: unicodedata.normalize("NFC", text),
    "nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "casefold": str.casefold,
    "accents": lambda text: _without_accents(text),
    "punctuation": lambda text: text.strip(" \t\r\n.,;:!?…。，；：！？、"),
    "quotes": lambda text: _unquote(text),
    "articles": lambda text: _without_articles(text),
    "emphasis": lambda text: _unwrapped(text),
    "fence": lambda text: _unfenced(text),
    "numbers": lambda text: _number(text),
}
"""What a name does to a text:

* ``strip``: no outer white space. ``whitespace`` (also ``collapse``): moreover, a run of it within is one space.
  ``lines``: none at the ends of lines, no empty lines around.
* ``nfc``, ``nfkc``: the normal forms of Unicode; the second makes full-width forms and ligatures plain.
* ``casefold``: no difference of case. ``accents``: none of accents.
* ``punctuation``: no outer full stops, commas, semicolons, colons, exclamation and question marks.
* ``quotes``: without one pair of outer quotes. ``emphasis``: without outer ``*``, ``_`` and backticks in pairs.
* ``fence``: the content of a code fence that is the whole text.
* ``articles``: without the English articles a, an, the.
* ``numbers``: a text that is one number has one spelling: ``1,250.50`` and ``+1250.5`` are ``1250.5``.
"""

_DEFAULT = ("nfc", "strip")
_PAIRS = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`", "«": "»", "„": "“", "「": "」"}
_ARTICLES = re.compile(r"\b(?:a|an|the)\s+", re.IGNORECASE)
_FENCED = re.compile(r"\s*+(`{3,}+|~{3,}+)[^\n`]*+\n(.*)\n[ \t]*\1\s*", re.DOTALL)
_NUMERAL = re.compile(r"\s*([-+−]?)(\d{1,3}(?:,\d{3})+|\d{1,1000})(?:\.(\d{0,1000}))?\s*", re.ASCII)


def _unquote(text: str) -> str:
    return text[1:-1] if len(text) > 1 and _PAIRS.get(text[0]) == text[-1] else text


def _unwrapped(text: str) -> str:
    start, end = 0, len(text)
    while end - start > 1 and text[start] == text[end - 1] and text[start] in "*_`":
        start, end = start + 1, end - 1
    return text[start:end]


def _unfenced(text: str) -> str:
    match = _FENCED.fullmatch(text)
    return match.group(2) if match and match.group(1) not in match.group(2) else text


def _without_articles(text: str) -> str:
    return _ARTICLES.sub("", text)


def _without_accents(text: str) -> str:
    plain = "".join(char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
    return unicodedata.normalize("NFC", plain)


def _number(text: str) -> str:
    match = _NUMERAL.fullmatch(text)
    if match is None:
        return text
    sign, whole, decimals = match.groups()
    whole, decimals = whole.replace(",", "").lstrip("0") or "0", (decimals or "").rstrip("0")
    value = f"{whole}.{decimals}" if decimals else whole
    return f"-{value}" if sign in ("-", "−") and value != "0" else value


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    answer: str | int | float | list[str | int | float]
    choices: list[str | int | float] | None = None
    normalise: tuple[str, ...] = _DEFAULT


class ExactVerifier:
    """The expected text, the whole text, and nothing but the text."""

    name = "exact"
    version = 2
    modules = ("lydite.verifiers.exact", "lydite.verifiers.text")
    examples = (
        Example(
            config={"answer": "forty-two"},
            right="forty-two\n",
            wrong="forty-one",
            hacks={
                "nothing": " ",
                "every answer": "forty-one\nforty-two\nforty-three",
                "the answer among words": "It is forty-two.",
                "the answer and its denial": "forty-two, not forty-two",
            },
        ),
        Example(
            config={"answer": ["New York", "NYC"], "normalise": ["punctuation", "emphasis", "whitespace", "casefold"]},
            right="**new  york**.",
            wrong="Boston",
            hacks={"a part of it": "York", "more than it": "New York City, NYC"},
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Normalise the expected answers once.

        Raises:
            InputError: unknown field or normalisation, no answer, an answer of which normalising leaves nothing.
        """
        settings = read_config(config, _Config, self.name)
        steps = [NORMALISATIONS[name] for name in _names(settings.normalise)]

        def normal(text: str) -> str:
            for step in steps:
                text = step(text)
            return text

        answers = settings.answer if isinstance(settings.answer, list) else [settings.answer]
        if not answers:
            raise InputError("is empty", field="answer", remedy="give the expected text")
        expected = frozenset(normal(str(answer)) for answer in answers)
        if not all(answer.strip() for answer in expected):
            raise InputError("is empty after normalising", field="answer", remedy="give the expected text")
        choices = None if settings.choices is None else {normal(str(choice)) for choice in settings.choices}
        if choices is not None and not choices:
            raise InputError("is empty", field="choices", remedy="give the texts that count as an answer")
        if choices is not None and not expected <= choices:
            raise InputError("is not among the choices", field="answer", remedy="give one of the choices")
        literal = any("think>" in answer for answer in expected)
        identity = f"{self.name}@{self.version}"

        def check(submission: Submission) -> Verdict:
            rest = submission.text if literal else after_thinking(submission.text)
            if rest is None:
                return Verdict.unparseable("no_answer", identity, detail="the thinking was never finished")
            text = rest if rest is submission.text else rest.lstrip("\r\n")
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


def _names(given: tuple[str, ...]) -> tuple[str, ...]:
    for name in given:
        if name not in NORMALISATIONS:
            raise InputError(f"unknown {name[:60]!r}", field="normalise", remedy=f"known: {', '.join(NORMALISATIONS)}")
    return given
