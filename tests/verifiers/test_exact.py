from __future__ import annotations

from typing import Any

import pytest

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


def test_every_normalisation_is_idempotent() -> None:
    for name, step in NORMALISATIONS.items():
        for text in ("  The “a” b. \n c ", "Ǆ ﬁ"):
            assert name == "quotes" or name == "articles" or step(step(text)) == step(text)


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
