from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.verifiers import Submission, build
from lydite.verifiers.math import explain, kind_name, read, show
from lydite.verifiers.math.compare import comparator_of
from lydite.verifiers.protocol import Step


def said(steps: tuple[Step, ...], name: str) -> list[str]:
    return [step.said for step in steps if step.name == name]


def told(completion: str, prompt: str | None = None, **config: Any) -> tuple[Step, ...]:
    return explain(config, completion, prompt)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("7", "integer"),
        ("-\\frac{1}{2}", "rational"),
        ("3.140", "decimal"),
        ("0.\\overline{3}", "repeating decimal"),
        ("0.(3)", "repeating decimal"),
        ("forty-two", "number word"),
        ("two thirds", "number word"),
        ("25\\%", "percent"),
        ("\\$5", "money"),
        ("5 euros", "money"),
        ("3 km/h", "quantity"),
        ("7 apples", "quantity"),
        ("45^\\circ", "angle"),
        ("2 radians", "angle"),
        ("3:30 pm", "time"),
        ("July 4, 1776", "date"),
        ("1011_2", "base-n"),
        ("(1,2)", "tuple"),
        ("1, 2, 3", "list"),
        ("2, 4, 6, \\ldots", "sequence"),
        ("\\{1,2\\}", "set"),
        ("[1,2)", "interval"),
        ("(1,2)\\cup[3,4]", "union"),
        ("x \\in [0,1]", "interval"),
        ("-1 \\le x < 2", "inequality"),
        ("x^2+y^2=1", "equation"),
        ("y=2x+1", "equation"),
        ("x=5", "integer"),
        ("x \\equiv 3 \\pmod 7", "congruence"),
        ("3:4:5", "ratio"),
        ("\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "matrix"),
        ("3+4i", "complex"),
        ("x^2+1", "expression"),
        ("\\sqrt 2", "expression"),
        ("f(x)=x^2", "function"),
        ("blue", "text"),
        ("(B)", "choice letter"),
        ("1=2", "contradiction"),
        ("9" * 5000, "too large"),
        ("...", "none"),
    ],
)
def test_kinds_have_the_names_that_people_use(text: str, kind: str) -> None:
    assert kind_name(read(text)) == kind


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.\\overline{3}", "1/3"),
        ("\\frac{1+\\sqrt{5}}{2}", "(1 + sqrt(5)) / 2"),
        ("x-(y-1)", "x - (y - 1)"),
        ("-x^2", "-(x^2)"),
        ("1<x\\le 2", "1 < x <= 2"),
        ("x=3, y=4", "x = 3, y = 4"),
        ("\\{1,2\\}", "{1, 2}"),
        ("80 km/h", "80 times 5/18 m s^-1"),
        ("7 apples", "7 apple"),
    ],
)
def test_values_are_shown_as_they_were_understood(text: str, value: str) -> None:
    assert show(read(text)) == value


@given(st.text(max_size=200) | st.sampled_from(["2^{2000}", "1e4000", "9" * 3000, "x_{" + "a" * 500 + "}"]))
def test_showing_never_fails_and_is_short(text: str) -> None:
    assert len(show(read(text))) <= 200


@pytest.mark.parametrize(
    ("answer", "gold", "name"),
    [
        ("7", "7.0", "numbers"),
        ("5 kg", "5", "numbers"),
        ("x+1", "1+x", "expressions"),
        ("1,2", "2,1", "lists"),
        ("\\{1,2\\}", "\\{2,1\\}", "members"),
        ("(1,2)", "(1,2)", "tuples"),
        ("x<3", "(-\\infty,3)", "regions"),
        ("x+y=1", "2x+2y=2", "equations"),
        ("x=5", "5", "values"),
        ("x=5", "x=5", "assignments"),
        ("3:4", "6:8", "ratios"),
        ("3 \\pmod 7", "10 \\pmod 7", "congruences"),
        ("11_2", "11_2", "bases"),
        ("3:30 pm", "15:30", "times"),
        ("July 4", "4 July", "dates"),
        ("(B)", "B", "choices"),
        ("blue", "Blue", "texts"),
        ("blue", "7", "kinds that have nothing in common"),
    ],
)
def test_comparisons_are_named(answer: str, gold: str, name: str) -> None:
    assert comparator_of(read(answer), read(gold)) == name


def test_steps_in_order() -> None:
    steps = told("So it is \\boxed{2√2}.", answer="\\sqrt{8}")
    names = [step.name for step in steps]
    assert names == ["gold", "rules", "extract", "normalise", "kind", "compare", "exact", "verdict"]
    assert said(steps, "extract") == ["'2√2': in a box"]
    assert said(steps, "normalise") == ["'2√2' becomes '2\\\\sqrt 2'"]
    assert said(steps, "verdict") == ["correct, correct"]


