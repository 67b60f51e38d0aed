from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    ({"answer": "A"}, "A because the others fail.", "correct"),
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
    ({"answer": "London", "choices": CITIES}, "The answer is B (Paris)", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "The answer is London (A)", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "London, A", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "The answer is A (London)", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "The answer is B, i.e. Paris", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "The answer is B or maybe C", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "The answer is one of A, B, C, D.", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "The answer is Paris, London, Berlin, Rome", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "A) Paris B) London C) Berlin D) Rome", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "Paris London Berlin Rome", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "<answer>C</answer> <answer>B</answer>", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "The answer is B. Wait, no, it is C.", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "The answer is B. Actually C.", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "\\boxed{B} Hmm, no, it is (C).", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "It's B. No, A.", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "B then C", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "The answer is B E", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "Maybe B", "ambiguous"),
    ({"answer": "London", "choices": CITIES}, "The answer is anything but B", "unparseable"),
    ({"answer": "London", "choices": CITIES}, "The answer is neither A nor B", "unparseable"),
    ({"answer": "London", "choices": CITIES}, "The answer is Londonderry", "unparseable"),
    ({"answer": "London", "choices": CITIES}, "<answer></answer>", "unparseable"),
    ({"answer": "London", "choices": CITIES}, "B. London is bigger than Paris.", "correct"),
    ({"answer": "London", "choices": CITIES}, "Option B is correct.", "correct"),
    ({"answer": "London", "choices": CITIES}, "A is wrong, C is wrong, D is wrong, thus B.", "correct"),
    ({"answer": "London", "choices": CITIES}, "A looked right. Wait, no. The answer is B.", "correct"),
    ({"answer": "London", "choices": CITIES}, "The answer is B. No doubt about it.", "correct"),
    ({"answer": "London", "choices": CITIES}, "The answer is B. Wait, let me check: yes, B.", "correct"),
    ({"answer": "London", "choices": CITIES}, "#### B", "correct"),
    ({"answer": "London", "choices": CITIES}, '"B"', "correct"),
    ({"answer": "London", "choices": CITIES}, "→ B", "correct"),
    ({"answer": "London", "choices": CITIES}, "Answer (B)", "correct"),
    ({"answer": "London", "choices": CITIES}, "option b", "correct"),
    ({"answer": "London", "choices": CITIES}, "Ｂ", "correct"),
    ({"answer": "3", "choices": NUMBERS}, "The answer is -3.", "unparseable"),
    ({"answer": "3", "choices": NUMBERS}, "The answer is 3.5.", "unparseable"),
    ({"answer": "3", "choices": NUMBERS}, "The answer is 3/4.", "unparseable"),
    ({"answer": "York", "choices": ["York", "New York"]}, "The answer is New York.", "incorrect"),
    ({"answer": "vitamin C", "choices": ["vitamin C", "vitamin D"]}, "It must be vitamin C, I think", "correct"),
]


@pytest.mark.parametrize(("config", "text", "expected"), CASES)
def test_choice(config: dict[str, Any], text: str, expected: str) -> None:
    verdict = verify({"type": "choice", "config": config}, text)
    if expected == "not correct":
        assert verdict.score == 0
    else:
        assert expected in (verdict.outcome, verdict.reason)


LETTERS = "ABCD"
STATED = ["{}", "({})", "{}.", "The answer is {}.", "\\boxed{{{}}}", "<answer>{}</answer>", "So it is {}.", "#### {}"]
order = st.permutations(CITIES)


@given(order, st.integers(0, 3), st.sampled_from(STATED), st.sampled_from(["letter", "text", "both"]))
def test_one_choice_is_right_wherever_it_stands(cities: list[str], said: int, form: str, by: str) -> None:
    """In every order of the choices, by letter, text or both: only the choice itself is correct."""
    letter, text = LETTERS[said], cities[said]
    answer = form.format({"letter": letter, "text": text, "both": f"{letter}) {text}"}[by])
    if form == "So it is {}." and by != "letter":
        return
    for gold, city in zip(LETTERS, cities, strict=True):
        for right in (gold, city):
            verdict = verify({"type": "choice", "config": {"answer": right, "choices": cities}}, answer)
            assert verdict.correct is (gold == letter), (answer, verdict)


@given(order, st.lists(st.integers(0, 3), min_size=2, max_size=4, unique=True), st.sampled_from(STATED), st.data())
def test_several_choices_are_never_right(cities: list[str], said: list[int], form: str, data: st.DataObject) -> None:
    names = [data.draw(st.sampled_from([LETTERS[index], cities[index], f"({LETTERS[index]})"])) for index in said]
    joint = data.draw(
        st.sampled_from([" or ", ", ", " and ", "/", " ", " versus ", "; ", " or maybe ", " | ", "\n", ". "])
    )
    answer = form.format(joint.join(names))
    for gold in LETTERS:
        verdict = verify({"type": "choice", "config": {"answer": gold, "choices": cities}}, answer)
        assert not verdict.correct, (answer, verdict)


@given(order, st.integers(0, 3), st.integers(0, 3), st.sampled_from(STATED))
def test_a_letter_and_another_text_are_never_right(cities: list[str], one: int, other: int, form: str) -> None:
    if one == other:
        return
    for both in (
        f"{LETTERS[one]}) {cities[other]}",
        f"{cities[other]} ({LETTERS[one]})",
        f"{LETTERS[one]}, {cities[other]}",
    ):
        for gold in LETTERS:
            verdict = verify({"type": "choice", "config": {"answer": gold, "choices": cities}}, form.format(both))
            assert not verdict.correct, (both, verdict)


@given(st.text(alphabet="ABCD ()[].,:orand\n\\boxed{}answeris<>/#?", max_size=60))
def test_any_text_is_judged(text: str) -> None:
    verify({"type": "choice", "config": {"answer": "B", "choices": CITIES}}, text)


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
        ({"answer": []}, "answer"),
        ({"answer": True}, "answer"),
        ({"answer": "A", "choices": {"AB": "x"}}, "choices"),
        ({"answer": "A", "choices": {"A": "x", "a": "y"}}, "choices"),
    ],
)
def test_unusable_configuration(config: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "choice", "config": config})
    assert caught.value.field == f"checker.config.{field}"
