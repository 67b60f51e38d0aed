"""Sample points: a residue of rounding is no difference, of whatever size it is."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.verifiers.test_math_canonical import trees

from lydite.verifiers.math import compare
from lydite.verifiers.math.nodes import Node, TooBigError, UndefinedError, num
from lydite.verifiers.math.points import agree, differ_at_once

PI = Node("const", ("pi",))


def residue(of: Node) -> Node:
    """Zero, written so that rounding leaves something of it: t - pi (t / pi)."""
    return Node("add", (of, Node("neg", (Node("mul", (PI, Node("div", (of, PI)))),))))


def scaled(node: Node, exponent: int) -> Node:
    return Node("mul", (num(10**exponent), node))


@given(trees, trees, st.integers(0, 50), st.sampled_from([1, 2]))
def test_a_residue_is_no_difference(tree: Node, other: Node, exponent: int, power: int) -> None:
    nothing = scaled(Node("pow", (residue(tree), num(power))), exponent)
    try:
        assert not differ_at_once(nothing, num(0))
        assert not differ_at_once(Node("add", (other, nothing)), other)
    except (UndefinedError, TooBigError):
        assume(False)


@given(st.integers(0, 50), st.integers(1, 9), st.integers(0, 20))
def test_a_difference_beside_a_residue_is_one(exponent: int, digit: int, place: int) -> None:
    nothing = scaled(residue(Node("sym", ("x",))), exponent)
    other = Node("div", (num(digit), num(10**place)))
    assert not agree(Node("add", (nothing, other)), num(0))


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        ("10^{40}(x-\\pi\\frac{x}{\\pi})", "0", True),
        ("x+10^{40}(x-\\pi\\frac{x}{\\pi})", "x", True),
        ("10^{31}(\\sqrt2\\sqrt3-\\sqrt6)+1", "1", True),
        ("10^{80}(\\sin^2 x+\\cos^2 x-1)+2", "2", True),
        ("10^{80}(\\sin^2 x+\\cos^2 x-1)+2", "3", False),
        ("10^{57}(x-\\pi\\frac{x}{\\pi})+10^{-21}", "0", False),
        ("10^{31}(\\sqrt2\\sqrt3-\\sqrt6)+1", "1+10^{-30}", False),
    ],
)
def test_comparisons_with_residues(answer: str, gold: str, same: bool) -> None:
    assert compare(answer, gold) is same
    assert compare(gold, answer) is same
