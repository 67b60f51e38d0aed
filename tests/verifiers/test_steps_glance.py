"""What a glance settles is what the full reading says."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lydite.verifiers.steps import TooManyClaimsError, false_claims, find_claims, tokens
from lydite.verifiers.steps.glance import glance

AT_A_GLANCE = [
    "",
    "Nothing is claimed here.",
    "She sold 48 + 24 = 72 clips.",
    "In May: 1,200 - 200 = 1,000. Then 3 * 4 = 12, so 12 / 4 = 3",
    "Each costs $2.50, so 3 of them cost 3 * $2.50 = $7.50.",
    "We set $f(x) = 2x^2 + 3x$ and $x + 6 = 9$, so that the roots are real.",
    "$x = 305$ confirms it. Let n = 5.",
    "10 / 3 = 3.33, about a third",
    "5 apples + 3 apples = 8 apples.",
    "\\(12 \\times 3 = 36\\) and $4 \\cdot 5 = 20$.",
    "- 5 + 3 = 8\n- 8 + 1 = 9\n",
    "5 + 3 = \\boxed{8}.",
    "5 + 3 = 8 = 4 * 2, as above",
    "x <= 5, and 5 + 3 = 8.",
    "Total cost = 3 * 4 = 12.",
    "3 × 4 = 12, and that’s all.",
    "20% of 50 = 10, and 1/4 of 8 = 2.",
    "It makes a total of 36 + 24 = 60 blocks of wood",
    "He runs 12 x 2 = 24 times a year.",
    "60 bottles * $2/bottle = $120",
    "200g + 100g = 300 grams of flour, 100 * .05 = 5",
    "2*(3 + 4) = 14, (60 + 66) / 3 = 42.",
    "$\\frac{12}{3} \\cdot 2 = 8$.",
    "n = 5 = 4",
]

FALSE_AT_A_GLANCE = [
    "She sold 48 + 24 = 71, and that is all.",
    "The discriminant is $744^2 - 4 \\cdot 597 \\cdot 0 = 79$, so that the roots are real.",
    "1 + 1 = 2. 2 * 2 = 5. 1 + 1 = 2. 5 = 2 * 2.",
    "5 * 3 = 15 + 2 = 17.",
    "Each is $2.50, so 3 of them cost 3 * $2.50 = $7.40.",
    "5 + 3 = 8, and 10 / 3 = 3.34, about a third.",
]

# Each shows something far from the sign of equality, or not plain, that the reading depends on.
TO_BE_READ = [
    "5 + 3 = 8 dogs + 3.",
    "5 + 3 = x = 9",
    "5 + 3\n= 9",
    "5 + 3 equals 9",
    "5 + 3 \\approx 9",
    "2 1/2 + 1 = 3.5",
    "20% of 50 = 11.",
    "5 + 3 = 8 (9)",
    "if 5 + 3 = 9, then",
    "day 5 + 3 = 9.",
    "\\foo{5 + 3 = 9}",
    "29 + 17 = 46 ofx = 8 * 13.",
    "17 / 5 = 3 remainder 1",
    "y = 3 + 4 = 8 =>",
    "5 y-x = 10 / 3",
    "we get -3 + 5 = 8",
    "17 / 5 = 3 and a and a and a remainder 1",
    "if x = 5 * 11 = 56.",
    "x = 5 + 3 = 8 \n- 4 * 2 = 8",
    "5 * 17 = 85%",
    "8 - \\frac{12}{3} \\cdot \\frac{1}{2}^2 = 7.",
    "5 + 3 = 8 times two",
    "1/2 of 8 + 1 = 6.",
    "percent of 5 + 3 = 9.",
]


@pytest.mark.parametrize("text", AT_A_GLANCE)
def test_what_is_right_is_seen_at_a_glance(text: str) -> None:
    assert glance(text) == []
    assert all(claim.right for claim in find_claims(text))


@pytest.mark.parametrize("text", FALSE_AT_A_GLANCE)
def test_what_is_plainly_false_is_told_as_a_reading_tells_it(text: str) -> None:
    said = glance(text)
    assert said is not None
    assert not all(one.true for one in said)
    check(text)


@pytest.mark.parametrize("text", TO_BE_READ)
def test_what_has_to_be_read_is_read(text: str) -> None:
    assert not glance(text)
    check(text)


def test_padding_is_no_falsehood() -> None:
    with pytest.raises(TooManyClaimsError):
        false_claims("1 + 1 = 3\n" * 20_000, 5)


def check(text: str) -> None:
    false = [claim for claim in find_claims(text) if not claim.right]
    for enough in (1, 2, 100):
        assert false_claims(text, enough) == false[:enough]
    with pytest.MonkeyPatch.context() as patch:  # as in a long text
        patch.setattr(tokens, "GROUP", 8)
        assert false_claims(text, 100) == false


_split = str.split

PIECES = [
    *_split(
        "= = = + - * / ^ x 1 2 3 5 8 9 2.5 0.33 1,250 000 .5 -3 y n m f(x) f(2) x^2 2x 5m 3y-x sqrt(16) \\frac{1}{2}"
        " \\sqrt \\times \\cdot \\pi \\boxed{8} dogs cats apples hours kg m million percent % of and a with remainder"
        " r so if is by plus times equals get Step . , ; : ? ! ( ) { } [ ] $ \\$ ** * \\( \\) \\[ \\] \\\\ \\, &"
        " \\text{a,b} ... -- — – × ÷ ≈ ’ ½ ² < > <= => != == # _ _1 \\left( \\foo{ \\quad \\approx ```"
        " <<5+3=9>> - clips. 5+3=8 5+3=9 20% (5+3) /pen 200g of times .25 \\frac{12}{3}"
    ),
    *(
        "\n",
        "\n- ",
        "=\n",
        "so we get",
        "in May",
        "5 + 3 = 8",
        "5 + 3 = 9",
        "y + 3 = ",
        "= x = ",
        "5 cats + 3 cats = 8 cats",
        "20% of 50 = 10",
        "8 times a day",
        "dogs. The",
        ".\nThe",
        ".\nIt is 5",
        "!\nSo 4 ",
    ),
]
SPACES = st.sampled_from([" ", " ", " ", "", "", "  ", "\n", " \n"])
FREE = st.lists(st.tuples(st.sampled_from(PIECES), SPACES), max_size=12).map(
    lambda pairs: "".join(piece + space for piece, space in pairs)
)


@st.composite
def claims_in_work(draw: st.DrawFn) -> str:
    """A claim of two numbers, right or nearly so, with anything around it."""
    one, other = draw(st.integers(0, 30)), draw(st.integers(1, 30))
    sign = draw(st.sampled_from("+-*/x"))
    value = {"+": one + other, "-": one - other, "/": one // other}.get(sign, one * other)
    value += draw(st.sampled_from([0, 0, 0, 1]))
    said = draw(st.sampled_from(["{}", "{:,}", "{:.2f}", "${}", "{}$"])).format(value)
    form = draw(
        st.sampled_from(["{} {} {} = {}", "{}{}{} = {}", "x = {} {} {} = {}", "{} {} {} = {} = 8", "{}y {} {} = {}"])
    )
    around = draw(
        st.lists(
            st.sampled_from(["", "", ".", ", ", "; ", " so ", "In May ", " clips.\n", *PIECES]), min_size=3, max_size=3
        )
    )
    return around[0] + draw(SPACES) + form.format(one, sign, other, said) + around[1] + draw(SPACES) + around[2]


# Plain statements alone, behind all that may stand before a number.
PLAIN = st.lists(
    st.tuples(
        st.sampled_from(
            ["", "So", "x", "3 x", "r", "a 2x", "of", "1/2 of", "by", "In May,", "12", ".", "3:", "-", "if", "get -"]
        ),
        st.sampled_from(
            [
                "5 + 3 = 8",
                "12 / 4 = 3",
                "7 * 6 = 42",
                "9 - 4 = 5",
                "9 - 4 = $5",
                "2 + 2 = 5",
                "1.5 * 3 = 4.50",
                "10 / 3 = 3.3",
                "12 + 3 is 15",
                "12 + 3 is 16",
                "9 / 4 = 2.2",
            ]
        ),
        st.sampled_from([". ", ", ", ".\n", "\nThen ", " x 2", "\nx ", " % ", "", ". \\boxed{8} ", ", \\times 2 "]),
    ).map(" ".join),
    min_size=1,
    max_size=4,
).map("".join)
WORK = st.lists(claims_in_work() | FREE, min_size=1, max_size=4).map("".join)


@settings(max_examples=400)
@given(WORK | PLAIN)
@example("m 5 * 17 = 85% ")
@example("if x = 5 \\times 11 = 56 ")
@example("3 cats + 5 = 8  3)>\nthen f(2)  there. So\\cdot 5 <. The x  =  \n- 4*2=8 ")
@example("7^3 = 344:\n552 dogs. The  x 5 * 2 = 10. 6")
@example("x  x = 13 / 13 = 2 => ")
@example("5+3=9 =>\n\\pi’ 5 + 3 = 8 >")
@example("so we get x = 29 + 17 = 46 ofx = 8 * 13 = 104\n1,250 dollars in total\n ")
def test_a_glance_misses_nothing(text: str) -> None:
    check(text)


@given(st.text(alphabet="0123456789+-*/=()[]{}$\\ .,;:x\nyab<>!", max_size=60))
def test_any_text_is_looked_at(text: str) -> None:
    check(text)
