"""``code``: run the program of a completion through tests, and count what comes out right."""

from __future__ import annotations

from typing import Any

from lydite.verdict import Part, Verdict
from lydite.verifiers.code import box
from lydite.verifiers.code.checker import CheckerError
from lydite.verifiers.code.config import CodeConfig, read_config
from lydite.verifiers.code.examples import EXAMPLES
from lydite.verifiers.code.judge import judge_tests
from lydite.verifiers.code.outcome import Outcome
from lydite.verifiers.code.source import find_source, prompt_code
from lydite.verifiers.protocol import Check, Submission
from lydite.verifiers.text import is_refusal

_ID = "code@2"
SHOWN = 2000
"""Characters of the program that a verdict keeps."""


class CodeVerifier:
    """Values out, never verdicts out."""

    name = "code"
    version = 2
    waits = True
    modules = ("lydite.verifiers.code", "lydite.verifiers.text")
    examples = EXAMPLES

    def compile(self, config: dict[str, Any]) -> Check:
        """Read the tests and see that there is a sandbox.

        Raises:
            InputError: names the field of the configuration that is wrong.
            UnavailableError: no sandbox works here.
        """
        settings = read_config(config)
        box.sandbox()

        def check(submission: Submission) -> Verdict:
            preamble = prompt_code(submission.prompt, settings.entry_point)
            source = find_source(submission.text, settings.entry_point, preamble)
            if source is None:
                return Verdict.unparseable("refused" if is_refusal(submission.text) else "no_code", _ID)
            try:
                done = judge_tests(source, preamble, settings)
            except CheckerError as error:
                return Verdict.invalid("checker_error", _ID, detail=str(error)[:300])
            except box.LostError as error:
                return Verdict.invalid("sandbox_lost", _ID, detail=str(error)[:300])
            return _verdict(settings, done, source)

        return check


def _verdict(settings: CodeConfig, done: dict[str, Outcome], source: str) -> Verdict:
    outcomes = [(test.name, done[test.name]) for test in [*settings.tests, *settings.examples]]
    counted = [done[test.name] for test in settings.tests]
    passed = sum(outcome.score for outcome in counted)
    failure = next((outcome for outcome in counted if outcome.kind != "ok"), None)
    shown = [outcome.kind == "ok" for name, outcome in outcomes if name.endswith(" visible")]
    hidden = [outcome.kind == "ok" for name, outcome in outcomes if not name.endswith(" visible")]
    groups = (("visible", shown), ("hidden", hidden))
    words = [f"{word} {sum(group)} of {len(group)}" for word, group in groups if group]
    return Verdict.of(
        passed / len(counted),
        "correct" if failure is None else failure.kind,
        _ID,
        extracted=source if len(source) <= SHOWN else source[:SHOWN] + "…",
        parts=tuple(Part(name, done.score, done.kind, done.evidence) for name, done in outcomes),
        detail=", ".join(words),
    )
