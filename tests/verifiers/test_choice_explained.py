"""An answer and what is said around it: explanations leave it as it is; hedges and changes of mind do not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.verdict import Verdict
from lydite.verifiers import verify

METALS = ["iron", "gold", "lead", "zinc"]
SUMS = ["7", "8", "9"]


def judge(text: str, **config: Any) -> Verdict:
    return verify({"type": "choice", "config": config}, text)


DENIALS = [
    "A and C are wrong.",
    "(A) and (D) are both incorrect.",
    "A, C and D can be eliminated.",
    "Options A, C, and D are ruled out.",
    "Neither A nor C is right.",
    "Option A (iron) is incorrect.",
    "A (iron) and C (lead) are not correct.",
    "Iron and lead are wrong.",
    "C is clearly false. A cannot be the answer.",
    "Option C rusts, which is wrong here.",
    "Gold is heavier than iron.",
    "I can show it.",
]
STATED = ["The answer is B. {}", "The answer is (B) gold. {}", "B\n\n{}", "**B) gold**\n\n{}", "(B) gold\n{}", "B. {}"]


@pytest.mark.parametrize("form", STATED)
@pytest.mark.parametrize("denial", DENIALS)
def test_denials_behind_an_answer_leave_it(form: str, denial: str) -> None:
    said = form.format(denial)
    assert judge(said, answer="B", choices=METALS).correct
    assert judge(said, answer="A", choices=METALS).reason == "incorrect"


@pytest.mark.parametrize(
    "explanation",
    ["Explanation: 3 + 5 = 8", "Because 3 + 5 = 8.", "3 + 5 equals 8, so the others are wrong.", "Reason: we add.",
     "We add 3 and 5.\n\nThis gives 8.", "Option A gives 7, which is too small.", "7 is too small. 9 is too large."],
)  # fmt: skip
@pytest.mark.parametrize("first", ["B", "(B)", "**B**", "B) 8", "(B) 8", "**B) 8**", "B. 8", "8"])
def test_an_answer_that_is_explained_afterwards(first: str, explanation: str) -> None:
    assert judge(f"{first}\n\n{explanation}", answer="B", choices=SUMS).correct


@pytest.mark.parametrize("first", ["B", "(B)", "B) 8", "**B) 8**"])
def test_it_needs_no_texts_of_choices(first: str) -> None:
    assert judge(f"{first}\n\nExplanation: 3 + 5 = 8, so the others fail.", answer="B").correct
    assert judge(f"{first}\n\nOption A (7) is incorrect.", answer="B").correct
    assert judge(f"{first}\n\nExplanation: 3 + 5 = 8.", answer="C").reason == "incorrect"


@pytest.mark.parametrize("end", ["So B.", "Thus, (B).", "Therefore it is B.", "Hence the answer is B."])
def test_a_conclusion_behind_all_choices_counts(end: str) -> None:
    said = f"Try each: A gives 7, B gives 8, C gives 9. {end}"
    assert judge(said, answer="B", choices=SUMS).correct
    assert judge(said, answer="C", choices=SUMS).reason == "incorrect"


TURNS = [
    "A and C are possible too.",
    "A and C are also correct.",
    "A is not wrong.",
    "A cannot be ruled out.",
    "It could be C as well.",
    "Maybe C.",
    "Or C.",
    "Wait, C.",
    "Actually, it is C.",
    "C works too.",
    "A works too.",
    "A also fits.",
    "A could be right.",
    "But C is better.",
    "B is wrong.",
    "That is not correct, C is.",
    "C",
    "lead",
    "The metal is lead.",
    "C) lead\nD) zinc",
    "Is it C?",
    "On second thought, I choose C.",
    "I might be mistaken.",
]


@pytest.mark.parametrize("form", STATED)
@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("gold", ["B"])
def test_what_is_no_explanation_makes_no_answer_right(form: str, turn: str, gold: str) -> None:
    assert judge(form.format(turn), answer=gold, choices=METALS).score == 0


@pytest.mark.parametrize("turn", ["Or C.", "C", "It could be C as well.", "C) 9", "A is not wrong.", "Actually C."])
def test_nor_where_no_texts_are_known(turn: str) -> None:
    for first in ("B", "(B)", "B) 8"):
        assert not judge(f"{first}\n\n{turn}", answer="B").correct


@given(st.permutations("ABCD"), st.sampled_from(["\n", "\n\n", ". ", ".\n"]), st.integers(2, 4), st.booleans())
def test_a_list_of_choices_is_no_answer(letters: list[str], joint: str, count: int, texts: bool) -> None:
    names = [f"{one}) {METALS['ABCD'.index(one)]}" if texts else one for one in letters[:count]]
    for gold in "ABCD":
        assert not judge(joint.join(names), answer=gold, choices=METALS).correct


@given(st.text(alphabet="ABC ()\n.,isnotwrgelad?", max_size=80))
def test_any_text_behind_an_answer_is_judged(text: str) -> None:
    judge("B\n" + text, answer="B", choices=METALS)
    judge("B\n" + text, answer="B")
