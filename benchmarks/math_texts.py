"""Texts for the benchmarks of the math verifier: the same for the same seed, no two alike.

    python benchmarks/math_texts.py [MIX]     one text of a mix, or of each

| mix | completions |
|---|---|
| gsm | about 340 characters, whole numbers; boxed, behind ``####``, or "the answer is ..." |
| math | about 400 characters, boxed; 60 % whole numbers, then fractions, roots, polynomials, points and the like |
| long-latex | the answers of math behind 16 kB of formulas |
| long-think | 16 kB of a reasoning model's prose in ``<think>``, then a short solution |
| long-prose | the same prose without tags, doubts and asides included |
| long-steps | 16 kB of word-problem steps with prices, percentages and intermediate results |
| long-loop | one paragraph again and again |
| long-bare | 16 kB of prose; "the answer is ..." and no box |

Kinds for which the verifier has to look longest, run where they are named:

| mix | completions |
|---|---|
| gsm-last | as gsm, but nothing says what the answer is: the last number counts |
| long-last | 16 kB of prose, and then the same |
| long-curly | as long-bare, with typographic apostrophes |
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import NamedTuple

LONG = 16_000
"""Characters of a long text's first part."""


class Case(NamedTuple):
    """A text, what it is judged against, and whether it is right."""

    gold: str
    text: str
    right: bool


_GSM = (
    "{name} sold {a} clips in April, and then sold {b} more in May than in the month before, so we first work out how"
    " many were sold in May: {a} + {b} = {c}. Then we add both months to get the total number of clips: {a} + {c} ="
    " {d}. Checking the sum once more, {d} - {c} = {a}, which agrees with what the question told us. "
)
_GSM_ENDS = (
    "So altogether {name} sold \\boxed{{{answer}}} clips.",
    "So altogether {name} sold {answer} clips.\n#### {answer}",
    "The answer is {answer}.",
)
_NAMES = ("Natalia", "Weng", "Betty", "Julie", "James", "Mark", "Albert", "Ken", "Alexis", "Tina")
_MATH = (
    "We set $f(x) = {a}x^2 + {b}x$ and complete the square. The discriminant is ${b}^2 - 4 \\cdot {a} \\cdot 0"
    " = {e}$, so that the roots are real. Substituting back into the relation $x + y = {c}$ and collecting terms, the"
    " remaining factor cancels, and comparing coefficients on both sides of the equation gives the claim. A check with"
    " $x = {d}$ confirms it. Therefore the final answer is $\\boxed{{{answer}}}$."
)
_FORMULAS = (
    "Next, note that $\\frac{{{a}}}{{{b}}} + \\sqrt{{{c}}} \\le {d}$, and hence $x_{{{a}}} = {e}$ by the last step. ",
    "Then \\[ \\sum_{{k=1}}^{{{a}}} \\binom{{{a}}}{{k}} \\left( \\frac{{k}}{{{b}}} \\right)^2 = {c} + {d} \\]. ",
    "Since $\\text{{gcd}}({a}, {b}) = 1$, the map $\\phi \\colon \\mathbb{{Z}}_{{{c}}} \\to G$ has order ${d}$. ",
)
_PROSE = (
    "Okay, let me think about this. There are {a} of them in the first group and {b} in the second one.\n\n",
    "Wait, that is not quite what was asked. The question wants the number that remain, not the number that left. ",
    "Hmm, let me double-check: {a} plus {b} makes {c}, and taking away {d} gives something close to {e}.\n",
    "So if every person gets {b} pieces, then {a} persons need {a} times {b} pieces, which is a lot. ",
    "Alternatively, I could count from the other end, which should give the same result in fewer steps.\n\n",
    "But hold on, is it possible that some of them were counted twice? No, each of the {c} stands for itself. ",
    "I think this is right, because the same ratio, {a} to {b}, shows up in both of the tables of the text. ",
    "Now I need to put it all together and see whether the two ways of counting agree with one another.\n",
)
_STEPS = (
    "Each ticket costs ${a}.50, so {b} tickets cost {b} * {a}.50 = ${c}.00.\n",
    "A discount of {a}% takes ${b} off the price of ${c}, which leaves ${d} to pay.\n",
    "In week {a} she saves ${b}, and in the week after that she saves ${c} (that is {d}% of her wage).\n",
    "Step {a}: {b} + {c} = <<{b}+{c}={d}>>{d} apples are left in the box of the shop.\n",
)
_LOOP = "So x = {a}, and then 2x = {b}. Let me check it again: 2x = {b}, therefore x = {a}. The value fits. "


def _answer(rng: random.Random) -> tuple[str, str, str]:
    """A gold, another notation of it, and a wrong answer."""
    a, b = rng.randint(2, 999), rng.randint(2, 999)
    if rng.random() < 0.6:
        return str(a * b), rng.choice((f"{a * b:,}", str(a * b))), str(a * b + 1)
    choices = [
        (f"\\frac{{{a}}}{{{a + b}}}", f"{a}/{a + b}", f"\\frac{{{a}}}{{{a + b + 1}}}"),
        (f"{a}\\sqrt{{{b}}}", f"\\sqrt{{{a * a * b}}}", f"{a}\\sqrt{{{b + 1}}}"),
        (f"x^2+{a + b}x+{a * b}", f"(x+{a})(x+{b})", f"(x+{a})(x-{b})"),
        (f"({a},{b})", f"\\left({a}, {b}\\right)", f"({b},{a + b})"),
        (f"[{a},{a + b})", f"{a} \\le x < {a + b}", f"({a},{a + b})"),
        (f"{a},{-b}", f"{-b}, {a}", f"{a},{b}"),
        (f"{a}^\\circ", f"{a} \\text{{ degrees}}", f"{a + 1}^\\circ"),
        ("\\text{no solution}", "\\text{No solutions}", "\\text{infinitely many}"),
    ]
    return rng.choice(choices)