@pytest.mark.parametrize(
    ("completion", "place"),
    [
        ("\\boxed{7}", "in a box"),
        ("<answer>7</answer>", "in <answer>"),
        ("so\n#### 7", "behind ####"),
        ("The answer is 7.", "claimed in words"),
        ("We add.\n7", "the last line"),
        ("After we add them all up, which takes a while, there are 7 of them on the table.", "the last formula"),
    ],
)
def test_where_the_answer_was_found(completion: str, place: str) -> None:
    assert place in said(told(completion, answer="7"), "extract")[0]


@pytest.mark.parametrize(
    ("completion", "why"),
    [
        ("<think>\\boxed{8}</think> \\boxed{7}", "of thinking"),
        ("<think>\\boxed{7}", "thinking that never ends"),
        ("<!-- \\boxed{8} --> \\boxed{7}", "comments"),
        ("\\boxed{} \\boxed{7}", "an empty box"),
        ("It is not \\boxed{8}. It is \\boxed{7}.", "the box '8': denied or struck out"),
        ("\\boxed{8}. Wait, that is wrong. \\boxed{7}", "takes this one back"),
        ("x" * 100_000 + " \\boxed{7}", "all but the last"),
        ("The answer is 7.", "no box"),
    ],
)
def test_what_was_passed_over_and_why(completion: str, why: str) -> None:
    assert any(why in words for words in said(told(completion, answer="7"), "skip"))


@pytest.mark.parametrize(
    ("completion", "gold", "stage", "words"),
    [
        ("\\boxed{0.5}", "\\frac{1}{2}", "exact", "numbers, the same"),
        ("\\boxed{(x+1)^2}", "x^2+2x+1", "exact", "polynomials, the same"),
        ("\\boxed{\\sqrt{3}}", "\\sqrt{2}", "exact", "square roots, different"),
        ("\\boxed{\\sin^2 x}", "1-\\cos^2 x", "exact", "the same normal form"),
        ("\\boxed{1+\\sqrt{3}}", "1+\\sqrt{2}", "points", "they differ"),
        ("\\boxed{\\pi+10^{-100}}", "\\pi", "exact", "different normal forms"),
        ("\\boxed{\\sqrt{2+\\sqrt{2+\\sqrt{2}}}}", "2\\cos\\frac{\\pi}{16}", "confirm", "SymPy: "),
    ],
)
def test_the_stage_that_decides(completion: str, gold: str, stage: str, words: str) -> None:
    steps = told(completion, answer=gold)
    assert steps[-2].name == stage
    assert words in steps[-2].said


def test_rules_and_golds_are_told() -> None:
    steps = told("7", answer="So we add.\n#### 1,234", tolerance=0.01, units="km", extraction="strict")
    assert said(steps, "gold") == [
        "'So we add.\\n#### 1,234' gives its answer as '1,234'",
        "'1,234' is quantity: 1234 times 1000 m",
    ]
    assert said(steps, "rules") == ["extraction strict, tolerance 0.01, units km"]
    assert said(told("7", answer=""), "verdict")[0].startswith("invalid, unparseable_gold: ")


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(["\\boxed{", "}", "7", "#### ", "<think>", "x^", "$", "\n", "or"])).map("".join)
)
def test_explaining_agrees_with_the_verdict_and_never_fails(text: str) -> None:
    for gold in ("7", "(1,2)", "\\text{no}"):
        check = build({"type": "math", "config": {"answer": gold}})
        verdict, steps = check(Submission(text=text)), check.explain(Submission(text=text))
        assert steps[-1].said.startswith(f"{verdict.outcome}, {verdict.reason}")


def test_a_verifier_that_tells_nothing_has_no_steps() -> None:
    assert build({"type": "exact", "config": {"answer": "7"}}).explain(Submission(text="7")) == ()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_command_line(tmp_path: Path, jobs: str) -> None:
    rows = [
        {"id": 1, "completion": "\\boxed{0.5}", "gold": "1/2"},
        {"id": 2, "completion": "\\boxed{\ud800", "gold": "1"},
    ]
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [sys.executable, "-m", "lydite", "verify", str(source), "--verifier", "math", "--jobs", jobs]
    out = [
        [json.loads(line) for line in subprocess.run(words, capture_output=True, check=True).stdout.splitlines()]
        for words in (command, [*command, "--explain"])
    ]
    assert all("explain" not in row for row in out[0])
    assert [row["explain"][-1]["said"] for row in out[1]] == ["correct, correct", "unparseable, unparseable_answer"]
    assert {**out[1][0], "seconds": 0, "explain": 0} == {**out[0][0], "seconds": 0, "explain": 0}
