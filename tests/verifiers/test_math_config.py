from __future__ import annotations

from typing import Any

import pytest

from lydite.errors import InputError
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import build, verify


def judge(text: str, prompt: str | None = None, **config: Any) -> Verdict:
    return verify({"type": "math", "config": config}, text, prompt)


@pytest.mark.parametrize("answer", [42, 42.0, "42", "So 6 * 7 = 42\n#### 42", "\\boxed{42}"])
def test_gold_as_people_have_it(answer: Any) -> None:
    assert judge("\\boxed{42}", answer=answer).correct


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({}, "checker.config.answer"),
        ({"answer": None}, "checker.config.answer"),
        ({"answer": True}, "checker.config.answer"),
        ({"answer": ["1"]}, "checker.config.answer"),
        ({"answer": "1", "extraction": "loose"}, "checker.config.extraction"),
        ({"answer": "1", "tolerance": "big"}, "checker.config.tolerance"),
        ({"answer": "1", "tolerance": -1}, "checker.config.tolerance"),
        ({"answer": "1", "units": "furlong per fortnight"}, "checker.config.units"),
        ({"answer": "1", "tolerence": 0.1}, "checker.config.tolerence"),
    ],
)
def test_unusable_configuration_names_its_field(config: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "math", "config": config})
    assert caught.value.field == field
    assert caught.value.remedy


@pytest.mark.parametrize("gold", ["", "  ", "...", "\\boxed{}", "1/0", "9" * 5000])
def test_a_gold_that_is_no_answer_is_our_fault(gold: str) -> None:
    verdict = judge("\\boxed{7}", answer=gold)
    assert (verdict.outcome, verdict.score, verdict.reason) == (Outcome.INVALID, None, "unparseable_gold")


def test_strict_takes_boxes_alone() -> None:
    assert judge("The answer is 7.", answer="7").correct
    assert judge("The answer is 7.", answer="7", extraction="strict").reason == "no_answer"
    assert judge("The answer is \\boxed{7}.", answer="7", extraction="strict").correct


def test_last_number_never_counts_beside_a_box() -> None:
    assert not judge("\\boxed{6} where it ends in 7", answer="7").correct


def test_tolerance_is_relative() -> None:
    assert not judge("\\boxed{3.14}", answer="\\pi").correct
    assert judge("\\boxed{3.14}", answer="\\pi", tolerance=0.001).correct
    assert not judge("\\boxed{0.0000002}", answer="0.0000001", tolerance=0.001).correct
    assert not judge("\\boxed{0.001}", answer="0", tolerance=0.5).correct


def test_units_forgiven_required_ignored_named() -> None:
    assert judge("\\boxed{80}", answer="80 km/h").correct
    assert not judge("\\boxed{80}", answer="80 km/h", units="require").correct
    assert judge("\\boxed{80 \\text{ km/h}}", answer="80 km/h", units="require").correct
    assert judge("\\boxed{80 \\text{ m/s}}", answer="80 km/h", units="ignore").correct
    assert not judge("\\boxed{80 \\text{ m/s}}", answer="80", units="km/h").correct
    assert judge("\\boxed{80000 \\text{ m/h}}", answer="80", units="km/h").correct


@pytest.mark.parametrize(
    ("text", "reason", "outcome"),
    [
        ("\\boxed{7}", "correct", Outcome.CORRECT),
        ("\\boxed{8}", "incorrect", Outcome.INCORRECT),
        ("", "no_answer", Outcome.UNPARSEABLE),
        ("\\boxed{\\text{I don't know}}", "refused", Outcome.UNPARSEABLE),
        ("I cannot solve this problem.", "refused", Outcome.UNPARSEABLE),
        ("\\boxed{\\frac{7}{}}", "unparseable_answer", Outcome.UNPARSEABLE),
        ("\\boxed{7} \\boxed{8}", "ambiguous", Outcome.INCORRECT),
        ("\\boxed{7} or maybe 8", "ambiguous", Outcome.INCORRECT),
        ("\\boxed{7}. Wait, that is wrong.", "ambiguous", Outcome.INCORRECT),
        ("\\boxed{7 \\text{ or } 8}", "ambiguous", Outcome.INCORRECT),
        ("\\boxed{9^{9^{9^9}}}", "resource", Outcome.INCORRECT),
        ("\\boxed{3 + 4}", "restated_question", Outcome.INCORRECT),
    ],
)
def test_reasons(text: str, reason: str, outcome: Outcome) -> None:
    verdict = judge(text, answer="7")
    assert (verdict.reason, verdict.outcome) == (reason, outcome)


def test_the_question_is_no_answer() -> None:
    prompt = "Expand $(x+1)^2$."
    assert judge("\\boxed{(x+1)^2}", prompt, answer="x^2+2x+1").reason == "restated_question"
    assert judge("\\boxed{x^2+2x+1}", prompt, answer="x^2+2x+1").correct
    assert judge("\\boxed{1+2x+x^2}", prompt, answer="x^2+2x+1").correct


def test_an_echo_of_the_prompt_is_no_answer() -> None:
    prompt = (
        "A farmer has 17 sheep and all but 9 run away. How many of the 17 sheep are left? Write 9 or another number."
    )
    assert not judge(prompt, prompt, answer="9").correct


def test_extracted_shows_what_was_graded() -> None:
    assert judge("so $\\boxed{\\frac{1}{2}}$", answer="1/2").extracted == "\\frac{1}{2}"
    assert len(judge("\\boxed{" + "7" * 3000 + "}", answer="7").extracted or "") <= 300
