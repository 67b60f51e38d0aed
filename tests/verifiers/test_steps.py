from __future__ import annotations

from typing import Any

import pytest

from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers import build, verify


def judge(text: str, **config: Any) -> Verdict:
    return verify({"type": "steps", "config": config}, text)


def test_the_score_is_the_fraction_of_right_claims() -> None:
    verdict = judge("3 + 4 = 7. 7 * 2 = 14. 14 / 4 = 3. 14 - 3 = 11.")
    assert (verdict.outcome, verdict.score, verdict.reason) == ("partial", 0.75, "false_claim")
    assert verdict.extracted == "3 of 4 claims are right"


def test_each_claim_is_a_part_with_its_words() -> None:
    parts = judge("3 + 4 = 7, then 7 * 2 = 15.").parts
    assert [(part.name, part.score, part.reason, part.evidence) for part in parts] == [
        ("c1", 1.0, "ok", "3 + 4 = 7"),
        ("c2", 0.0, "false_claim", "7 * 2 = 15"),
    ]


def test_all_false_is_incorrect() -> None:
    verdict = judge("3 + 4 = 8")
    assert (verdict.outcome, verdict.score) == ("incorrect", 0.0)


@pytest.mark.parametrize("text", ["The answer is 7.", "x = 7", "5 = 5", "7 " * 1000])
def test_no_claims_earn_nothing(text: str) -> None:
    assert (judge(text).score, judge(text).reason) == (0.0, "too_few_claims")


def test_repeating_a_claim_does_not_make_two() -> None:
    assert judge("1 + 1 = 2. " * 50, min_claims=2).reason == "too_few_claims"


def test_padding_without_end_earns_nothing() -> None:
    text = "\n".join(f"{n} + 1 = {n + 1}" for n in range(3000))
    assert (judge(text).score, judge(text).reason) == (0.0, "too_many_claims")


@pytest.mark.parametrize(
    ("text", "reason"), [("", "no_answer"), ("I cannot answer this.", "refused"), ("<think>1 + 1 = 2", "no_answer")]
)
def test_nothing_to_grade(text: str, reason: str) -> None:
    assert (judge(text).outcome, judge(text).reason) == ("unparseable", reason)


def test_thinking_is_not_the_work() -> None:
    assert judge("<think>3 + 4 = 8, no</think> 3 + 4 = 7").correct


def test_of_many_claims_the_false_ones_are_shown_first() -> None:
    text = "\n".join(f"{n} * 2 = {2 * n}" for n in range(2, 80)) + "\n80 * 2 = 161"
    verdict = judge(text)
    assert len(verdict.parts) == 50
    assert verdict.parts[0].evidence == "80 * 2 = 161"
    assert verdict.score == pytest.approx(78 / 79)


@pytest.mark.parametrize(
    ("config", "field"),
    [({"min_claims": 0}, "min_claims"), ({"min_claims": "2"}, "min_claims"), ({"claims": 1}, "claims")],
)
def test_unusable_configuration(config: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "steps", "config": config})
    assert caught.value.field == f"checker.config.{field}"
