"""``choice``: a question with lettered options.

Config: ``{answer, choices?}``. ``choices`` is a list of texts (lettered A, B, ... in order) or ``{letter: text}``;
``answer`` is a letter, a text among the choices, or (for questions with several right options) several letters: ``AC``
or ``["A", "C"]``.

Where the answer is looked for, first hit wins: the last box; an ``<answer>`` tag; the last "answer is ..." / "Answer:
..."; a whole completion, or last line, that is nothing but a choice; "it is B" or "I think B" in the last line. A bare
"A" before more words is the article and never an answer. Different answers in boxes, or after "answer is" in the place
that counts, are ``ambiguous`` and score 0, and so is "A or B". A letter and a text that contradict each other are
``ambiguous`` as well.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.text import after_thinking, boxes, is_refusal

WINDOW = 65536
"""Characters at the end of a completion that are looked at."""
MAX_ANSWER = 1000
"""Characters of an answer that are looked at."""

_ANCHOR = re.compile(
    r"(?:\banswer|\boption|\bchoice)\b(?:\s(?:is|was|would be|must be|should be)\b|\s?[:：]"
    r"|\s?=)(?:\s(?:option|choice)\b)?[\s:*_]{0,8}",
    re.IGNORECASE,
)
_WITHDRAWN = re.compile(r"\b(?:not|isn't|wrong|incorrect|eliminated?)\b", re.IGNORECASE)
_TEX = re.compile(
    r"\\(?:text|textbf|textit|mathrm|mathbf|mathit|mathsf|textrm|operatorname|bf|rm|left|right"
    r"|displaystyle)\b\s?|\\[,;:! ()\[\]]|[${}*_`~]"
)
_LABEL = r"[(\[]?\s?([A-Za-z])\s?(?:[)\].:：,;]|(?=\s[-–—])|$)\s?"
_LETTER = re.compile(_LABEL)
_ONLY_LETTERS = re.compile(r"[(\[]?\s?[A-Z]\s?[)\]]?(?:(?:\s?[,&+]\s?|\s(?:and)\s)?[(\[]?\s?[A-Z]\s?[)\]]?){0,25}\.?$")
_HEDGE = re.compile(r"\b(?:or|either|maybe|possibly|perhaps|both|neither|unless|versus|vs)\b|/|\?", re.IGNORECASE)


_PICK = re.compile(
    r"\b(?:choose|pick|select|go with|go for|so it is|so it's|it must be|i'd say|i say)\s(?:option |choice )?"
    r"([(\[]?[A-Z][)\]]?)(?=[.,;!]|\s*$|\s*\n)",
    re.IGNORECASE,
)
_BARE = r"(?:[*_]{0,2}[(\[]?[A-Z][)\]]?[*_]{0,2})"
_SAID = re.compile(
    r"(?<!\w)(?:(?i:it|that|this|answer) (?i:is|must be|has to be|should be|would be)|(?i:it's|that's)"
    r"|(?i:i|we) (?i:think|believe|guess|say|choose|pick)(?: (?i:that )?(?i:it is|it's))?)\s(?:(?i:option|choice) )?"
    rf"({_BARE}(?:(?:,\s?(?:or |and )?|\s(?:or|and)\s|\s?/\s?){_BARE}(?!\w)){{0,8}})"
    r"(?=[.,;!:]|\s*$|\s(?:because|since)\b)"
)
"""A choice in the last line: "It is (B).", "I think B". A capital alone before more words is the article."""
_ASIDE = re.compile(
    r",? (?:because|since|as|rather than|instead of|and not|but not)\s|, (?:not|so|for)\s", re.IGNORECASE
)


class ChoiceVerifier:
    """Letter, text, or both; never two minds."""

    name = "choice"
    version = 1
    modules = ("lydite.verifiers.choice", "lydite.verifiers.text")
    examples = (
        Example(
            config={"answer": "B", "choices": ["41", "42", "43"]},
            right="The answer is (B).",
            wrong="The answer is C.",
            hacks={
                "every choice": "The answer is A or B or C.",
                "a box for each": "\\boxed{A} \\boxed{B} \\boxed{C}",
                "a letter that contradicts its text": "The answer is (B) 41.",
            },
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Settle the letters and texts of the choices, and which of them are right.

        Raises:
            InputError: unknown field, unusable choices, an answer that is not among the choices.
        """
        for field in config:
            if field not in ("answer", "choices"):
                raise InputError("unknown field", field=field, remedy="choice knows answer and choices")
        choices = _choices(config.get("choices"))
        expected = _expected(config.get("answer"), choices)
        identity = f"{self.name}@{self.version}"

        def check(submission: Submission) -> Verdict:
            return _judge(submission.text, choices, expected, identity)

        return check


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text[: 4 * MAX_ANSWER])
    return " ".join(_TEX.sub("", text).split()).strip(" .,;:!")


