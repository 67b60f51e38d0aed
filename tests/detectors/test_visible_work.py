from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.detectors import detect, visible_work
from lydite.errors import InputError
from lydite.flag import Flag
from lydite.rollout import Message, Rollout
from lydite.task import Checker, Task
from lydite.verdict import Verdict

WORK = "We buy 3 apples and 4 pears, which makes seven pieces of fruit in the basket that we carry home. So it is "


def flags(text: str, *, verifier: str = "math@1", score: float = 1.0, settings: Any = None) -> tuple[Flag, ...]:
    rollout = Rollout(id="r", task="t", task_digest="", completion=(Message(role="assistant", content=text),))
    task = Task(
        id="t",
        prompt=(),
        checker=Checker(type="math"),
        metadata={} if settings is None else {"flags": {"no_visible_work": settings}},
    )
    return detect(rollout, Verdict.of(score, "correct" if score else "incorrect", verifier), task)


@pytest.mark.parametrize(
    "text",
    [
        "\\boxed{7}",
        "7",
        "The answer is 7.",
        "#### 7",
        "<answer>3 + 4 = 7, 3 + 4 = 7</answer>",
        "word " * 30 + "\\boxed{7}",
    ],
)
def test_an_answer_without_work_is_flagged(text: str) -> None:
    (flag,) = flags(text)
    assert flag.detector == "no_visible_work"
    assert flag.bars


def test_work_is_not_flagged() -> None:
    assert flags(WORK + "\\boxed{7}") == ()


def test_what_is_in_the_box_is_no_work() -> None:
    assert flags("\\boxed{" + WORK + "\\frac{14}{2}}") != ()


def test_evidence_has_counts_and_thresholds() -> None:
    (flag,) = flags("so 3 + 4 is \\boxed{7}")
    assert flag.evidence == {"words": 4, "numbers": 2, "min_words": 20, "min_numbers": 2}


def test_only_correct_answers_are_looked_at() -> None:
    assert flags("\\boxed{7}", score=0.0) == ()


def test_a_whole_text_answer_has_no_room_for_work() -> None:
    assert flags("Paris", verifier="exact@1") == ()


def test_the_work_of_a_choice_needs_words_alone() -> None:
    assert flags("B", verifier="choice@1") != ()
    assert flags("word " * 25 + "so the answer is B.", verifier="choice@1") == ()


def test_thresholds_of_the_task() -> None:
    assert flags("3 + 4 = \\boxed{7}", settings={"min_words": 2, "min_numbers": 2}) == ()
    assert flags("\\boxed{7}", settings={"min_words": 0, "min_numbers": 0}) == ()
    assert flags("\\boxed{7}", settings=False) == ()
    (flag,) = flags(WORK, settings={"min_words": 100})
    assert flag.evidence["min_words"] == 100


def test_scripts_without_spaces_have_words() -> None:
    assert flags("一共有三个苹果和四个梨子，所以我们把它们加起来：3 + 4，" + "\\boxed{7}") == ()


@pytest.mark.parametrize("settings", [{"min_word": 3}, {"min_words": -1}, {"min_words": 2.5}, {"min_words": True}, 7])
def test_unusable_thresholds_name_the_field(settings: Any) -> None:
    with pytest.raises(InputError) as caught:
        flags("\\boxed{7}", settings=settings)
    assert caught.value.field is not None
    assert caught.value.field.startswith("metadata.flags.no_visible_work")


def test_a_megabyte_of_hostile_text_is_counted() -> None:
    assert flags("\\boxed{" * 100_000) != ()
    assert flags("{" * 1_000_000) != ()


def test_an_answer_within_a_composite_is_looked_at() -> None:
    assert flags("\\boxed{7}", verifier="gate@1(format@1,math@1)") != ()
    assert flags("\\boxed{7}", verifier="all_of@1(json_schema@1,math@1)") == ()


@given(
    st.lists(
        st.sampled_from(["word ", "5 ", "12.5", "\\boxed{", "}", "<answer>", "</answer>", "#### 7\n", "日", "w " * 490])
    )
    .map("".join)
    .filter(lambda text: len(text) < 3000),
    st.sampled_from([(20, 2), (0, 0), (490, 0), (500, 1)]),
)
def test_a_look_at_the_start_spares_none(text: str, least: tuple[int, int]) -> None:
    rest = visible_work._ANSWER.sub(" ", text)
    counts = [len(pattern.findall(rest)) for pattern in (visible_work._WORD, visible_work._NUMBER)]
    shown = all(count >= few for count, few in zip(counts, least, strict=True))
    names = {flag.detector for flag in flags(text, settings={"min_words": least[0], "min_numbers": least[1]})}
    assert ("no_visible_work" not in names) is shown
