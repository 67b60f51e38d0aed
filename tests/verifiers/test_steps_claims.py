"""What counts as a claim, and which claims are right."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lydite.verifiers.steps import TooManyClaimsError, false_claims, find_claims

RIGHT = [
    "12 * 3 = 36",
    "12 × 3 = 36",
    "12x3 = 36",
    "12 x 3 = 36",
    "$12 \\times 3 = 36$",
    "\\[ 12 \\cdot 3 = 36 \\]",
    "\\(12 \\div 3 = 4\\)",
    "$\\frac{12}{3} = 4$",
    "$\\frac12 \\cdot 8 = 4$",
    "3\\frac{1}{2} * 2 = 7",
    "½ * 8 = 4",
    "2 1/2 + 1 = 3.5",
    "<<48/2=24>>",
    "$5 * 3 = $15",
    "2 * \\$3.50 = \\$7.00",
    "5 apples + 3 apples = 8 apples",
    "5 \\text{ apples} \\times 3 = 15 \\text{ apples}",
    "35 questions x 2/5 = 14 questions",
    "5 hours/day * 7 days = 35 hours",
    "(2/5)*500cm^3 = 200cm^3",
    "2 kg + 500 g = 2.5 kg",
    "50 cents * 4 = $2",
    "1 hour + 30 minutes = 90 minutes",
    "20% of 50 = 10",
    "20 percent of 50 = 10",
    "\\frac{3}{4} \\text{ of } 8 = 6",
    "15/60 = 25%",
    "15/60 * 100 = 25%",
    "50 + 10% = 55",
    "1/3 = 33.33%",
    "1,250 + 2,000 = 3,250",
    "12{,}000 / 2 = 6{,}000",
    "18 000 * 2 = 36 000.",
    "3 * 2 million = 6 million",
    "5 * 300000 = 1.5 million",
    "5 dozen * 2 = 120",
    "10/3 = 3.33",
    "10/3 = 3.333...",
    "10/3 = 3.3",
    "100 / 3 = 33.3",
    "2/3 = 66.7%",
    "10/3 ≈ 3.3",
    "10/3 \\approx 3",
    "49 * 51 ≈ 2500",
    "3.33 = 10/3",
    "17 / 5 = 3 remainder 2",
    "17 / 5 = 3 with a remainder of 2",
    "2^3 = 8",
    "2**3 = 8",
    "5² + 1 = 26",
    "5! = 120",
    "\\sqrt{16} = 4",
    "sqrt(16) + 1 = 5",
    "2(3 + 4) = 14",
    "2 (3 + 4) = 14",
    "(5)(3) = 15",
    "7 - (2 + 3) = 2",
    "5 * 3 = 15 (as above)",
    "in step 2 (3 + 4) = 7",
    "2000 / 2/3 = 3000",
    "-5 + 3 = -2",
    "we get -3 + 5 = 2",
    "- 12 * 3 = 36",
    "* 12 * 3 = 36",
    "1. 5 + 3 = 8",
    "2) 5 + 3 = 8",
    "Step 1: 5 + 3 = 8",
    "**5 * 3 = 15**",
    "5 * 3 = **15**",
    "5 * 3 = \\boxed{15}",
    "The total — 12 + 3 = 15 — is",
    "12 – 3 = 9",
    "5 times 3 equals 15",
    "10 divided by 2 is equal to 5",
    "She has 3 cats and 5 + 3 = 8 dogs",
    "Week 1 = 5 * 3 = 15",
    "x = 3 + 4 = 7",
    "f(2) = 2 + 3 = 5",
    "total_cost = 3 + 4 = 7",
    "3 * 4\n= 12",
    "3 * 4 =\n12",
    "x &= 3 + 4 \\\\ &= 7",
    "４ ＋ ５ ＝ ９",
    "5 + 3 == 8",
    "1 box = 5 * 3 = 15 pens",
    "12 + 13 is 25",
    "Here 12 + 13 is 25 clips.",
    "4 times 5 is 20, so",
    "10 divided by 2 is 5\nThen",
    "The sum of 4 and 5 is 9.",
    "the product of 4 and $5 is $20.",
    "12.50 * 4 makes 50.",
]

WRONG = [
    "12 * 3 = 35",
    "$12 \\times 3 = 35$",
    "<<48/2=23>>",
    "5 apples + 3 apples = 9 apples",
    "20% of 50 = 11",
    "30 * 20% = 600",
    "15/60 = 26%",
    "2 kg + 500 grams = 3 kg",
    "10/3 = 3.34",
    "10/3 = 3.4",
    "10/3 = 3",
    "2/3 = 66.6%",
    "9/4 = 2.3",
    "5 + 0 = 6",
    "12 + 13 is 26.",
    "4 times 5 is 21 apples.",
    "The sum of 4 and 5 is 8, so",
    "10/3 ≈ 3.4",
    "10/3 = 3.334...",
    "17 / 5 = 3 remainder 1",
    "5/0 = 0",
    "0.1 + 0.2 = 0.30000000000000004",
    "9007199254740992 + 1 = 9007199254740992",
    "5 * 3 = 16 (as above)",
    "x = 3 + 4 = 8",
    "3 * 4\n= 13",
    "<think>12 * 3 = 36</think> 12 * 3 = 35",
]

NO_CLAIM = [
    "",
    "0 + 0 = 0",
    "5 - 0 = 5, 1 * 7 = 7, 7 / 1 = 7, 0 * 9 = 0",
    "2 * 3 is 5 more than 1.",
    "2 * 3 is 5 or 6.",
    "Is 12 + 13 is 25?",
    "12 is 25",
    "2 * 3 is 5 times as much.",
    "page 3-4 is 5 pages long",
    "The answer is 36.",
    "5 = 5",
    "2 + 3 = 2 + 3",
    "x = 5",
    "x + 3 = 7",
    "2x + 3 = 7",
    "2m + 3 = 7",
    "x^2 - 5x + 6 = 0",
    "a_1 + a_2 = 10",
    "angle 1 + angle 2 = 180",
    "Weeks 1-2 = 96",
    "5 + 3 = ?",
    "Is 5 + 3 = 9?",
    "if 2 + 2 = 5, then",
    "5 + 3 ≠ 9",
    "5 + 3 != 9",
    "5 + 3 <= 9",
    "5 + 3 => 9",
    "x += 3",
    "3:00 + 2 = 5:00",
    "1 + 2 + ... + 10 = 55",
    "1 + 2 + \\cdots + 10 = 55",
    "2:3 = 4:6",
    "\\pi * 2 = 6.28",
    "sin(0) = 0",
    "\\binom{5}{2} = 10",
    "0.1\\overline{6} = 1/6",
    "\\sum_{i=1}^{3} i = 6",
    "0x10 = 16",
    "101_2 + 1 = 6",
    "10 \\bmod 3 = 1",
    "|-3| + 2 = 5",
    "1 box = 12 pens",
    "```python\nx = 5 * 3 == 16\n```",
    "<think>12 * 3 = 36",
    "=====\nHeading\n=====",
]


@pytest.mark.parametrize("text", RIGHT)
def test_right(text: str) -> None:
    assert [claim.right for claim in find_claims(text)] == [True]


@pytest.mark.parametrize("text", WRONG)
def test_wrong(text: str) -> None:
    assert [claim.right for claim in find_claims(text)] == [False]


@pytest.mark.parametrize("text", NO_CLAIM)
def test_no_claim(text: str) -> None:
    assert find_claims(text) == []


def said(text: str) -> list[tuple[str, bool]]:
    return [(claim.text, claim.right) for claim in find_claims(text)]


def test_neighbours_of_a_chain_are_claims() -> None:
    assert said("2 + 3 = 5 = 10/2") == [("2 + 3 = 5", True), ("5 = 10/2", True)]
    assert said("5 * 3 = 15 + 2 = 17") == [("5 * 3 = 15 + 2", False), ("15 + 2 = 17", True)]
    assert said("5 * 3 = 15 = 16") == [("5 * 3 = 15", True), ("15 = 16", False)]


def test_an_unknown_in_a_chain_is_left_out() -> None:
    assert said("3 + 4 = x = 8") == [("3 + 4 = 8", False)]


def test_what_is_said_twice_counts_once() -> None:
    assert len(find_claims("12 * 3 = 36\n" * 20 + "$12 \\times 3 = 36$, 36 = 12*3")) == 1
    assert len(find_claims("48/2 = <<48/2=24>>24")) == 1


def test_a_claim_and_its_denial_are_two() -> None:
    assert len(find_claims("12 * 3 = 36. 12 * 3 = 35.")) == 2


def test_sentences_and_lines_part_claims() -> None:
    assert said("It is 5. 3 + 4 = 7, 2 + 2 = 4; 1 + 1 = 2\n8 - 1 = 7") == [
        ("3 + 4 = 7", True),
        ("2 + 2 = 4", True),
        ("1 + 1 = 2", True),
        ("8 - 1 = 7", True),
    ]


def test_a_solution_of_gsm8k() -> None:
    text = (
        "Natalia sold 48/2 = <<48/2=24>>24 clips in May.\n"
        "Natalia sold 48+24 = <<48+24=72>>72 clips altogether in April and May.\n#### 72"
    )
    assert [claim.right for claim in find_claims(text)] == [True, True]


def test_the_value_of_a_claim_is_exact() -> None:
    assert find_claims("1/3 + 1/3 = 0.67")[0].value == Fraction(2, 3)


def test_a_long_sum_is_not_cut() -> None:
    assert said("word " * 1000 + " + ".join("1" * 90) + " = 90")[0][1]


def test_a_sum_too_long_to_be_read_claims_nothing() -> None:
    assert find_claims(" + ".join("1" * 3000) + " = 5") == []


@pytest.mark.parametrize("text", ["1 + 1 = 3\n" * 20_000, "\n".join(f"{n} + 1 = {n + 1}" for n in range(2000))])
def test_more_than_any_work_has(text: str) -> None:
    with pytest.raises(TooManyClaimsError):
        find_claims(text)


NUMBERS = st.fractions(-1000, 1000, max_denominator=1).map(int)
SIGNS = st.sampled_from(["+", "-", "*"])
DRESS = st.sampled_from(["{}", "${}$", "So {}.", "- {}", "**{}**", "\\[{}\\]", "We get {} in all.", "First, {};"])


@given(
    st.integers(2, 999), SIGNS, st.integers(2, 999), st.integers(-3, 3), DRESS, st.sampled_from(["{}{}{}", "{} {} {}"])
)
def test_simple_arithmetic(a: int, sign: str, b: int, error: int, dress: str, spacing: str) -> None:
    value = {"+": a + b, "-": a - b, "*": a * b}[sign]
    assume(value or error)  # 7 - 7 = 0 holds for any number
    claims = find_claims(dress.format(f"{spacing.format(a, sign, b)} = {value + error}"))
    assert [claim.right for claim in claims] == [error == 0]


@given(st.text(alphabet="0123456789+-*/=()[]{}$\\ .,%x\n≈<>fracsqrt", max_size=80))
def test_any_text_is_read(text: str) -> None:
    find_claims(text)


@pytest.mark.parametrize(
    "text",
    [
        "3 - 3 = 0", "-3 + 3 = 0", "5.0 - 5 = 0", "3 apples - 3 apples = 0 apples", "3 km - 3 km = 0 km",
        "4^1 = 4", "4^0 = 1", "1^4 = 1", "0^4 = 0", "5 / 5 = 1", "0 / 5 = 0", "5 \\div 1 = 5", "\\frac{5}{1} = 5",
        "100% of 5 = 5", "5 * 100% = 5", "0% of 5 = 0", "-0+1=1", "-0 + 7 = 7", "+5 - 0 = 5", "-(-5) = 5",
        "5 + 0 + 0 = 5", "1 * 1 * 7 = 7", "7 * 1/1 = 7", "(3) - (3) = 0", "5 = 3 - 3 + 5", "2 + 3 = 2 + 3 + 0",
        "2 + 3 = 3 + 2", "4 * 7 = 7 * 4",
    ],
)  # fmt: skip
def test_what_holds_for_any_number_is_no_claim(text: str) -> None:
    assert find_claims(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "6 - 2 * 3 = 0", "12 / (3 * 4) = 1", "1 + 1 = 2", "2 - 1 = 1", "1/2 = 2/4", "2^2 = 4", "50% of 8 = 4",
        "3/12 * 100% = 25%", "2 + 3 = 5 + 0", "5 + 100% = 10", "2 kg + 0 g = 2000 g", "1 million * 5 = 5000000",
        "2 + 3 - 3 = 2", "10 * 0.1 = 1", "100% - 40% = 60%",
    ],
)  # fmt: skip
def test_what_has_to_be_worked_out_is_a_claim(text: str) -> None:
    assert [claim.right for claim in find_claims(text)] == [True]


@pytest.mark.parametrize("text", ["3 - 3 = 1", "4^1 = 5", "100% of 5 = 6", "-0 + 1 = 2"])
def test_what_holds_for_any_number_said_wrongly_is_a_false_claim(text: str) -> None:
    assert [claim.right for claim in find_claims(text)] == [False]
    assert len(false_claims(text, 9)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "It is false that 2+2={}", "It is not true that 2 + 2 = {}.", "It is wrong to say that 2+2={}",
        "It isn't true that $2+2={}$.", "I deny that 2+2={}", "2+2={} is false", "$2+2={}$ is wrong.",
        "2+2={} (false)", "2+2={} is not correct", "2+2={} isn't true", "2+2={} doesn't hold",
        "The claim that 2+2={} is simply wrong", "It is false that 2+2 is {}.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", [4, 5])
def test_what_is_said_to_be_false_is_no_claim(text: str, value: int) -> None:
    said = text.format(value)
    assert find_claims(said) == []
    assert false_claims(said, 9) == []


@pytest.mark.parametrize(
    "text",
    [
        "That was wrong: 2 + 2 = 4", "It is true that 2 + 2 = 4", "2 + 2 = 4 is right", "2 + 2 = 4, so B is false.",
        "It is not 5, because 2 + 2 = 4.", "2 + 2 = 4 dollars, so she was wrong",
    ],
)  # fmt: skip
def test_a_claim_beside_a_denial_stays_one(text: str) -> None:
    assert [claim.right for claim in find_claims(text)] == [True]