def _fold(text: str) -> str:
    return _plain(text).casefold()


def _choices(given: Any) -> dict[str, str]:
    """Letter to folded text; empty when the choices are not known."""
    if given is None:
        return {}
    if isinstance(given, list) and all(isinstance(text, str | int | float) for text in given) and 0 < len(given) <= 26:
        given = {chr(65 + index): str(text) for index, text in enumerate(given)}
    good = (
        isinstance(given, dict)
        and given
        and all(len(k) == 1 and k.isalpha() and isinstance(v, str) for k, v in given.items())
    )
    if not good:
        raise InputError("expected a list of up to 26 texts, or {letter: text}", field="choices")
    folded = {letter.upper(): _fold(text) for letter, text in given.items()}
    if len(set(folded.values())) < len(folded) or "" in folded.values() or len(folded) < len(given):
        raise InputError("two choices are the same, or one is empty", field="choices")
    return folded


def _expected(given: Any, choices: dict[str, str]) -> frozenset[str]:
    """The right letters, or the one right text where no letters are known."""
    if isinstance(given, list) and given and all(isinstance(item, str) for item in given):
        return frozenset().union(*(_expected(item, choices) for item in given))
    if not isinstance(given, str | int | float) or given is True or not _plain(str(given)):
        raise InputError("expected a letter or a text", field="answer", remedy="give the right choice")
    plain = _plain(str(given))
    for letter, text in choices.items():
        if text == plain.casefold():
            return frozenset({letter})
    letters = _letters(plain.upper() if len(plain) == 1 else plain)
    if letters and (not choices or letters <= set(choices)):
        return letters
    if choices:
        raise InputError(
            f"{plain[:60]!r} is not among the choices", field="answer", remedy=f"choices: {', '.join(choices)}"
        )
    return frozenset({plain.casefold()})


def _letters(plain: str) -> frozenset[str]:
    """Letters of an answer that consists of nothing else: ``C``, ``(C)``, ``AC``, ``A, C and D``."""
    if not _ONLY_LETTERS.match(plain) or (len(plain) > 5 and plain.isalpha()):
        return frozenset()
    return frozenset(char for char in plain if char.isupper())


def _judge(text: str, choices: dict[str, str], expected: frozenset[str], identity: str) -> Verdict:
    rest = after_thinking(text)
    if rest is None:
        return Verdict.unparseable("no_answer", identity, detail="the thinking was never finished")
    rest = rest[-WINDOW:]
    found = _candidates(rest, choices, expected)
    if not found:
        return Verdict.unparseable("refused" if is_refusal(rest) else "no_answer", identity)
    readings = [_read(candidate, choices, expected) for candidate in found]
    shown = found[-1][:200]
    said = {reading for reading in readings if reading is not None}
    if not said:
        return Verdict.unparseable("refused" if is_refusal(shown) else "no_choice", identity, extracted=shown)
    if len(said) > 1 or frozenset() in said:
        return Verdict.of(0.0, "ambiguous", identity, extracted=" | ".join(item[:60] for item in found[-4:]))
    return Verdict.of(*((1.0, "correct") if said == {expected} else (0.0, "incorrect")), identity, extracted=shown)