def _numbers(rng: random.Random) -> dict[str, int]:
    return {key: rng.randint(2, 999) for key in "abcde"}


def _filled(rng: random.Random, templates: tuple[str, ...]) -> str:
    parts: list[str] = []
    size = 0
    while size < LONG:
        part = rng.choice(templates).format(**_numbers(rng))
        parts.append(part)
        size += len(part)
    return "".join(parts)


def _gsm(rng: random.Random, right: bool) -> Case:
    a, b = rng.randint(10, 4999), rng.randint(10, 4999)
    total = 2 * a + b
    text = (_GSM + rng.choice(_GSM_ENDS)).format(
        name=rng.choice(_NAMES), a=a, b=b, c=a + b, d=total, answer=total if right else total + 1
    )
    return Case(str(total), text, right)


def _math(rng: random.Random, right: bool) -> Case:
    gold, said, wrong = _answer(rng)
    return Case(gold, _MATH.format(answer=said if right else wrong, **_numbers(rng)), right)


def _behind(first: Callable[[random.Random], str], end: str = "") -> Callable[[random.Random, bool], Case]:
    def make_one(rng: random.Random, right: bool) -> Case:
        if end:
            total = rng.randint(100, 99_999)
            return Case(str(total), first(rng) + end.format(answer=total if right else total + 1), right)
        case = _math(rng, right)
        return case._replace(text=first(rng) + case.text)

    return make_one


def _looped(rng: random.Random) -> str:
    part = _LOOP.format(**_numbers(rng))
    return part * (LONG // len(part) + 1)


MIXES: dict[str, Callable[[random.Random, bool], Case]] = {
    "gsm": _gsm,
    "math": _math,
    "long-latex": _behind(lambda rng: _filled(rng, _FORMULAS)),
    "long-think": _behind(lambda rng: f"<think>\n{_filled(rng, _PROSE)}</think>\n\n"),
    "long-prose": _behind(lambda rng: _filled(rng, _PROSE)),
    "long-steps": _behind(lambda rng: _filled(rng, _STEPS), "So she pays \\boxed{{{answer}}} dollars in total."),
    "long-loop": _behind(_looped),
    "long-bare": _behind(lambda rng: _filled(rng, _PROSE), "\n\nThe answer is {answer}."),
}


def _curly(rng: random.Random, right: bool) -> Case:
    case = MIXES["long-bare"](rng, right)
    return case._replace(text=case.text.replace("that is", "that’s"))


def _gsm_last(rng: random.Random, right: bool) -> Case:
    case = _gsm(rng, right)
    said = case.gold if right else str(int(case.gold) + 1)
    return case._replace(text=case.text.partition("Checking")[0] + f"So altogether {said} clips were sold.")


MORE: dict[str, Callable[[random.Random, bool], Case]] = {
    "gsm-last": _gsm_last,
    "long-last": _behind(lambda rng: _filled(rng, _PROSE), "\n\nSo there are {answer} of them left."),
    "long-curly": _curly,
}


def make(mix: str, count: int, seed: int = 0) -> list[Case]:
    """Cases of a mix; every second one is right."""
    rng = random.Random(f"{mix}:{seed}")
    maker = (MIXES | MORE)[mix]
    return [maker(rng, index % 2 == 0) for index in range(count)]


DEGENERATE = {
    "\\[ \\boxed{7} ": "boxes in formulas that never end",
    "\\boxed{": "boxes that never end",
    "{": "open braces",
    "}": "closing braces",
    "$": "dollar signs",
    "It costs $5. ": "prices",
    "\\[ x ": "formulas that never end",
    "\\(": "the same, inline",
    "The answer is 7. ": "claims",
    "the answer is ": "claims of nothing",
    "the answer is not \\boxed{7} ": "denials",
    "\\boxed{7} wait, no: ": "withdrawals",
    "\\cancel{": "struck out, never closed",
    "\\boxed{\\cancel{7}} ": "boxes struck out",
    "7": "digits",
    "7 ": "numbers",
    ",000": "thousands",
    "7, and ": "lists",
    "(": "open parentheses",
    "()": "parentheses",
    "\\": "backslashes",
    "#### ": "markers",
    "#### " + 180 * "1" + "x!?\n": "markers of long numbers",
    "<answer>": "tags that never end",
    "<think>": "thinking that never ends",
    "</think>": "thinking that never began",
    "<!-- ": "comments that never end",
    "% \\boxed{7}\n": "comments with boxes",
    " ": "white space",
    "\n": "line breaks",
    "a": "letters",
    "７": "full-width digits",
    "no, I cannot say: ": "refusals",
}
"""Pieces of which texts of one megabyte are made, and what they are."""


if __name__ == "__main__":
    for name in sys.argv[1:] or MIXES:
        print(f"== {name}\n{make(name, 1)[0]}\n")
