from __future__ import annotations

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.verdict import Outcome
from lydite.verifiers import Submission, build
from lydite.verifiers.math import compare, extract, read
from lydite.verifiers.math.nodes import TooBigError

whole = st.integers(min_value=-(10**12), max_value=10**12)
PIECES = [
    *[
        "\\frac",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "1",
        "2",
        "12",
        "0",
        "x",
        "y",
        "+",
        "-",
        "*",
        "/",
        "^",
        "_",
        "=",
        "<",
        "\\le",
    ],
    *[
        ",",
        ";",
        "and",
        "or",
        "\\pm",
        "!",
        "%",
        "\\sqrt",
        "\\sin",
        "\\cup",
        "\\infty",
        "\\{",
        "\\}",
        "|",
        "\\pi",
        "e",
        "i",
    ],
    *["\\text{", "cm", "km/h", "percent", "^\\circ", "\\begin{pmatrix}", "\\end{pmatrix}", "&", "\\\\", ":", "\\pmod{"],
    *["$", "\\$", ".", "...", "\\ldots", "\\binom", "\\in", "A", "(C)", "'", '"', "½", "²", "−", "three", "million"],
    *[
        "Tuesday",
        "\\boxed{",
        "\\left",
        "\\right",
        "\\over",
        "\\overline{",
        "0.",
        "\\equiv",
        "\\ne",
        "\\to",
        "\ud800",
        "\0",
    ],
]
formulas = st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map(" ".join) | st.lists(
    st.sampled_from(PIECES), min_size=1, max_size=12
).map("".join)


@st.composite
def notations(draw: st.DrawFn) -> tuple[int, str]:
    """A whole number and one of the ways to write it."""
    value = draw(whole)
    digits = str(abs(value))
    grouped = f"{abs(value):,}"
    magnitude = draw(
        st.sampled_from(
            [
                digits, grouped, grouped.replace(",", "{,}"), grouped.replace(",", "\\,"), digits + ".0",
                grouped + ".00", "0" + digits, f"\\frac{{{digits}}}{{1}}", f"{2 * abs(value)}/2",
                f"{abs(value) * 100}\\%", digits + " apples", f"{{{digits}}}", f"\\mathbf{{{digits}}}",
                f"\\text{{{digits}}}", digits + ".", f"\\left({digits}\\right)",
                "".join(chr(0xFF10 + int(digit)) for digit in digits),
                "".join(chr(0x660 + int(digit)) for digit in digits),
            ]
        )
    )  # fmt: skip
    sign = draw(st.sampled_from(["-", "−", "- "])) if value < 0 else draw(st.sampled_from(["", "+"]))
    dress = draw(st.sampled_from(["{}", "${}$", "\\({}\\)", " {} ", "x = {}", "\\displaystyle {}", "{}\n"]))
    return value, dress.replace("{}", sign + magnitude, 1)


@given(notations())
def test_every_notation_of_a_whole_number_is_that_number(case: tuple[int, str]) -> None:
    value, written = case
    assert compare(written, str(value))
    assert compare(str(value), written)


@given(notations(), whole)
def test_no_notation_is_another_number(case: tuple[int, str], other: int) -> None:
    value, written = case
    if "%" in written:
        assert compare(written, str(other)) is (other in (value, value * 100))
    else:
        assert compare(written, str(other)) is (other == value)


@given(st.fractions(max_denominator=10**6))
def test_fractions_in_any_terms(value: Fraction) -> None:
    top, bottom = 6 * value.numerator, 6 * value.denominator
    assert compare(f"\\frac{{{top}}}{{{bottom}}}", f"{value.numerator}/{value.denominator}")
    assert not compare(f"\\frac{{{top + 1}}}{{{bottom}}}", f"{value.numerator}/{value.denominator}")


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**9), max_value=10**9))
def test_decimals_are_exact(value: object) -> None:
    assert compare(str(value), str(Fraction(str(value))))
    assert not compare(str(value), str(Fraction(str(value)) + Fraction(1, 10**30)))


@given(formulas)
def test_what_can_be_read_equals_itself(text: str) -> None:
    answer = read(text)
    if answer.kind not in ("none", "false", "big"):
        assert compare(text, text)


@given(formulas, formulas)
def test_compare_is_symmetric(one: str, other: str) -> None:
    if "base" in (read(one).kind, read(other).kind):
        return  # 204_5 is 54, and 54 is no answer where base 5 was asked for
    with contextlib.suppress(TooBigError):
        assert compare(one, other) is compare(other, one)


@given(st.text(max_size=300) | formulas)
def test_no_text_raises_or_is_invalid(text: str) -> None:
    for gold in ("7", "x^2+1", "\\{1,2\\}", "(1,2)", "x<3", "80 km/h", "\\text{no solution}"):
        check = build({"type": "math", "config": {"answer": gold}})
        for completion in (text, f"So \\boxed{{{text}}}", f"The answer is {text}"):
            assert check(Submission(text=completion)).outcome is not Outcome.INVALID


@given(st.text(max_size=500))
def test_extract_finds_what_is_there(text: str) -> None:
    for policy in ("strict", "lenient"):
        found = extract(text, policy)  # type: ignore[arg-type]
        assert all(isinstance(answer, str) for answer in found.answers)
        assert (found.place == "none") is (not found.answers)


@pytest.mark.parametrize(
    ("one", "other"),
    [("\\sqrt{7+4\\sqrt{3}}", "2+\\sqrt{3}"), ("e^{-1000}", "e^{-1001}"), ("\\sin(\\pi/7)", "\\cos(5\\pi/14)")],
)
def test_constants_at_high_precision(one: str, other: str) -> None:
    assert compare(one, other) is (one != "e^{-1000}")
