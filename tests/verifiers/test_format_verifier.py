from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.verdict import Verdict
from lydite.verifiers import build, verify

RIGHT = "<think>6 * 7</think>\n<answer>42</answer>"


def judge(text: str, required: list[str] | None = None, **config: Any) -> Verdict:
    return verify({"type": "format", "config": {"required": required or ["think", "answer"], **config}}, text)


def reasons(text: str, **config: Any) -> dict[str, str]:
    return {part.name: part.reason for part in judge(text, **config).parts}


def test_every_tag_once_with_content_is_correct() -> None:
    verdict = judge(RIGHT)
    assert verdict.correct
    assert verdict.extracted == "42"
    assert [part.evidence for part in verdict.parts] == ["6 * 7", "42"]


@pytest.mark.parametrize("required", [["think", "answer"], ["<think>", "<answer>"], ["answer", "think"]])
def test_a_tag_is_named_with_or_without_brackets_in_any_order(required: list[str]) -> None:
    assert judge(RIGHT, required).correct


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("6 * 7", "missing"),
        ("<think></think>", "empty"),
        ("<think> \n </think>", "empty"),
        ("<think>...</think>", "empty"),
        ("<think>\u200b\u2060\ufeff</think>", "empty"),
        ("<think>\u3164\u2800</think>", "empty"),
        ("<think>★</think>", "empty"),
        ("<think>😀 🤔</think>", "empty"),
        ("<think>\ufffd</think>", "empty"),
        ("<think>\ud83d \udc4d</think>", "empty"),
        ("<think>&nbsp;</think>", "empty"),
        ("<think>&#160;&#xA0;&#x200B;&hellip;</think>", "empty"),
        ("<think>6 * 7", "not_closed"),
        ("6 * 7</think>", "not_opened"),
        ("</think>6 * 7<think>", "closed_before_opened"),
        ("<think>a</think><think>b</think>", "repeated"),
        ("<think>a<think>b</think></think>", "repeated"),
        ("<think>a</think></think>", "repeated"),
        ("<Think>a</Think>", "misspelt"),
        ("<think>a</think><think/>", "misspelt"),
        ("<think >a</think>", "misspelt"),
        ('<think class="x">a</think>', "misspelt"),
        ("< think>a</think>", "misspelt"),
    ],
)
def test_what_is_wrong_with_a_tag(text: str, reason: str) -> None:
    verdict = judge(text, ["think"])
    assert (verdict.score, verdict.parts[0].reason) == (0.0, reason)


@pytest.mark.parametrize(
    "content", ["x", "0", "ответ", "答え", "∞", "-1", "<b>bold</b>", "a < b", "😀 x", "R&D;", "&alpha;"]
)
def test_content(content: str) -> None:
    assert judge(f"<answer>{content}</answer>", ["answer"]).correct


def test_a_longer_name_is_another_tag() -> None:
    assert judge("<think>a</think><thinking>b</thinking><think-2>", ["think"]).correct


def test_a_tag_within_another_is_no_content_of_it() -> None:
    assert reasons("<think><answer>42</answer></think>") == {"think": "empty", "answer": "ok"}
    assert judge("<think>so <answer>42</answer></think>").correct


def test_crossing_tags_are_both_wrong() -> None:
    assert reasons("<think>a<answer>b</think>c</answer>") == {"think": "crossed", "answer": "crossed"}


def test_the_score_is_the_fraction_that_is_met() -> None:
    verdict = judge("<think>6 * 7</think> 42")
    assert (verdict.outcome, verdict.score, verdict.reason) == ("partial", 0.5, "answer:missing")


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (RIGHT, 1.0),
        (RIGHT + "<tool>x</tool>", 0.75),
        (RIGHT + "</TOOL >", 0.75),
        (RIGHT + " As an ai, I say", 0.75),
        (RIGHT + " AS AN AI <tool>", 0.5),
        ("<think>6 * 7</think>", 0.75),
        ("hello", 0.0),
        ("", 0.0),
    ],
)
def test_what_is_forbidden(text: str, score: float) -> None:
    assert judge(text, forbidden=["<tool>", "as an AI"]).score == score


def test_the_absence_of_something_earns_nothing_by_itself() -> None:
    assert reasons("hello", forbidden=["x"])["not x"] == "absent_from_nothing"


@pytest.mark.parametrize(("text", "reason"), [("", "no_answer"), (" \n", "no_answer"), ("I cannot say.", "refused")])
def test_nothing_to_grade(text: str, reason: str) -> None:
    assert (judge(text).outcome, judge(text).reason) == ("unparseable", reason)


@given(st.lists(st.sampled_from(["<think>", "</think>", "<answer>", "</answer>", "a", " ", "<", "<think", ">"])))
def test_correct_means_exactly_one_pair_of_each_with_content(pieces: list[str]) -> None:
    text = "".join(pieces)
    if judge(text).correct:
        for tag in ("think", "answer"):
            assert (text.count(f"<{tag}>"), text.count(f"</{tag}>")) == (1, 1)
            assert text.index(f"<{tag}>") < text.index(f"</{tag}>")
        assert text.count("a</") + text.count("a <") + text.count(">a") > 0


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({}, "required"),
        ({"required": []}, "required"),
        ({"required": "think"}, "required"),
        ({"required": ["think", "<think>"]}, "required.1"),
        ({"required": ["two words"]}, "required.0"),
        ({"required": ["<think"]}, "required.0"),
        ({"required": ["</think>"]}, "required.0"),
        ({"required": [""]}, "required.0"),
        ({"required": ["think"], "forbidden": ["<think>"]}, "forbidden.0"),
        ({"required": ["think"], "forbidden": ["hin"]}, "forbidden.0"),
        ({"required": ["think"], "forbidden": [" "]}, "forbidden.0"),
        ({"required": ["think"], "forbidden": ["x", "x"]}, "forbidden.1"),
        ({"required": ["think"], "ordered": True}, "ordered"),
    ],
)
def test_unusable_configuration(config: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "format", "config": config})
    assert caught.value.field == f"checker.config.{field}"


@pytest.mark.parametrize(
    "said",
    [
        "as\nan AI",
        "as\u00a0an AI",
        "As  An\tai",
        "as \r\n an\u3000AI",
        "as an\u200b AI",
        "as a\u00adn AI",
        "as\u2028an AI",
    ],
)
def test_a_forbidden_text_is_found_across_white_space(said: str) -> None:
    assert judge(RIGHT.replace("6 * 7", f"I say {said}."), forbidden=["as an AI"]).score == 2 / 3


@pytest.mark.parametrize(("text", "found"), [("a # b", False), ("a\n# b", True)])
def test_a_forbidden_line_end_is_no_space(text: str, found: bool) -> None:
    assert ("forbidden" in reasons(f"{RIGHT} {text}", forbidden=["\n# b"]).values()) is found
