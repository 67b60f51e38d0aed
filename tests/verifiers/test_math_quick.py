"""Short cuts of the math verifier: what they decide, the long way decides too."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.verifiers import Submission
from lydite.verifiers.math import compare, judging, read, reading
from lydite.verifiers.math.answer import Rules
from lydite.verifiers.math.compare import at_once
from lydite.verifiers.math.extraction import Extraction
from lydite.verifiers.math.quick import Quick
from lydite.verifiers.math.units import KNOWN

NUMBERS = (
    "0",
    "7",
    "-7",
    "007",
    "1,234",
    "1234",
    "1,234,567",
    "12,34",
    "0.5",
    "1234.0",
    "-0",
    "７",
    "٧",
    "²",
    "+7",
    "7.",
)
"""Whole numbers in many spellings, and what only looks like one."""
MEASURED = (
    "7", "0.5", "7 \\text{dollars}", "7 \\text{cents}", "50 \\text{cents}", "\\$7", "7 \\text{km}", "7000 \\text{m}",
    "7 \\text{meters}", "7 \\text{apples}", "7 \\text{degrees}", "7^\\circ", "7 \\text{radians}", "7 \\text{kelvin}",
    "7 ^\\circ C", "7%", "7 \\text{ft}", "7'", "7m", "x = 7", "7, 7", "\\frac{7}{1}", "\\text{seven}",
    "8 \\text{dozen}",
)  # fmt: skip


@pytest.mark.parametrize("gold", [text for text in NUMBERS if read(text).kind == "integer"])
def test_a_quick_verdict_is_the_long_ways(gold: str) -> None:
    answer = read(gold)
    assert answer.node is not None
    quick = Quick(gold, answer.node.args[0], judging.ID)
    for said in NUMBERS:
        long = judging.judge(Extraction((said,), "box"), answer, Rules(), Submission(text=f"\\boxed{{{said}}}"), [])
        assert quick(said) in (None, long)
    assert quick("7") is not None


@given(st.integers(-(10**20), 10**20), st.integers(-(10**20), 10**20), st.sampled_from(["", ","]))
def test_a_quick_verdict_knows_whole_numbers(value: int, other: int, mark: str) -> None:
    quick = Quick(str(value), Fraction(value), judging.ID)
    for number in (value, other):
        verdict = quick(f"{number:{mark}}")
        assert verdict is None or verdict.correct is (number == value)
        assert verdict is not None or len(f"{number:{mark}}") > 15


@pytest.mark.parametrize("units", ["forgive", "require", "ignore"])
def test_what_is_told_at_once_is_what_a_comparison_tells(units: str) -> None:
    rules = Rules(units=units)  # type: ignore[arg-type]
    told = 0
    for one, other in product(map(read, MEASURED), repeat=2):
        at_first = at_once(one, other, rules)
        told += at_first is not None
        assert at_first in (None, compare(one, other, rules)), (one.raw, other.raw)
    assert told >= 4


@pytest.mark.parametrize("number", ["1", "12", "25", "007", "1,357", "0.5"])
def test_a_number_with_a_unit_is_read_at_once_as_at_length(number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{number} \\text{{{word}}}" for name in KNOWN for word in (name, f"{name}s", name.upper())]
    texts += [f"{number} \\text{{{word}}}" for word in ("am", "pm", "May", "million", "percent", "apples", "in")]
    at_once_read = [reading._parsed(text, True) for text in texts]
    monkeypatch.setattr(reading, "MEASURED", re.compile("(?!)"))
    assert [reading._parsed(text, True) for text in texts] == at_once_read
