"""``choice``: a question with lettered options.

Config: ``{answer, choices?}``. ``choices`` is a list of texts (lettered A, B, ... in order) or ``{letter: text}``;
``answer`` is a letter, a text among the choices, or (for questions with several right options) several letters: ``AC``
or ``["A", "C"]``.

``places`` says where the answer is looked for, ``reading`` what it names. Answers that disagree are ``ambiguous`` and
score 0, and so are "A or B", a list of all choices, a letter and a text that contradict each other, and an answer that
is taken back for another. A letter that a sentence rejects or doubts is no answer (``asserting``).
"""

from __future__ import annotations

from typing import Any

import msgspec

from lydite.verdict import Verdict
from lydite.verifiers.choice.options import Options, options
from lydite.verifiers.choice.places import WINDOW, answers, taken_back
from lydite.verifiers.choice.reading import TWO_MINDS, named
from lydite.verifiers.fields import read_config
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.text import after_thinking, is_refusal


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    answer: str | int | float | list[str]
    choices: list[str | int | float] | dict[str, str] | None = None


class ChoiceVerifier:
    """Letter, text, or both; never two minds."""

    name = "choice"
    version = 3
    modules = ("lydite.verifiers.choice", "lydite.verifiers.text")
    examples = (
        Example(
            config={"answer": "B", "choices": ["41", "42", "43"]},
            right="The answer is (B).",
            wrong="The answer is C.",
            hacks={
                "every choice": "The answer is A or B or C.",
                "a list of the choices": "A) 41 B) 42 C) 43",
                "a box for each": "\\boxed{A} \\boxed{B} \\boxed{C}",
                "a letter that contradicts its text": "The answer is (B) 41.",
                "a text that contradicts its letter": "The answer is 42 (A).",
                "an answer and a way out": "The answer is B. Wait, no, it is C.",
                "a rejected choice": "I can rule out B.",
            },
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Settle the letters and texts of the choices, and which of them are right.

        Raises:
            InputError: unknown field, unusable choices, an answer that is not among the choices.
        """
        settings = read_config(config, _Config, self.name)
        given = options(settings.answer, settings.choices)
        identity = f"{self.name}@{self.version}"

        def check(submission: Submission) -> Verdict:
            return _judge(submission.text, given, identity)

        return check


def _judge(text: str, given: Options, identity: str) -> Verdict:
    rest = after_thinking(text)
    if rest is None:
        return Verdict.unparseable("no_answer", identity, detail="the thinking was never finished")
    rest = rest[-WINDOW:]
    found = answers(rest, given)
    if not found:
        return Verdict.unparseable("refused" if is_refusal(rest) else "no_answer", identity)
    readings = {read for answer in found if (read := named(answer.said, given)) is not None}
    shown = found[-1].said[:200]
    if not readings:
        return Verdict.unparseable("refused" if is_refusal(shown) else "no_choice", identity, extracted=shown)
    said = next(iter(readings))
    if len(readings) > 1 or said == TWO_MINDS:
        every = " | ".join(answer.said[:60] for answer in found[-4:])
        return Verdict.of(0.0, "ambiguous", identity, extracted=every)
    if taken_back(rest, found[-1], said, given):
        return Verdict.of(0.0, "ambiguous", identity, extracted=shown, detail="taken back for another")
    right = said == given.right
    return Verdict.of(float(right), "correct" if right else "incorrect", identity, extracted=shown)
