"""A choice that is rejected, doubted or taken back is no answer; one that is given in plain words is."""

from __future__ import annotations

import pytest

from lydite.verifiers import verify

METALS = ["iron", "gold", "lead", "zinc"]

REJECTED = [
    "Rule out {}", "Eliminate {}.", "I reject {}.", "Avoid {}", "{} would be incorrect", "{} must be wrong.",
    "{} is the least likely", "{} is impossible.", "{} does not work", "{} fails", "{} is a trap",
    "{} is a distractor.", "{} contradicts the text", "I would not pick {}", "{}, no", "~{}", "{}!=",
    "I can't tell whether it is {}", "I doubt the answer is {}.", "I don't think the answer is {}.",
    "The wrong answer is {}.", "Cross out {}.", "Discard {}.", "You should never choose {}.", "{} is nonsense.",
    "{} looks tempting.", "{} misreads the passage.", "It would be a mistake to pick {}.", "Stay away from {}.",
    "Nobody would go with {}.", "Who knows if it is {}.", "The least likely option is {}.", "~~{}~~",
    "{} seems unlikely.", "{} is out of the question.", "Of all of them I like {} least.", "!={}",
    "I refuse to choose {}.", "The answer is {}, no.", "The answer is hardly {}.",
    "The answer is {}? No.", "{} is right out.", "Few would say the answer is {}.", "I pick any but {}.",
    "You might think it is {}.",
]  # fmt: skip

GIVEN = [
    "{}", "So {}.", "I would go with {}.", "I'd pick {}.", "My choice: {}", "{} is correct.", "{} is the best answer.",
    "{} is the right choice, since it does not rust.", "{}, because the others do not fit.", "{} as it cannot rust.",
    "{} must be right.", "{} fits best.", "{} seems the most likely.", "I am confident that it is {}.",
    "I'm going with {}.", "After some thought I choose {}.", "If we weigh them, the answer is {}.",
    "It cannot be A, so the answer is {}.", "A is not it, hence it is {}.", "I choose {}, not A.",
    "Since A is not heavy enough, I pick {}.", "The answer is {} (not A).", "We conclude that it is {}.",
    "That leaves {}.", "Clearly {}", "The most appropriate option is {}.", "{}, I think.", "No doubt the answer is {}.",
    "The statement that is not true is {}.", "The incorrect statement is {}.",
    "{} is clearly true.",
    "Answer: {}\n\nIncorrect options: A, C", "\\boxed{{{}}}",
]  # fmt: skip


@pytest.mark.parametrize("form", REJECTED)
def test_a_rejected_choice_is_no_answer(form: str) -> None:
    for name in ("B", "(B)", "option B"):
        for config in ({"answer": "B"}, {"answer": "B", "choices": METALS}):
            verdict = verify({"type": "choice", "config": config}, form.format(name))
            assert not verdict.correct, (name, config, verdict)


@pytest.mark.parametrize("form", GIVEN)
def test_a_choice_in_plain_words_is_an_answer(form: str) -> None:
    for config in ({"answer": "B"}, {"answer": "B", "choices": METALS}):
        verdict = verify({"type": "choice", "config": config}, form.format("B"))
        assert verdict.correct, (config, verdict)


@pytest.mark.parametrize(
    "form", ["Rule out {}.", "{} is impossible.", "{} fails.", "I doubt that it is {}.", "Eliminate {}.", "{}, no"]
)
def test_nor_is_its_text(form: str) -> None:
    verdict = verify({"type": "choice", "config": {"answer": "B", "choices": METALS}}, form.format("gold"))
    assert not verdict.correct


@pytest.mark.parametrize("form", ["The heaviest of them is {}.", "I'd say {}.", "It is {}."])
def test_a_text_may_stand_in_a_full_sentence(form: str) -> None:
    assert verify({"type": "choice", "config": {"answer": "B", "choices": METALS}}, form.format("gold")).correct


@pytest.mark.parametrize(
    "turn", ["EDIT: C", "Alternatively: C", "Alternatively, C", "Update: (C)", "Edit - C", "New answer: C",
             "Second choice: C", "Revised: **C**", "Other possibility: C.\n", "Corrected answer: C", "Instead: C",
             "Or C", "Strike that, C"]
)  # fmt: skip
@pytest.mark.parametrize("first", ["Answer: B", "The answer is B.", "\\boxed{B}", "B"])
def test_an_answer_taken_back(first: str, turn: str) -> None:
    for config in ({"answer": "B"}, {"answer": "B", "choices": METALS}):
        verdict = verify({"type": "choice", "config": config}, f"{first}\n\n{turn}")
        assert not verdict.correct, (config, verdict)


@pytest.mark.parametrize("said", ["A, C but not A", "Answer: A, C but not A", "The answer is A and C, but not C."])
def test_several_of_which_one_is_taken_back(said: str) -> None:
    assert verify({"type": "choice", "config": {"answer": "AC"}}, said).reason == "ambiguous"
