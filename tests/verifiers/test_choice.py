from __future__ import annotations

from typing import Any

import pytest

from lydite.errors import InputError
from lydite.verifiers import build, verify

CITIES = ["Paris", "London", "Berlin", "Rome"]
YES_NO = ["yes", "no"]
NUMBERS = ["3", "4", "14"]

CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"answer": "B"}, "The answer is B.", "correct"),
    ({"answer": "B"}, "The answer is (B).", "correct"),
    ({"answer": "B"}, "\\boxed{B}", "correct"),
    ({"answer": "B"}, "\\boxed{\\text{B}}", "correct"),
    ({"answer": "B"}, "\\boxed{\\textbf{(B)}}", "correct"),
    ({"answer": "B"}, "\\boxed{b}", "correct"),
    ({"answer": "B"}, "B", "correct"),
    ({"answer": "B"}, "(B)", "correct"),
    ({"answer": "B"}, "B.", "correct"),
    ({"answer": "B"}, "B)", "correct"),
    ({"answer": "B"}, "**B**", "correct"),
    ({"answer": "B"}, "Answer: B", "correct"),
    ({"answer": "B"}, "**Answer:** B", "correct"),
    ({"answer": "B"}, "**Answer: B**", "correct"),
    ({"answer": "B"}, "The correct answer is option B", "correct"),
    ({"answer": "B"}, "The correct option is B because of this.", "correct"),
    ({"answer": "B"}, "Therefore, the answer is B, since A is wrong.", "correct"),
    ({"answer": "B"}, "A is wrong. C is wrong. So the answer is B", "correct"),
    ({"answer": "A"}, "A train leaves the station at noon.", "unparseable"),
    ({"answer": "A"}, "A", "correct"),
    ({"answer": "A"}, "The answer is A.", "correct"),
    ({"answer": "A"}, "The answer is a train.", "unparseable"),
    ({"answer": "A"}, "The answer is A train", "unparseable"),
    ({"answer": "B"}, "The answer is A or B.", "ambiguous"),
    ({"answer": "B"}, "The answer is either A or B.", "ambiguous"),
    ({"answer": "B"}, "\\boxed{A or B}", "ambiguous"),
    ({"answer": "B"}, "\\boxed{A/B}", "ambiguous"),
    ({"answer": "B"}, "The answer is A. The answer is B.", "ambiguous"),
    ({"answer": "B"}, "\\boxed{A} \\boxed{B}", "ambiguous"),
    ({"answer": "B"}, "\\boxed{B}. Again, \\boxed{B}", "correct"),
    ({"answer": "B"}, "The answer is C.", "incorrect"),
    ({"answer": "B"}, "", "unparseable"),
    ({"answer": "B"}, "I cannot answer this.", "unparseable"),
    ({"answer": "B"}, "no letters here at all", "unparseable"),
    ({"answer": "B"}, "<think>A? B?</think>The answer is B", "correct"),
    ({"answer": "B"}, "<think>The answer is B", "unparseable"),
    ({"answer": "B"}, "<answer>B</answer>", "correct"),
    ({"answer": "B", "choices": CITIES}, "The answer is London.", "correct"),
    ({"answer": "London", "choices": CITIES}, "The answer is B.", "correct"),
    ({"answer": "London", "choices": CITIES}, "B) London", "correct"),
    ({"answer": "London", "choices": CITIES}, "The answer is (B) London.", "correct"),
    ({"answer": "London", "choices": CITIES}, "The answer is B: Paris", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "The answer is London, not Paris.", "correct"),
    ({"answer": "London", "choices": CITIES}, "London", "correct"),
    ({"answer": "London", "choices": CITIES}, "london.", "correct"),
    ({"answer": "London", "choices": CITIES}, "The answer is Madrid", "unparseable"),
    ({"answer": "London", "choices": CITIES}, "\\boxed{London}", "correct"),
    ({"answer": "London", "choices": CITIES}, "\\boxed{\\text{Paris}}", "incorrect"),
    ({"answer": "London", "choices": CITIES}, "\\boxed{E}", "unparseable"),
    ({"answer": "London", "choices": CITIES}, "Paris or London", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "I would say Paris or London, hard to tell.", "not correct"),
    ({"answer": "London", "choices": {"A": "Paris", "B": "London"}}, "B", "correct"),
    ({"answer": "C", "choices": ["all of the above", "Paris", "none"]}, "The answer is none.", "correct"),
    ({"answer": "AC"}, "\\boxed{A, C}", "correct"),
    ({"answer": "AC"}, "\\boxed{AC}", "correct"),
    ({"answer": "AC"}, "A and C", "correct"),
    ({"answer": ["A", "C"]}, "The answer is A and C.", "correct"),
    ({"answer": "AC"}, "\\boxed{A}", "incorrect"),
    ({"answer": "A"}, "\\boxed{A, C}", "incorrect"),
    ({"answer": "A"}, "\\boxed{ABCD}", "incorrect"),
    ({"answer": "B"}, "Let me think about this. Option A says X. Option B says Y. I choose B.", "correct"),
    ({"answer": "B"}, "I'd go with B", "correct"),
    ({"answer": "B"}, "Final answer\nB", "correct"),
    ({"answer": "B"}, "### Answer\n**B**", "correct"),
    ({"answer": "B"}, "The answer is not B.", "not correct"),
    ({"answer": "B"}, "The answer is definitely not A, so it is B.", "correct"),
    ({"answer": "B"}, "The answer is B? No wait, C.", "not correct"),
    ({"answer": "yes", "choices": YES_NO}, "Yes", "correct"),
    ({"answer": "yes", "choices": YES_NO}, "The answer is yes, because there is no other way.", "correct"),
    ({"answer": "yes", "choices": YES_NO}, "no", "incorrect"),
    ({"answer": "4", "choices": NUMBERS}, "The answer is 4.", "correct"),
    ({"answer": "4", "choices": NUMBERS}, "The answer is 14.", "incorrect"),
    ({"answer": "4", "choices": NUMBERS}, "\\boxed{4}", "correct"),
    ({"answer": "x^2", "choices": ["x", "x^2"]}, "\\boxed{$x^2$}", "correct"),
    ({"answer": "B"}, "B. Because of the parity argument, the others fail.", "correct"),
    ({"answer": "A"}, "A because the others fail.", "not correct"),
    ({"answer": "I"}, "I think so.", "unparseable"),
    ({"answer": "B"}, "It is (B).", "correct"),
    ({"answer": "B"}, "It is B.", "correct"),
    ({"answer": "B"}, "It is **B**.", "correct"),
    ({"answer": "B"}, "It's B", "correct"),
    ({"answer": "B"}, "I think B", "correct"),
    ({"answer": "B"}, "I think it is B.", "correct"),
    ({"answer": "B"}, "I think that it is option B.", "correct"),
    ({"answer": "B"}, "It must be B because the others fail.", "correct"),
    ({"answer": "B"}, "It is not A, it is B.", "correct"),
    ({"answer": "A"}, "It is not A, it is B.", "incorrect"),
    ({"answer": "B"}, "A looked good first.\nIt is B.", "correct"),
    ({"answer": "B"}, "Perhaps it is A.\nNo.\nB", "correct"),
    ({"answer": "A"}, "It is A.", "correct"),
    ({"answer": "A"}, "It is a train.", "unparseable"),
    ({"answer": "A"}, "It is A train.", "unparseable"),
    ({"answer": "A"}, "It is a.", "unparseable"),
    ({"answer": "A"}, "It is not A.", "unparseable"),
    ({"answer": "B"}, "I don't think B.", "unparseable"),
    ({"answer": "B"}, "Is it B?", "unparseable"),
    ({"answer": "B"}, "It is B?", "unparseable"),
    ({"answer": "B"}, "It is A or B.", "ambiguous"),
    ({"answer": "B"}, "I think A or B", "ambiguous"),
    ({"answer": "B"}, "It is (A) or (B).", "ambiguous"),
    ({"answer": "B"}, "It is A/B.", "ambiguous"),
    ({"answer": "B"}, "It is A, B, or C.", "ambiguous"),
    ({"answer": "B"}, "It is A. It is B.", "ambiguous"),
    ({"answer": "B"}, "A or B", "ambiguous"),
    ({"answer": "AC"}, "It is A and C.", "correct"),
    ({"answer": "London", "choices": CITIES}, "It is B.", "correct"),
    ({"answer": "London", "choices": CITIES}, "It is E.", "unparseable"),
    ({"answer": "London", "choices": CITIES}, "It is (C).", "incorrect"),
]


@pytest.mark.parametrize(("config", "text", "expected"), CASES)
def test_choice(config: dict[str, Any], text: str, expected: str) -> None:
    verdict = verify({"type": "choice", "config": config}, text)
    if expected == "not correct":
        assert verdict.score == 0
    else:
        assert expected in (verdict.outcome, verdict.reason)


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({}, "answer"),
        ({"answer": ""}, "answer"),
        ({"answer": None}, "answer"),
        ({"answer": "E", "choices": CITIES}, "answer"),
        ({"answer": "Madrid", "choices": CITIES}, "answer"),
        ({"answer": "A", "choices": []}, "choices"),
        ({"answer": "A", "choices": ["x", "X"]}, "choices"),
        ({"answer": "A", "choices": "Paris"}, "choices"),
        ({"answer": "A", "option": "B"}, "option"),
    ],
)
def test_unusable_configuration(config: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "choice", "config": config})
    assert caught.value.field == f"checker.config.{field}"
