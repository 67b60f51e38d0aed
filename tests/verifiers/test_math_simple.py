from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.verifiers.math import read, scalars, simple
from lydite.verifiers.math.nodes import Node, num
from lydite.verifiers.math.work import working

numbers = st.fractions(min_value=-9, max_value=9, max_denominator=6).map(num)
letters = st.sampled_from("xyz").map(lambda name: Node("sym", (name,)))


def grown(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    whole = st.integers(min_value=1, max_value=3).map(num)
    divisors = numbers.filter(lambda node: node.args[0] != 0)
    return st.one_of(
        st.tuples(st.sampled_from(["add", "mul"]), st.tuples(inner, inner)).map(lambda made: Node(*made)),
        inner.map(lambda node: Node("neg", (node,))),
        st.tuples(inner, whole).map(lambda args: Node("pow", args)),
        st.tuples(inner, divisors).map(lambda args: Node("div", args)),
    )


polynomials = st.recursive(numbers | letters, grown, max_leaves=8)
positive = st.fractions(min_value=0, max_value=30, max_denominator=5).map(num)
roots = st.one_of(
    positive.map(lambda node: Node("root", (node, num(2)))),
    positive.map(lambda node: Node("pow", (node, Node("div", (num(1), num(2)))))),
)
surds = st.recursive(
    numbers | roots,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["mul", "div"]), st.tuples(inner, inner)).map(lambda made: Node(*made)),
        inner.map(lambda node: Node("neg", (node,))),
    ),
    max_leaves=5,
)


def told(one: Node, other: Node) -> str | bool:
    """What the stages without the shortcut say."""
    try:
        with working():
            return scalars._decide(one, other, bool(scalars.traits(one).names or scalars.traits(other).names))
    except scalars.UndefinedError:
        return "undefined"


@given(polynomials, polynomials)
def test_polynomials_are_the_same_where_the_stages_say_so(one: Node, other: Node) -> None:
    same = simple.same(one, other, True)
    if same is not None and (scalars.traits(one).names or scalars.traits(other).names):
        assert same is told(one, other)


@given(polynomials, polynomials)
def test_a_polynomial_is_itself_in_other_words(one: Node, other: Node) -> None:
    double = Node("add", (one, Node("add", (other, Node("neg", (other,))))))
    assert simple.same(one, double, True) in (True, None)
    assert simple.same(double, Node("add", (one, num(1))), True) in (False, None)


@given(surds, surds)
def test_square_roots_are_the_same_where_the_stages_say_so(one: Node, other: Node) -> None:
    same = simple.same(one, other, False)
    if same is not None and (stages := told(one, other)) != "undefined":
        assert same is stages


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("(x+3)(x-5)", "x^2-2x-15", True),
        ("(x+3)(x-5)", "x^2-2x-16", False),
        ("\\frac{n(n+1)}{2}", "\\frac{n^2}{2}+\\frac{n}{2}", True),
        ("(a+b+c)^2", "a^2+b^2+c^2+2(ab+bc+ca)", True),
        ("xy", "yx", True),
        ("x", "y", False),
        ("0.1x", "\\frac{x}{10}", True),
        ("\\frac{x}{-2}", "-\\frac{x}{2}", True),
        ("x^{70}", "x^{71}", None),
        ("\\frac{1}{x}", "x^{-1}", None),
        ("\\sqrt{x}", "x", None),
        ("x+10^{2000}", "x", None),
        ("12\\sqrt{5}", "\\sqrt{720}", True),
        ("-12\\sqrt{5}", "\\sqrt{720}", False),
        ("\\frac{2}{\\sqrt{2}}", "\\sqrt{2}", True),
        ("2^{1/2}", "\\sqrt{2}", True),
        ("\\sqrt{2}+1", "1+\\sqrt{2}", None),
        ("\\sqrt{-2}", "i\\sqrt{2}", None),
        ("\\sqrt[3]{2}", "\\sqrt{2}", None),
    ],
)
def test_kinds(one: str, other: str, same: bool | None) -> None:
    a, b = read(one).node, read(other).node
    assert a is not None
    assert b is not None
    names = bool(scalars.traits(a).names or scalars.traits(b).names)
    assert simple.same(a, b, names) is same
