from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers import build, verify
from lydite.verifiers.exact import NORMALISATIONS


def judge(text: str, **config: Any) -> Verdict:
    return verify({"type": "exact", "config": config}, text)


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        ("Paris", "correct", "correct"),
        ("  Paris\n", "correct", "correct"),
        ("paris", "incorrect", "incorrect"),
        ("Paris.", "incorrect", "incorrect"),
        ("The answer is Paris", "incorrect", "incorrect"),
        ("", "unparseable", "no_answer"),
        (" \n", "unparseable", "no_answer"),
        ("I cannot answer that.", "unparseable", "refused"),
    ],
)
def test_the_whole_text_is_the_answer(text: str, outcome: str, reason: str) -> None:
    verdict = judge(text, answer="Paris")
    assert (verdict.outcome, verdict.reason) == (outcome, reason)


def test_composed_and_decomposed_letters_are_one_text() -> None:
    assert judge("cafe\u0301", answer="caf\u00e9").correct


def test_any_of_several_answers_will_do() -> None:
    assert judge("Lutetia", answer=["Paris", "Lutetia"]).correct


def test_a_number_as_answer() -> None:
    assert judge("42", answer=42).correct


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["casefold"], "PARIS, france"),
        (["punctuation"], "Paris, France!"),
        (["collapse"], " Paris,\n  France "),
        (["strip", "quotes"], ' "Paris, France" '),
        (["nfkc", "strip"], "Ｐaris, France"),
        (["articles"], "the Paris, France"),
        (["lines"], "Paris, France   \n"),
    ],
)
def test_named_normalisations(names: list[str], text: str) -> None:
    assert judge(text, answer="Paris, France", normalise=names).correct
    assert not judge(text, answer="Paris, France", normalise=[]).correct


ONCE = {"quotes", "fence"}  # one layer


@given(st.sampled_from(sorted(set(NORMALISATIONS) - ONCE)), st.text())
def test_a_normalisation_done_twice_does_no_more(name: str, text: str) -> None:
    step = NORMALISATIONS[name]
    assert step(step(text)) == step(text)


@given(st.sampled_from(sorted(NORMALISATIONS)), st.text(min_size=1))
def test_a_text_equals_itself_under_every_normalisation(name: str, text: str) -> None:
    if NORMALISATIONS[name](text).strip() and "think>" not in text:
        assert judge(text, answer=text, normalise=[name]).correct


@pytest.mark.parametrize(
    ("name", "text", "normal"),
    [
        ("whitespace", " a\t\n b ", "a b"),
        ("numbers", "1,250.50", "1250.5"),
        ("numbers", " +007 ", "7"),
        ("numbers", "-0.0", "0"),
        ("numbers", "−3", "-3"),
        ("numbers", "1,25", "1,25"),
        ("numbers", "1.2.3", "1.2.3"),
        ("numbers", "12 apples", "12 apples"),
        ("accents", "Évora", "Evora"),
        ("emphasis", "**Paris**", "Paris"),
        ("emphasis", "`x*y`", "x*y"),
        ("emphasis", "*", "*"),
        ("fence", "```text\na\nb\n```", "a\nb"),
        ("fence", "```\na\n```\n```\nb\n```", "```\na\n```\n```\nb\n```"),
        ("punctuation", "東京。", "東京"),
        ("quotes", "„Paris“", "Paris"),
        ("articles", "The cat and an owl", "cat and owl"),
    ],
)
def test_what_a_normalisation_does(name: str, text: str, normal: str) -> None:
    assert NORMALISATIONS[name](text) == normal


def test_the_order_of_normalisations_is_that_of_the_list() -> None:
    assert judge('"Paris".', answer="Paris", normalise=["punctuation", "quotes"]).correct
    assert not judge('"Paris".', answer="Paris", normalise=["quotes", "punctuation"]).correct


@pytest.mark.parametrize("name", sorted(NORMALISATIONS))
@pytest.mark.parametrize(
    "text", ["", " ", "P", "aris", "Paris London Rome", "Paris, Paris", "not Paris", "Paris\nLondon"]
)
def test_neither_a_part_of_the_answer_nor_more_than_it_is_the_answer(name: str, text: str) -> None:
    assert judge(text, answer="Paris", normalise=[name]).score == 0


def test_thinking_is_no_part_of_the_answer() -> None:
    assert judge("<think>London? No.</think>\n\nParis", answer="Paris", normalise=[]).correct
    assert judge("<think>Paris", answer="Paris").reason == "no_answer"
    assert judge("<think>Paris</think>London", answer="Paris").reason == "incorrect"


def test_an_answer_may_speak_of_tags() -> None:
    assert judge("<think>a</think>b", answer="<think>a</think>b").correct


def test_choices_tell_a_wrong_answer_from_none() -> None:
    assert judge("no", answer="yes", choices=["yes", "no"]).reason == "incorrect"
    assert judge("perhaps", answer="yes", choices=["yes", "no"]).reason == "no_choice"


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({}, "answer"),
        ({"answer": []}, "answer"),
        ({"answer": " "}, "answer"),
        ({"answer": True}, "answer"),
        ({"answer": False}, "answer"),
        ({"answer": None}, "answer"),
        ({"answer": ["x", ""]}, "answer"),
        ({"answer": "the ", "normalise": ["articles"]}, "answer"),
        ({"answer": "x", "normalise": [["strip"]]}, "normalise.0"),
        ({"answer": "x", "choices": "x"}, "choices"),
        ({"answer": "x", "normalise": ["upper"]}, "normalise"),
        ({"answer": "x", "normalise": "strip"}, "normalise"),
        ({"answer": "x", "choices": ["y"]}, "answer"),
        ({"answer": "x", "normalize": []}, "normalize"),
    ],
)
def test_unusable_configuration(config: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "exact", "config": config})
    assert caught.value.field == f"checker.config.{field}"
