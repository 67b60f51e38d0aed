from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.verifiers.text import Box, _boxes_after, after_thinking, boxes, is_refusal

pieces = st.lists(
    st.sampled_from(
        [
            "\\boxed{", "\\fbox {", "\\framebox{", "\\boxed 7", "\\boxed", "{", "}", "\\{", "\\}", "7", " ", "box",
            "\\frac{1}{2}", "\\boxed{8}", "\n",
        ]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@given(pieces)
def test_boxes_found_by_name_are_those_of_one_pass_over_the_text(text: str) -> None:
    assert boxes(text) == _boxes_after(text, 0)


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("\\boxed{7}", ["7"]),
        ("A box holds 5 balls. So \\boxed{5}", ["5"]),
        ("\\boxed{\\frac{1}{2}} and \\fbox{x}", ["\\frac{1}{2}", "x"]),
        ("\\boxed{\\boxed{7}}", ["\\boxed{7}"]),
        ("\\boxed{\\text{a \\} b}}", ["\\text{a \\} b}"]),
        ("first \\boxed{1, then \\boxed{2}", ["2"]),
        ("put it in \\boxed so \\boxed 12.", ["12"]),
        ("escaped twice: \\\\boxed{3}, then \\\\boxed{4}", ["3", "4"]),
        ("\\boxed{", []),
        ("a box", []),
        ("{ \\boxed{7}", ["7"]),
    ],
)
def test_contents_of_boxes(text: str, contents: list[str]) -> None:
    assert [box.content for box in boxes(text)] == contents


def test_a_box_knows_where_it_stands() -> None:
    assert boxes("so \\boxed{7}.") == [Box(3, 12, "7")]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("7", "7"),
        ("<think>8</think>7", "7"),
        ("<think>8", None),
        ("<think>8</think>7<think>", "7"),
        ("<think>8</think><think>9", None),
    ],
)
def test_what_follows_the_thinking(text: str, rest: str | None) -> None:
    assert after_thinking(text) == rest


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("I can't solve this.", True),
        ("I CANNOT ANSWER", True),
        ("I can’t help with that", True),
        ("It cannot be determined", True),
        ("Unknown", True),
        ("I can solve this", False),
        ("You cannot divide by zero, so 7", False),
    ],
)
def test_refusals(text: str, refused: bool) -> None:
    assert is_refusal(text) is refused
