from __future__ import annotations

import importlib
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lydite.verdict import Outcome, Verdict
from lydite.verifiers import verify


class Case(NamedTuple):
    reason: str
    gold: Any
    said: str
    prompt: str | None = None
    config: tuple[tuple[str, Any], ...] = ()


def turned(terms: list[str]) -> tuple[str, str]:
    """A long sum, and the same in another order: a gold, and an answer that is right and costly to compare."""
    return "+".join(terms), "+".join(reversed(terms))


COSTLY = [
    turned(["\\tanh" * 4 + f"(x+{k})" for k in range(1, 40)]),
    turned(["\\arctan" * 5 + f"(x+{k})" for k in range(1, 40)]),
    turned(["\\sqrt{" * 5 + f"x+{k}y" + "}" * 5 for k in range(1, 30)]),
]

CASES = [
    Case("correct", "7", "\\boxed{7}"),
    Case("correct", "\\frac{1}{2}", "Half of it: \\boxed{0.5}"),
    Case("correct", "x^2+2x+1", "\\boxed{(x+1)^2}"),
    Case("correct", "3 km", "The answer is 3000 m."),
    Case("correct", "2\\cos\\frac{\\pi}{16}", "\\boxed{\\sqrt{2+\\sqrt{2+\\sqrt{2}}}}"),
    Case("incorrect", "7", "\\boxed{8}"),
    Case("incorrect", "(1,2)", "\\boxed{(2,1)}"),
    Case("incorrect", "3 km", "\\boxed{3 \\text{ m}}"),
    Case("incorrect", "\\pi", "\\boxed{\\pi+10^{-100}}"),
    Case("incorrect", "7", "\\boxed{1=2}"),
    Case("no_answer", "7", ""),
    Case("no_answer", "7", "\\boxed{}"),
    Case("no_answer", "7", "<think>The answer is 7. \\boxed{7}"),
    Case("no_answer", "7", "The answer is 7.", config=(("extraction", "strict"),)),
    Case("refused", "7", "I cannot solve this problem."),
    Case("refused", "7", "\\boxed{\\text{I don't know}}"),
    Case("refused", "7", "As an AI, I have no opinion.", config=(("extraction", "strict"),)),
    Case("unparseable_answer", "7", "\\boxed{\\frac{7}{}}"),
    Case("unparseable_answer", "x+1", "\\boxed{x + \\sqrt{}}"),
    Case("unparseable_answer", "\\frac{1}{2}", "\\boxed{\\frac{1}{2}\\frac}"),
    Case("unparseable_gold", "", "\\boxed{7}"),
    Case("unparseable_gold", "\\frac{1}{", "\\boxed{7}"),
    Case("unparseable_gold", "1/0", "\\boxed{7}"),
    Case("unparseable_gold", "9" * 5000, "\\boxed{7}"),
    Case("ambiguous", "7", "\\boxed{7} \\boxed{8}"),
    Case("ambiguous", "7", "\\boxed{7} or maybe 8"),
    Case("ambiguous", "7", "\\boxed{7}. Wait, that is wrong."),
    Case("ambiguous", "7", "\\boxed{7 \\text{ or } 8}"),
    Case("ambiguous", "7", "The answer is 7. The answer is 8."),
    Case("restated_question", "x^2+2x+1", "\\boxed{(x+1)^2}", "Expand $(x+1)^2$."),
    Case("restated_question", "42", "\\boxed{6 \\cdot 7}", "What is $6 \\cdot 7$?"),
    Case("restated_question", "7", "\\boxed{3 + 4}"),
    Case("restated_question", "\\sqrt{3}", "\\boxed{\\frac{3}{\\sqrt{3}}}", "Simplify $\\frac{3}{\\sqrt{3}}$."),
    *(Case("timeout", gold, f"\\boxed{{{said}}}") for gold, said in COSTLY),
    Case("resource", "7", "\\boxed{9^{9^{9^9}}}"),
    Case("resource", "7", "\\boxed{((9!)!)!}"),
    Case("resource", "7", "\\boxed{" + "(" * 200 + "7" + ")" * 200 + "}"),
    Case("resource", "7", "\\boxed{" + "7" * 4000 + "}"),
]

OUTCOMES = {
    "correct": Outcome.CORRECT,
    "no_answer": Outcome.UNPARSEABLE,
    "refused": Outcome.UNPARSEABLE,
    "unparseable_answer": Outcome.UNPARSEABLE,
    "unparseable_gold": Outcome.INVALID,
}


def judged(case: Case) -> Verdict:
    return verify({"type": "math", "config": {"answer": case.gold, **dict(case.config)}}, case.said, case.prompt)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.reason}: {case.said[:40]}")
def test_reason(case: Case) -> None:
    verdict = judged(case)
    assert verdict.reason == case.reason
    assert verdict.outcome is OUTCOMES.get(case.reason, Outcome.INCORRECT)
    assert verdict.score == {Outcome.CORRECT: 1.0, Outcome.INVALID: None}.get(verdict.outcome, 0.0)


def test_each_reason_is_shown_three_times() -> None:
    counts = Counter(case.reason for case in CASES)
    assert len(counts) == 10
    assert min(counts.values()) >= 3


@pytest.mark.parametrize("case", [case for case in CASES if case.reason == "restated_question" and case.prompt])
def test_an_answer_that_is_worked_out_restates_nothing(case: Case) -> None:
    assert verify({"type": "math", "config": {"answer": case.gold}}, f"\\boxed{{{case.gold}}}", case.prompt).correct


@pytest.mark.parametrize(("gold", "said"), COSTLY)
def test_running_out_of_steps_is_no_matter_of_caches(gold: str, said: str) -> None:
    """Steps are counted again where values are still at hand from the last time."""
    case = Case("timeout", gold, f"\\boxed{{{said}}}")
    assert [judged(case).reason for _ in range(3)] == ["timeout"] * 3


@pytest.mark.parametrize(("gold", "said"), COSTLY)
def test_a_costly_gold_is_matched_by_its_own_words(gold: str, said: str) -> None:
    assert judged(Case("", gold, f"\\boxed{{{gold}}}")).correct
    assert judged(Case("", gold, "\\boxed{7}")).reason == "incorrect"


def limits() -> list[tuple[str, int]]:
    """The limits that the manual states: (module.NAME, number)."""
    manual = Path(__file__).parents[2] / "docs" / "math.md"
    rows = re.findall(r"^\|[^|]*\| (\d+) \| `(\w+\.\w+)` \|", manual.read_text(), re.MULTILINE)
    return [(name, int(number)) for number, name in rows]


@pytest.mark.parametrize(("name", "number"), limits())
def test_limits_are_those_of_the_manual(name: str, number: int) -> None:
    module, _, constant = name.partition(".")
    assert getattr(importlib.import_module(f"lydite.verifiers.math.{module}"), constant) == number


def test_the_manual_states_limits() -> None:
    assert len(limits()) > 10
