"""``grader``: ``multi`` and its formulas."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import verify
from lydite.verifiers.grader.formula import Formula, FormulaError

A = {
    "type": "text_similarity",
    "name": "a",
    "input": "{{ sample.output_text }}",
    "reference": "one two three four",
    "evaluation_metric": "rouge_1",
}
B = {
    "type": "string_check",
    "name": "b",
    "input": "{{ sample.output_json.b }}",
    "reference": "yes",
    "operation": "eq",
}


def grade(said: str, formula: str, graders: Any = None) -> Verdict:
    grader = {"type": "multi", "name": "m", "graders": graders or {"a": A, "b": B}, "calculate_output": formula}
    return verify({"type": "grader", "config": {"grader": grader, "item": {}}}, said)


def refused(formula: str, graders: Any = None) -> InputError:
    with pytest.raises(InputError) as caught:
        grade("x", formula, graders)
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("8 / 4 / 2", 1),
        ("2 ^ 3 ^ 2", 512),
        ("-2 ^ 2", -4),
        ("2 ^ -1", 0.5),
        ("-x * -2", 1),
        ("+x", 0.5),
        ("min(1, x, 3)", 0.5),
        ("max(x)", 0.5),
        ("abs(-x) + floor(1.5) + ceil(0.2)", 2.5),
        ("exp(0) + sqrt(4) + log(1)", 3),
        (".5 + 1e1 + 2.", 12.5),
    ],
)
def test_a_formula_is_read_as_in_mathematics(text: str, value: float) -> None:
    assert Formula(text).value({"x": 0.5}) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "1 +",
            "(1",
            "1)",
            "1 2",
            "x y",
            "min()",
            "abs(1, 2)",
            "abs",
            "eval(1)",
            "x.y",
            "x ** 2",
            "1 // 2",
            "'a'",
        ),
        *("__import__('os')", "x if x else y", "x = 1", "[x]", "lambda: 1", "(" * 2000, "1+" * 999 + "1", "min(1, 2"),
    ],
)
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(FormulaError):
        Formula(text)


@pytest.mark.parametrize("text", ["1 / x", "exp(1000)", "10 ^ 400", "log(x)", "sqrt(x - 1)", "(x - 1) ^ 0.5", "x ^ -1"])
def test_a_formula_without_a_value_says_so(text: str) -> None:
    with pytest.raises(FormulaError):
        Formula(text).value({"x": 0.0})


@given(st.text(alphabet="0123456789.+-*/^()x,minexpsqrt ", max_size=30))
def test_any_text_is_a_formula_or_none(text: str) -> None:
    with contextlib.suppress(FormulaError, KeyError):
        assert math.isfinite(Formula(text).value({"x": 0.5}))


def test_parts_and_the_score() -> None:
    verdict = grade('{"b": "yes"} one two', "0.5 * a + 0.5 * b", {"a": A, "b": {**B, "input": A["input"]}})
    assert [(part.name, part.reason) for part in verdict.parts] == [("a", "score"), ("b", "incorrect")]
    assert verdict.outcome is Outcome.PARTIAL
    assert verdict.score == pytest.approx(0.5 * verdict.parts[0].score)


def test_graders_may_be_a_list() -> None:
    assert grade('{"b": "yes"}', "b + 0 * a", [A, B]).correct
    assert refused("a", [A, A]).field == "checker.config.grader.graders.1.name"


@pytest.mark.parametrize(
    ("formula", "graders", "field"),
    [
        ("a + c", None, "calculate_output"),
        ("1", None, "calculate_output"),
        ("a +", None, "calculate_output"),
        ("a / 0", None, "calculate_output"),
        ("a", {"a": {**A, "reference": "{{ item.x }}"}}, "graders.a.reference"),
        ("a", {"a": {**A, "type": "score_model"}}, "graders.a.type"),
        ("a", {"a": {"type": "multi", "name": "a", "graders": {"b": B}, "calculate_output": "b"}}, "graders.a.type"),
        ("a", {"a b": A}, "graders"),
        ("min", {"min": A}, "graders"),
        ("a", {}, "graders"),
    ],
)
def test_what_cannot_be_computed_is_told_when_the_checker_is_built(formula: str, graders: Any, field: str) -> None:
    grader = {"type": "multi", "name": "m", "graders": {"a": A} if graders is None else graders}
    with pytest.raises(InputError) as caught:
        verify({"type": "grader", "config": {"grader": {**grader, "calculate_output": formula}}}, "x")
    assert caught.value.field == f"checker.config.grader.{field}"


def test_a_score_beyond_1_is_1_and_says_so() -> None:
    verdict = grade("one two three four", "2 * a", {"a": A})
    assert (verdict.score, verdict.reason) == (1.0, "score_out_of_range")
    assert grade("one", "a - 1", {"a": A}).reason == "score_out_of_range"


@pytest.mark.parametrize("formula", ["1 / a", "log(a)", "exp(1000 * (1 - a))"])
def test_a_completion_that_makes_the_formula_fail_is_wrong(formula: str) -> None:
    verdict = grade("nothing of it", formula, {"a": A})
    assert (verdict.outcome, verdict.reason) == (Outcome.INCORRECT, "formula_error")


@pytest.mark.parametrize("formula", ["1 - b", "max(a, 1 - b)", "(1 - b) ^ 2", "a + 1 - b"])
def test_a_part_that_cannot_be_graded_is_no_way_out(formula: str) -> None:
    """``1 - b`` is best where ``b`` is worst, and worse than worst is no JSON at all."""
    assert grade("no JSON", formula).score == 0


@pytest.mark.parametrize("said", ["one " * 40_000, "nan"])
def test_nor_is_a_part_that_is_driven_out_of_bounds(said: str) -> None:
    source = "def grade(sample, item):\n    return float(sample['output_text'])\n"
    part = {"type": "python", "name": "p", "source": source} if said == "nan" else A
    verdict = grade(said, "1 - p", {"p": part})
    assert (verdict.outcome, verdict.score) == (Outcome.INCORRECT, 0.0)


def test_where_no_part_has_anything_to_grade_the_whole_has_not() -> None:
    verdict = grade("no JSON", "b", {"b": B})
    assert (verdict.outcome, verdict.reason) == (Outcome.UNPARSEABLE, "b:not_json")
