"""Outputs, and functions that make them."""

from __future__ import annotations

from typing import Any

import pytest

from lydite.errors import InputError
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import build, verify

CASES = [
    {"input": "ab", "expected": "BA"},
    {"input": "xyz", "expected": "ZYX"},
    {"input": "", "expected": ""},
    {"input": "AA", "expected": "AA"},
]
RIGHT = "def transform(text):\n    return text[::-1].upper()"


def judge(text: str, **config: Any) -> Verdict:
    return verify({"type": "text_transform", "config": {"cases": CASES, "timeout": 2, **config}}, text)


def judge_output(text: str, expected: str = "a\nb", **config: Any) -> Verdict:
    return judge(text, cases=[{"input": "b a", "expected": expected}], **config)


@pytest.mark.parametrize(
    "text",
    [
        RIGHT,
        f"```python\n{RIGHT}\n```",
        f"Here it is:\n```\n{RIGHT}\n```\nFor example:\n```python\nprint(transform('ab'))\n```",
        f"<think>```python\ndef transform(text): pass\n```</think>\n```py\n{RIGHT}\n```",
        f"```python\n{RIGHT}",
        "transform = lambda text: text[::-1].upper()",
        f"import sys\nprint('loaded')\n{RIGHT}",
    ],
)
def test_a_function_that_is_right(text: str) -> None:
    verdict = judge(text)
    assert (verdict.outcome, verdict.reason) == (Outcome.CORRECT, "correct")
    assert [part.reason for part in verdict.parts] == ["ok"] * 4


@pytest.mark.parametrize(
    ("body", "score", "reason"),
    [
        ("return text[::-1]", 0.5, "wrong"),
        ("return text.upper()", 0.5, "wrong"),
        ("return text", 0.5, "unchanged"),
        ("return 'AA'", 0.25, "constant"),
        ("return text[::-1].upper() or None", 0.75, "wrong"),
        ("return list(text[::-1].upper())", 0.0, "wrong"),
        ("return [text][1]", 0.0, "error"),
        ("while True: pass", 0.0, "timeout"),
        ("return 'x' * (1 << 32)", 0.0, "memory"),
        ("import os; os._exit(0)", 0.0, "error"),
        ("import os; os.write(1, b'Vs2;BA'); os._exit(0)", 0.0, "error"),
    ],
)
def test_the_fraction_of_cases(body: str, score: float, reason: str) -> None:
    verdict = judge(f"def transform(text):\n    {body}")
    assert (verdict.score, verdict.reason) == (score, reason)


def test_equality_of_the_candidates_own_is_not_asked() -> None:
    own = "class T(str):\n    def __eq__(self, other): return True\n    __hash__ = None\n"
    assert judge(f"{own}\ndef transform(text):\n    return T()").score == 0


def test_what_one_case_leaves_behind_does_not_reach_the_next() -> None:
    text = "seen = []\ndef transform(text):\n    seen.append(text)\n    return ''.join(seen)[::-1].upper()"
    assert judge(text).correct


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no_answer"),
        ("<think>hm", "no_answer"),
        ("I cannot answer that.", "refused"),
        ("Reverse it, then use capitals.", "no_code"),
    ],
)
def test_nothing_to_grade(text: str, reason: str) -> None:
    verdict = judge(text)
    assert (verdict.outcome, verdict.reason) == (Outcome.UNPARSEABLE, reason)


def test_a_block_without_the_function() -> None:
    assert judge("```python\nprint('BA')\n```").reason == "error"


def test_a_program_that_is_too_long_is_not_run() -> None:
    assert judge(f"{RIGHT}\n#" + "x" * 300_000).reason == "resource"


def test_visible_and_hidden_cases_are_counted_apart() -> None:
    table = "def transform(text):\n    return {'ab': 'BA', '': ''}.get(text, '?')"
    verdict = judge(table, visible=["ab", ""])
    assert (verdict.score, verdict.detail) == (0.5, "visible 2 of 2, hidden 0 of 2")
    assert [part.name for part in verdict.parts] == ["t1 visible", "t2", "t3 visible", "t4"]


