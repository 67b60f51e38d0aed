"""Values of every kind of answer, in notations that mean the same, and values that are near and not the same."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from hypothesis import strategies as st


class Value(NamedTuple):
    """One value: notations of it, and notations of other values. Any of the first may be the gold."""

    same: tuple[str, ...]
    other: tuple[str, ...]


small = st.integers(min_value=2, max_value=60)
signed = st.integers(min_value=-60, max_value=60)
nonzero = signed.filter(bool)


@st.composite
def rationals(draw: st.DrawFn) -> Value:
    value = Fraction(draw(nonzero), draw(small))
    top, bottom = value.numerator, value.denominator
    more = value + Fraction(1, 7)
    sign, size = ("-" if value < 0 else ""), abs(value)
    whole, rest = divmod(size, 1)
    same = [
        f"{top}/{bottom}", f"\\frac{{{top}}}{{{bottom}}}", f"\\dfrac{{{3 * top}}}{{{3 * bottom}}}",
        f"{sign}\\frac{{{abs(top)}}}{{{bottom}}}", f"\\left({top}/{bottom}\\right)", f"{{{top} \\over {bottom}}}",
    ]  # fmt: skip
    if whole and rest:
        same.append(f"{sign}{whole}\\frac{{{rest.numerator}}}{{{rest.denominator}}}")
        same.append(f"{sign}{whole} {rest.numerator}/{rest.denominator}")
    if 10**6 % bottom == 0:
        same.append(f"{float(value):.6f}")
        same.append(f"{float(value * 100):.6f}\\%")
    other = [f"{more.numerator}/{more.denominator}", f"{-top}/{bottom}", f"\\frac{{{top + 1}}}{{{bottom}}}"]
    return Value(tuple(same), tuple(other))


@st.composite
def repeating(draw: st.DrawFn) -> Value:
    period = draw(st.integers(min_value=1, max_value=998).filter(lambda value: value not in (9, 99)))
    digits = str(period)
    value = Fraction(period, 10 ** len(digits) - 1)
    same = (
        f"0.\\overline{{{digits}}}", f"0.({digits})", f"0.{digits * 3}\\ldots", f"0.{digits}\\overline{{{digits}}}",
        f"\\frac{{{value.numerator}}}{{{value.denominator}}}", f"0.\\bar{{{digits}}}",
    )  # fmt: skip
    return Value(same, (f"0.{digits}", f"0.0\\overline{{{digits}}}", f"1.\\overline{{{digits}}}"))


@st.composite
def scientific(draw: st.DrawFn) -> Value:
    mantissa, power = draw(st.integers(min_value=11, max_value=99)), draw(st.integers(min_value=2, max_value=9))
    first, second = divmod(mantissa, 10)
    number = mantissa * 10 ** (power - 1)
    same = (
        f"{first}.{second} \\times 10^{{{power}}}", f"{first}.{second}e{power}", f"{first}.{second} \\cdot 10^{power}",
        str(number), f"{number:,}", f"{first}.{second}E+{power:02d}", f"{first}.{second} × 10^{power}",
    )  # fmt: skip
    return Value(same, (f"{first}.{second} \\times 10^{{{power + 1}}}", f"{first}.{second}", f"10^{power}"))


@st.composite
def radicals(draw: st.DrawFn) -> Value:
    factor, inside = draw(small), draw(st.sampled_from([2, 3, 5, 6, 7, 10, 11]))
    same = (
        f"{factor}\\sqrt{{{inside}}}", f"\\sqrt{{{factor * factor * inside}}}", f"{factor}*sqrt({inside})",
        f"{factor} \\cdot {inside}^{{1/2}}", f"\\frac{{{factor * inside}}}{{\\sqrt{{{inside}}}}}", f"{factor}√{inside}",
    )  # fmt: skip
    return Value(same, (f"{factor}\\sqrt{{{inside + 8}}}", f"-{factor}\\sqrt{{{inside}}}", f"{factor}", f"{inside}"))


@st.composite
def constants(draw: st.DrawFn) -> Value:
    top, bottom = draw(small), draw(st.sampled_from([7, 11, 13]))
    same = (
        f"\\frac{{{top}\\pi}}{{{bottom}}}",
        f"{top}\\pi/{bottom}",
        f"\\frac{{{top}}}{{{bottom}}}\\pi",
        f"{top}π/{bottom}",
    )
    return Value(same, (f"\\frac{{{top}}}{{{bottom}}}", f"\\frac{{{top}e}}{{{bottom}}}", f"{top}\\pi/{bottom + 1}"))


@st.composite
def quantities(draw: st.DrawFn) -> Value:
    amount = draw(small)
    big, little, times = draw(
        st.sampled_from(
            [("kg", "g", 1000), ("hours", "minutes", 60), ("m", "cm", 100), ("feet", "inches", 12), ("L", "mL", 1000),
             ("km/h", "m/h", 1000), ("dollars", "cents", 100), ("m^2", "cm^2", 10000), ("weeks", "days", 7)]
        )
    )  # fmt: skip
    same = (
        f"{amount} \\text{{ {big}}}", f"{amount * times} \\text{{ {little}}}", f"{amount}\\,\\mathrm{{{big}}}",
        f"{amount}.0 \\text{{ {big}}}", f"\\text{{{amount} {big}}}",
    )  # fmt: skip
    return Value(
        same, (f"{amount + 1} \\text{{ {big}}}", f"{amount} \\text{{ {little}}}", f"{amount} \\text{{ apples}}")
    )


@st.composite
def money(draw: st.DrawFn) -> Value:
    dollars, cents = draw(small), draw(st.integers(min_value=10, max_value=99))
    same = (
        f"\\${dollars}.{cents}", f"{dollars}.{cents} \\text{{ dollars}}", f"\\${dollars}.{cents}0",
        f"\\${dollars} \\text{{ and }} {cents} \\text{{ cents}}", f"{dollars}.{cents} USD",
    )  # fmt: skip
    return Value(
        same, (f"\\${dollars}", f"€{dollars}.{cents}", f"\\${dollars + 1}.{cents}", f"{dollars}.{cents} \\text{{ kg}}")
    )


@st.composite
def angles(draw: st.DrawFn) -> Value:
    degrees = draw(st.integers(min_value=1, max_value=359))
    share = Fraction(degrees, 180)
    same = (
        f"{degrees}^\\circ", f"{degrees}^{{\\circ}}", f"{degrees}°", f"{degrees} \\text{{ degrees}}",
        f"\\frac{{{share.numerator}\\pi}}{{{share.denominator}}}",
    )  # fmt: skip
    return Value(same, (f"{degrees + 1}^\\circ", f"-{degrees}^\\circ", f"{degrees} \\text{{ radians}}"))


@st.composite
def times(draw: st.DrawFn) -> Value:
    hour, minute = draw(st.integers(min_value=1, max_value=11)), draw(st.integers(min_value=0, max_value=59))
    same = (
        f"{hour}:{minute:02d} \\text{{ p.m.}}", f"{hour}:{minute:02d} PM", f"{hour + 12}:{minute:02d}",
        f"{hour}{{:}}{minute:02d} pm",
    )  # fmt: skip
    return Value(same, (f"{hour}:{minute:02d} \\text{{ a.m.}}", f"{hour % 11 + 1}:{minute:02d} PM"))


MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


@st.composite
def dates(draw: st.DrawFn) -> Value:
    month, day = draw(st.integers(min_value=0, max_value=11)), draw(st.integers(min_value=1, max_value=28))
    year = draw(st.integers(min_value=1800, max_value=2100))
    name = MONTHS[month]
    same = (
        f"{name} {day}, {year}", f"{day} {name} {year}", f"{name[:3]} {day}, {year}",
        f"{year}-{month + 1:02d}-{day:02d}",
        f"\\text{{{name} {day}, {year}}}",
    )  # fmt: skip
    return Value(same, (f"{name} {day}, {year + 1}", f"{MONTHS[month - 1]} {day}, {year}", f"{name} {day + 1}, {year}"))


@st.composite
def polynomials(draw: st.DrawFn) -> Value:
    r, s = draw(st.integers(min_value=1, max_value=20)), draw(st.integers(min_value=1, max_value=20))
    same = (
        f"x^2+{r + s}x+{r * s}", f"(x+{r})(x+{s})", f"{r * s}+{r + s}x+x^{{2}}", f"x(x+{r + s})+{r * s}",
        f"x^2 + {r + s} \\cdot x + {r * s}",
    )  # fmt: skip
    return Value(same, (f"x^2+{r + s}x-{r * s}", f"x^2+{r + s + 1}x+{r * s}", f"y^2+{r + s}y+{r * s}", f"{r * s}"))


@st.composite
def lines(draw: st.DrawFn) -> Value:
    slope, cut = draw(small), draw(small)
    same = (
        f"y={slope}x+{cut}", f"{slope}x-y+{cut}=0", f"y-{cut}={slope}x", f"2y={2 * slope}x+{2 * cut}",
        f"{slope}x+{cut}=y",
    )  # fmt: skip
    return Value(same, (f"y={slope}x-{cut}", f"y={slope + 1}x+{cut}", f"x={slope}y+{cut}"))


@st.composite
def assignments(draw: st.DrawFn) -> Value:
    value = draw(signed)
    return Value(
        (f"x={value}", f"{value}", f"x = {value}.0", f"{value}=x"), (f"x={value + 1}", f"x>{value}", f"x\\ne{value}")
    )


@st.composite
def regions(draw: st.DrawFn) -> Value:
    low = draw(signed)
    high = low + draw(small)
    same = (
        f"{low} \\le x < {high}", f"[{low},{high})", f"x \\in [{low}, {high})", f"\\left[{low},{high}\\right)",
        f"{high} > x \\geq {low}", f"x \\ge {low} \\text{{ and }} x < {high}", f"[{low},{high}[",
        f"\\{{x : {low} \\le x < {high}\\}}",
    )  # fmt: skip
    return Value(same, (f"({low},{high})", f"[{low},{high}]", f"[{low},{high + 1})", f"{low}", f"{low},{high}"))


@st.composite
def rays(draw: st.DrawFn) -> Value:
    end = draw(signed)
    same = (f"x>{end}", f"{end}<x", f"({end},\\infty)", f"x \\in ({end}, +\\infty)", f"\\{{x \\mid x > {end}\\}}")
    return Value(same, (f"x<{end}", f"x \\ge {end}", f"[{end},\\infty)", f"(-\\infty,{end})", f"{end}"))


@st.composite
def unions(draw: st.DrawFn) -> Value:
    low = draw(signed)
    high = low + draw(small)
    same = (
        f"x<{low} \\text{{ or }} x>{high}", f"(-\\infty,{low})\\cup({high},\\infty)",
        f"({high},\\infty)\\cup(-\\infty,{low})",
        f"\\mathbb{{R}}\\setminus[{low},{high}]",
    )  # fmt: skip
    return Value(same, (f"(-\\infty,{low}]\\cup({high},\\infty)", f"(-\\infty,{low})", f"({low},{high})"))


@st.composite
def lists(draw: st.DrawFn) -> Value:
    members = draw(st.lists(signed, min_size=2, max_size=5, unique=True))
    turned = members[::-1]
    words = ", ".join(map(str, turned[:-1])) + f" \\text{{ and }} {turned[-1]}"
    same = (
        ", ".join(map(str, members)), f"\\{{{', '.join(map(str, turned))}\\}}", words,
        ", ".join(f"x={value}" for value in turned), f"x \\in \\{{{','.join(map(str, members))}\\}}",
    )  # fmt: skip
    other = (", ".join(map(str, members[1:])) or "0", ", ".join(map(str, [*members, 777])), f"{members[0]}")
    return Value(same, other)


@st.composite
def tuples(draw: st.DrawFn) -> Value:
    a, b = draw(signed), draw(signed)
    same = (
        f"({a},{b})",
        f"\\left({a}, {b}\\right)",
        f"(x,y)=({a},{b})",
        f"x={a}, y={b}",
        f"\\langle {a}, {b} \\rangle",
        f"({a};{b})",
    )
    return Value(same, (f"({b + 1},{a})", f"({a},{b},0)", f"[{a},{b}]", f"\\{{{a},{b}\\}}", f"{a}"))


@st.composite
def matrices(draw: st.DrawFn) -> Value:
    a, b, c, d = (draw(signed) for _ in range(4))
    body = f"{a}&{b}\\\\{c}&{d}"
    same = (
        f"\\begin{{pmatrix}}{body}\\end{{pmatrix}}", f"\\begin{{bmatrix}} {a} & {b} \\\\ {c} & {d} \\end{{bmatrix}}",
        f"\\left[\\begin{{array}}{{cc}}{body}\\end{{array}}\\right]", f"[[{a},{b}],[{c},{d}]]",
        f"\\frac12\\begin{{pmatrix}}{2 * a}&{2 * b}\\\\{2 * c}&{2 * d}\\end{{pmatrix}}",
    )  # fmt: skip
    other = (
        f"\\begin{{pmatrix}}{a}&{b}\\\\{c}&{d + 1}\\end{{pmatrix}}",
        f"\\begin{{pmatrix}}{a}&{b}\\end{{pmatrix}}",
        f"{a}",
    )
    return Value(same, other)


@st.composite
def complexes(draw: st.DrawFn) -> Value:
    a, b = draw(nonzero), draw(small)
    same = (
        f"{a}+{b}i",
        f"{b}i+{a}",
        f"{a}+{b}\\mathrm{{i}}",
        f"{a}.0+{b}.0i",
        f"{a} + {b} \\cdot i",
        f"{a}+{b}\\sqrt{{-1}}",
    )
    return Value(same, (f"{a}-{b}i", f"{a}+{b + 1}i", f"{a}", f"{a + b}", f"({a},{b})"))


@st.composite
def signs(draw: st.DrawFn) -> Value:
    a, b = draw(small), draw(st.sampled_from([2, 3, 5, 7]))
    same = (
        f"{a} \\pm \\sqrt{{{b}}}", f"{a}+\\sqrt{{{b}}}, {a}-\\sqrt{{{b}}}", f"x = {a} \\pm \\sqrt{{{b}}}",
        f"\\{{{a}-\\sqrt{{{b}}}, {a}+\\sqrt{{{b}}}\\}}", f"{a} ± √{b}",
    )  # fmt: skip
    return Value(same, (f"{a}+\\sqrt{{{b}}}", f"-{a} \\pm \\sqrt{{{b}}}", f"{a} \\pm {b}"))


@st.composite
def bases(draw: st.DrawFn) -> Value:
    value, base = draw(st.integers(min_value=100, max_value=9999)), draw(st.sampled_from([2, 3, 5, 7, 8, 12, 16]))
    digits, rest = "", value
    while rest:
        rest, digit = divmod(rest, base)
        digits = "0123456789ABCDEF"[digit] + digits
    same = (
        f"{digits}_{{{base}}}",
        f"({digits})_{{{base}}}",
        f"{digits}_{{{base}}}",
        f"{digits} \\text{{ (base {base})}}",
    )
    return Value(same, (f"{digits}_{{{base + 1}}}", f"1{digits}_{{{base}}}", digits))


@st.composite
def ratios(draw: st.DrawFn) -> Value:
    a, b = draw(small), draw(small)
    same = (f"{a}:{b}", f"{a} : {b}", f"{a} \\text{{ to }} {b}", f"\\frac{{{a}}}{{{b}}}", f"{2 * a} : {2 * b}")
    return Value(same, (f"{a}:{b + 1}", f"{a}:{b}:1", f"{a},{b}"))


@st.composite
def congruences(draw: st.DrawFn) -> Value:
    modulus = draw(st.integers(min_value=3, max_value=40))
    residue = draw(st.integers(min_value=0, max_value=modulus - 1))
    same = (
        f"{residue} \\pmod{{{modulus}}}", f"x \\equiv {residue} \\pmod{{{modulus}}}",
        f"{residue + modulus} \\pmod{{{modulus}}}",
        f"x \\equiv {residue - modulus} \\pmod{{{modulus}}}", f"x \\equiv {residue} \\ (\\text{{mod }} {modulus})",
    )  # fmt: skip
    return Value(same, (f"{residue + 1} \\pmod{{{modulus}}}", f"{residue} \\pmod{{{modulus + 1}}}", f"{residue + 1}"))


ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
]
ONES += ["seventeen", "eighteen", "nineteen"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spoken(value: int) -> str:
    """A whole number below a million in words."""
    if value < 20:
        return ONES[value]
    if value < 100:
        return TENS[value // 10 - 2] + (f"-{ONES[value % 10]}" if value % 10 else "")
    if value < 1000:
        return f"{ONES[value // 100]} hundred" + (f" and {spoken(value % 100)}" if value % 100 else "")
    return f"{spoken(value // 1000)} thousand" + (f" {spoken(value % 1000)}" if value % 1000 else "")


@st.composite
def numerals(draw: st.DrawFn) -> Value:
    value = draw(st.integers(min_value=0, max_value=999_999))
    said = spoken(value)
    same = (str(value), said, f"\\text{{{said}}}", said.capitalize(), said.replace("-", " "), f"{said} apples")
    return Value(
        same,
        (spoken(value + 1), f"minus {said}" if value else "one", str(value + 1), f"{said} million" if value else "1"),
    )


@st.composite
def choices(draw: st.DrawFn) -> Value:
    letter = draw(st.sampled_from("ABCDE"))
    wrong = chr((ord(letter) - 64) % 5 + 65)
    same = (
        letter,
        f"({letter})",
        f"\\text{{({letter})}}",
        f"\\textbf{{({letter})}}",
        f"{letter}.",
        f"\\text{{Option {letter}}}",
    )
    return Value(same, (wrong, f"({wrong})", f"{letter} or {wrong}", f"{letter}, {wrong}"))


@st.composite
def texts(draw: st.DrawFn) -> Value:
    word, wrong = draw(
        st.sampled_from(
            [
                ("right triangle", "acute triangle"),
                ("Alice", "Bob"),
                ("even", "odd"),
                ("ellipse", "circle"),
                ("Monday", "Sunday"),
            ]
        )
    )
    same = (word, f"\\text{{{word}}}", word.upper(), f"\\textbf{{{word}}}", f"\\text{{{word}.}}", f"$\\text{{{word}}}$")
    return Value(same, (wrong, f"not {word}", f"{word} or {wrong}", word[:-1]))


values = st.one_of(
    rationals(), repeating(), scientific(), radicals(), constants(), quantities(), money(), angles(), times(), dates(),
    polynomials(), lines(), assignments(), regions(), rays(), unions(), lists(), tuples(), matrices(), complexes(),
    signs(), bases(), ratios(), congruences(), numerals(), choices(), texts(),
)  # fmt: skip
