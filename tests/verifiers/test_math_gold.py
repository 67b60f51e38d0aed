from __future__ import annotations

import pytest

from lydite.verdict import Outcome
from lydite.verifiers import verify

BROKEN = [
    "\\frac{1",
    "\\frac{1}",
    "\\frac{1}{",
    "\\frac",
    "$\\frac{1}$",
    "\\dfrac{3}",
    "\\sqrt",
    "\\sqrt{2",
    "\\sqrt[3]",
    "1}",
    "{1",
    "\\boxed{\\frac{1}{2}",
    "\\boxed{}",
    "\\left( 3",
    "\\begin{pmatrix} 1 & 2",
    "x^",
    "2\\",
    "\\text",
    "",
    "  ",
    "$$",
]

SOUND = [
    ("blue", "blue"),
    ("North-West", "North-West"),
    ("C++", "C++"),
    ("snake_case", "snake_case"),
    ("\\text{blue}", "blue"),
    ("\\frac12", "0.5"),
    ("\\frac 1 2", "0.5"),
    ("\\frac{1}2", "0.5"),
    ("\\frac\\pi2", "\\pi/2"),
    ("\\frac{\\sqrt2}{2}", "1/\\sqrt{2}"),
    ("\\sqrt[3]{8}", "2"),
    ("\\sqrt2", "\\sqrt{2}"),
    ("\\{1, 2\\}", "\\{2, 1\\}"),
    ("\\left(1, 2\\right)", "(1,2)"),
    ("\\left[0, 1\\right)", "[0,1)"),
    ("\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}"),
    ("90^\\circ", "90"),
    ("x^{2}", "x^2"),
    ("\\(5\\)", "5"),
    ("The half. \\boxed{\\frac{1}{2}}", "0.5"),
]


@pytest.mark.parametrize("gold", BROKEN)
@pytest.mark.parametrize("said", ["\\boxed{0.5}", "The answer is 3.", ""])
def test_a_broken_gold_is_the_task_s_fault(gold: str, said: str) -> None:
    verdict = verify({"type": "math", "config": {"answer": gold}}, said)
    assert (verdict.outcome, verdict.reason, verdict.score) == (Outcome.INVALID, "unparseable_gold", None)


@pytest.mark.parametrize(("gold", "answer"), SOUND)
def test_a_sound_gold_is_matched(gold: str, answer: str) -> None:
    config = {"type": "math", "config": {"answer": gold}}
    assert verify(config, f"\\boxed{{{answer}}}").correct
    assert verify(config, "\\boxed{no such thing}").outcome is Outcome.INCORRECT


@pytest.mark.parametrize("unit", ["°C", "^\\circ C", "degrees Celsius", "celsius"])
def test_gold_in_degrees_celsius(unit: str) -> None:
    config = {"type": "math", "config": {"answer": "100", "units": unit}}
    assert verify(config, "\\boxed{212 °F}").correct
    assert verify(config, "\\boxed{100}").correct
    assert not verify(config, "\\boxed{100 °F}").correct