def test_the_name_of_the_function() -> None:
    assert judge(RIGHT.replace("transform", "flip"), entry_point="flip").correct
    assert not judge(RIGHT.replace("transform", "flip")).correct


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("a\nb", True),
        ("a\r\nb\r\n", True),
        ("```\na\nb\n```", True),
        ("So:\n```text\nb\n```\nno:\n```text\na\nb\n```", True),
        ("<think>b</think>a\nb\n", True),
        ("```python\ndef transform(text):\n    return '\\n'.join(sorted(text.split()))\n```", True),
        ("```python\ndef transform(text):\n    return text\n```", False),
        ("The output is: a\nb", False),
        ("a\nb ", False),
        ("a b", False),
        ("", False),
        ("```\n```", False),
    ],
)
def test_one_case_takes_the_output_itself(text: str, right: bool) -> None:
    assert judge_output(text).correct is right


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<answer>a\nb</answer>", "a\nb"),
        ("Sorted:\n<answer>\na\nb\n</answer>\nThat is all.", "a\nb"),
        ("<answer>\n```\na\nb\n```\n</answer>", "a\nb"),
        ("<answer>b</answer>, once more <answer>b</answer>", "b"),
        (r"\boxed{a b}", "a b"),
        (r"So it is \boxed{\text{a b}}.", "a b"),
        ("`a b`", "a b"),
        ("The output is `a b`.", "a b"),
        ("**Output:** `a b`", "a b"),
        ("Answer: a b", "a b"),
        ("Output:\na\nb", "a\nb"),
        ("`x`", "`x`"),
        ("Answer: 4", "Answer: 4"),
        ("<answer>x</answer>", "<answer>x</answer>"),
        ("a `b` c", "a `b` c"),
    ],
)
def test_an_output_amid_talk(text: str, expected: str) -> None:
    assert judge_output(text, expected=expected).correct


@pytest.mark.parametrize("text", ["<answer>a b</answer><answer>ab</answer>", r"\boxed{a b} or \boxed{ab}"])
def test_different_outputs_are_ambiguous(text: str) -> None:
    for expected in ("a b", "ab"):
        verdict = judge_output(text, expected=expected, answer="output")
        assert (verdict.outcome, verdict.reason) == (Outcome.UNPARSEABLE, "ambiguous")


@pytest.mark.parametrize("text", ["It is `a b` or `b a`", "`a b` becomes `b a`, I think", "x `a b`"])
def test_code_in_a_sentence_is_not_the_output(text: str) -> None:
    assert not judge_output(text, expected="a b").correct


def test_output_only_and_code_only() -> None:
    code = "def transform(text):\n    return '\\n'.join(sorted(text.split()))"
    assert not judge_output(code, answer="output").correct
    assert judge_output(code, answer="code").correct
    assert judge_output("a\nb", answer="code").reason == "no_code"
    assert judge_output(code, expected=code, answer="output").correct


@pytest.mark.parametrize(
    ("names", "text", "right"),
    [
        ([], "a\nb\n", False),
        (["casefold"], "A\nB", True),
        (["strip"], "  a\nb  ", True),
        (["collapse"], "a b", True),
        (["lines"], "a  \nb", True),
    ],
)
def test_named_normalisations(names: list[str], text: str, right: bool) -> None:
    assert judge_output(text, normalise=names).correct is right


def test_white_space_at_the_front_counts() -> None:
    assert not judge_output("a\n  b", expected="  a\n  b").correct
    assert judge_output("```\n  a\n  b\n```", expected="  a\n  b").correct


def test_a_huge_output_is_wrong_and_costs_little() -> None:
    verdict = judge_output("a\nb" + "\n" * 1_000_000)
    assert verdict.outcome is Outcome.INCORRECT
    assert len(verdict.extracted or "") < 2100


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"cases": []}, "cases"),
        ({"cases": [{"input": "a"}]}, "cases.0.expected"),
        ({"cases": [{"input": "a", "expected": 1}]}, "cases.0.expected"),
        ({"cases": [{"input": "a", "expected": ""}]}, "cases"),
        ({"cases": [{"input": "a", "expected": "a"}, {"input": "b", "expected": "b\n"}]}, "cases"),
        ({"cases": [{"input": "a", "expected": "x"}, {"input": "b", "expected": "x"}]}, "cases"),
        ({"cases": [{"input": "a", "expected": "x"}, {"input": "a", "expected": "y"}]}, "cases.1.input"),
        ({"normalise": ["upper"]}, "normalise.0"),
        ({"entry_point": "a b"}, "entry_point"),
        ({"answer": "output"}, "answer"),
        ({"answer": "text"}, "answer"),
        ({"visible": ["nowhere"]}, "visible.0"),
        ({"timeout": 0}, "timeout"),
        ({"memory_mb": 1}, "memory_mb"),
        ({"case": []}, "case"),
    ],
)
def test_unusable_configuration(config: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"type": "text_transform", "config": {"cases": CASES, **config}})
    assert (caught.value.field or "").replace("...", "0") == f"checker.config.{field}"