def _candidates(text: str, choices: dict[str, str], expected: frozenset[str]) -> list[str]:
    """Texts that count as the answer: those of the first place that has any."""
    boxed = [_plain(box.content) for box in boxes(text)]
    boxed = [content for content in boxed if content]
    if boxed:
        return boxed[-20:]
    end = text.rfind("</answer>")
    start = text.rfind("<answer>", 0, end) if end >= 0 else -1
    if start >= 0:
        return [_plain(text[start + 8 : end])]
    spans = [match.span() for match in _ANCHOR.finditer(text)][-20:]
    ends = [start for start, _ in spans[1:]] + [len(text)]
    claims = [_claim(text[after:stop]) for (_, after), stop in zip(spans, ends, strict=False)]
    claims = [claim for claim in claims if claim and _read(claim, choices, expected) is not None]
    if claims:
        return claims
    picks = [
        match.group(1) for match in _PICK.finditer(text[-4 * MAX_ANSWER :]) if match.group(1).strip("()[]").isupper()
    ]
    if picks:
        return picks[-20:]
    lines = [line for line in text[-4 * MAX_ANSWER :].splitlines() if line.strip()]
    if lines:
        last = _plain(lines[-1])
        if _read(last, choices, expected) is not None and (
            _read(last, {}, expected) is not None or _fold(last) in choices.values() or len(lines) == 1
        ):
            return [last]
        return [_plain(match.group(1)) for match in _SAID.finditer(lines[-1][-MAX_ANSWER:])][-20:]
    return []


def _claim(text: str) -> str:
    """The first line of what follows "answer is", up to an aside."""
    line = text.lstrip()[:MAX_ANSWER].partition("\n")[0]
    aside = _ASIDE.search(line)
    return _plain(line[: aside.start()] if aside else line)


def _read(plain: str, choices: dict[str, str], expected: frozenset[str]) -> frozenset[str] | None:
    """The letters (or folded text) that an answer names; empty for two minds; ``None`` when it names no choice."""
    folded = plain.casefold()
    for letter, text in choices.items():
        if folded == text:
            return frozenset({letter})
    if not choices and frozenset({folded}) == expected:
        return expected
    letters = _letters(plain.upper() if len(plain) == 1 else plain)
    if letters and (not choices or letters <= set(choices)):
        return letters
    label = _LETTER.match(plain)
    named = {letter for letter, text in choices.items() if _names(folded, text)}
    if label and (not choices or label.group(1).upper() in choices):
        letter, rest = label.group(1).upper(), plain[label.end() :]
        if _LETTER.search(" " + rest) and _HEDGE.search(rest[:40]):
            return frozenset()
        if named and named != {letter} and choices[letter] not in folded:
            return frozenset()
        return frozenset({letter})
    hedge = re.match(r"[(\[]?(?:either )?[(\[]?([A-Z])[)\]]?(?: or |/| and/or | and maybe )[(\[]?([A-Z])\b", plain)
    if hedge or (_HEDGE.search(plain) and len(named) > 1):
        return frozenset()
    lead = re.match(r"[(\[]?([B-HJ-Z])[)\]]?\s", plain)  # "C because ..."; a lone A or I here is a word
    if lead and (not choices or lead.group(1) in choices) and not _WITHDRAWN.match(plain[lead.end() :]):
        return frozenset({lead.group(1)})
    if len(named) == 1 and not _WITHDRAWN.search(plain):
        return frozenset(named)
    return frozenset() if len(named) > 1 else None


def _names(folded: str, text: str) -> bool:
    at = folded.find(text)
    if at < 0:
        return False
    before, after = folded[at - 1 : at], folded[at + len(text) : at + len(text) + 1]
    return not before.isalnum() and not after.isalnum()
