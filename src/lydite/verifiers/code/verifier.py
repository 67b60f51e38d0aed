"""``code``: run the program of a completion through tests, and count what comes out right."""

from __future__ import annotations

from typing import Any

from lydite.errors import InputError
from lydite.sandbox import Limits
from lydite.verdict import Part, Verdict
from lydite.verifiers.code import box
from lydite.verifiers.code.checker import CheckerError
from lydite.verifiers.code.config import AssertTest, CodeConfig, read_config
from lydite.verifiers.code.examples import EXAMPLES
from lydite.verifiers.code.faults import missing_module, undefined_name
from lydite.verifiers.code.judge import judge_tests
from lydite.verifiers.code.outcome import Outcome
from lydite.verifiers.code.source import find_source, prompt_code
from lydite.verifiers.protocol import Check, Submission
from lydite.verifiers.text import is_refusal

_ID = "code@3"
SHOWN = 2000
"""Characters of the program that a verdict keeps."""


class CodeVerifier:
    """Values out, never verdicts out."""

    name = "code"
    version = 3
    waits = True
    modules = ("lydite.verifiers.code", "lydite.verifiers.fences", "lydite.verifiers.text")
    examples = EXAMPLES

    def compile(self, config: dict[str, Any]) -> Check:
        """Read the tests and see that there is a sandbox.

        Raises:
            InputError: names the field of the configuration that is wrong.
            UnavailableError: no sandbox works here.
        """
        settings = read_config(config)
        box.sandbox()
        _has_its_modules(config, settings)

        def check(submission: Submission) -> Verdict:
            preamble = prompt_code(submission.prompt, settings.entry_point)
            if (fault := _fault(settings, preamble)) is not None:
                return Verdict.invalid("test_error", _ID, detail=fault)
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


def _has_its_modules(config: dict[str, Any], settings: CodeConfig) -> None:
    """Raises InputError where the sandbox lacks a module that assert source imports."""
    for field in ("tests", "visible"):
        for index, test in enumerate(config.get(field, ())):
            if isinstance(test, str) and (name := missing_module(test, Limits(timeout=30.0, memory_mb=512))):
                remedy = f"leave the import out ({settings.entry_point} is there without), or install it there"
                raise InputError(f"imports {name}: the sandbox has none", field=f"{field}.{index}", remedy=remedy)


def _fault(settings: CodeConfig, preamble: str) -> str | None:
    """What makes a test fail whoever is tested: told from the test and the prompt, which no candidate has a hand in."""
    for test in [*settings.tests, *settings.examples]:
        if not isinstance(test, AssertTest) or (test.plain and test.plain.means_the_same(preamble)):
            continue
        if (name := undefined_name(test.source, settings.entry_point or "", preamble)) is not None:
            return f"{test.name}: neither the test nor the prompt defines {name[:60]}"
    return None


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
