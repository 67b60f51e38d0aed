"""Every gold of GSM8K, in every notation, in every place where an answer may stand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path

import pytest

from lydite.verifiers import verify
from lydite.verifiers.math import compare, read

_split = str.split  # tables of words stay readable
ONES = _split(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
TENS = _split("_ _ twenty thirty forty fifty sixty seventy eighty ninety")
SCALES = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))


@pytest.fixture(scope="module")
def rows(shared: Path) -> list[dict[str, str]]:
    found = [
        json.loads(line)
        for name in ("gsm8k_train.jsonl", "gsm8k_test.jsonl")
        if (shared / "data" / name).is_file()
        for line in (shared / "data" / name).read_text(encoding="utf-8").splitlines()
    ]
    return found or pytest.skip("GSM8K is not there")


@pytest.fixture(scope="module")
def golds(rows: list[dict[str, str]]) -> list[str]:
    return sorted({row["answer"].rpartition("####")[2].strip() for row in rows})


def words(value: int) -> str:
    """A whole number in English, without "and"."""
    if value < 0:
        return "minus " + words(-value)
    if value < 20:
        return ONES[value]
    if value < 100:
        return TENS[value // 10] + ("-" + ONES[value % 10] if value % 10 else "")
    for scale, name in SCALES:
        if value >= scale:
            rest = value % scale
            return f"{words(value // scale)} {name}" + (" " + words(rest) if rest else "")
    raise AssertionError(value)


def scientific(value: int) -> tuple[str, int]:
    """Mantissa and exponent: 1.575 and 6 for 1575000."""
    digits = str(abs(value))
    mantissa = digits[0] + ("." + digits[1:].rstrip("0") if digits[1:].rstrip("0") else "")
    return ("-" if value < 0 else "") + mantissa, len(digits) - 1


def notations(value: int) -> Iterator[str]:
    """The ways to write a whole number."""
    sign, size = ("-" if value < 0 else ""), abs(value)
    plain, grouped = f"{value}", f"{value:,}"
    yield from (plain, grouped, f"{plain}.", f"{plain}.0", f"{grouped}.00", f"{plain}.000", f"{sign}0{size}")
    for separator in ("{,}", "\\,", "\\!,", "\\ ", " ", "~", "\u202f", "\u00a0"):
        yield grouped.replace(",", separator)
    yield from (f"\\frac{{{plain}}}{{1}}", f"\\dfrac{{{3 * value}}}{{3}}", f"{2 * value}/2", f"{plain}/1")
    yield from (f"{sign}\\tfrac{{{2 * size}}}{{2}}", f"\\frac{{{10 * value:,}}}{{10}}", f"\\frac{{{-value}}}{{-1}}")
    yield from (f"\\${plain}", f"${plain}$", f"\\({plain}\\)", f"\\${grouped}", f"\\${grouped}.00", f"{plain}\\$")
    yield from (f"{plain} dollars", f"{grouped} \\text{{ dollars}}", f"{plain} apples", f"{plain}\\text{{ hours}}")
    yield from (f"{plain}\\ \\text{{cm}}", f"{plain} \\mathrm{{kg}}", f"{plain} square feet", f"USD {plain}")
    yield from (f"{{{plain}}}", f"\\text{{{plain}}}", f"\\mathbf{{{plain}}}", f"\\textbf{{{grouped}}}", f"**{plain}**")
    yield from (f"\\boxed{{{plain}}}", f"\\left({plain}\\right)", f"({plain})", f" {plain} ", f"\\displaystyle {plain}")
    yield from (f"x = {plain}", f"x={grouped}", f"= {plain}", f"n = \\${plain}", f"\\textcolor{{red}}{{{plain}}}")
    yield from (f"{plain}\\%".replace(plain, str(100 * value)), f"{100 * value}%", f"{100 * value} percent")
    yield from ("".join(chr(0xFF10 + int(one)) if one.isdigit() else one for one in plain),)
    yield from ("".join(chr(0x660 + int(one)) if one.isdigit() else one for one in plain),)
    yield from ("".join(chr(0x966 + int(one)) if one.isdigit() else one for one in plain),)
    yield from (plain.replace("-", "−"), plain.replace("-", "－"), plain.replace("-", "- "))
    mantissa, exponent = scientific(value)
    yield from (f"{mantissa} \\times 10^{{{exponent}}}", f"{mantissa}\\cdot 10^{exponent}" if exponent < 10 else plain)
    yield from (f"{mantissa}e{exponent}", f"{mantissa}E+{exponent:02}", f"{mantissa}×10^{exponent}")
    said = words(value)
    yield from (said, said.capitalize(), f"\\text{{{said}}}", said.replace("-", " "), f"{said} dollars")
    if value > 0:
        yield from (f"+{plain}", f"+{grouped}", f"\\sqrt{{{value * value}}}", f"|{-value}|", f"{value}^1")
    if size % 10**6 == 0 and value:
        yield from (f"{value // 10**6} million", f"{value // 10**6}\\text{{ million}}")
    if size % 1000 == 0 and value:
        yield f"{value // 1000} thousand"
    if value % 12 == 0 and value:
        yield f"{value // 12} dozen"


PLACES = (
    "So \\boxed{@}.", "$\\boxed{@}$", "\\[\n\\boxed{@}\n\\]", "\\boxed{ @ } apples", "Thus\n#### @", "#### @\n",
    "The answer is @.", "The final answer is $@$.", "**Answer:** @", "Answer: @", "**Final Answer**\n\n@",
    "She works it out.\n<answer>@</answer>", "<think>7 or 8?</think>\nThe answer is \\boxed{@}", "@", "We find x = @",
    "First 3 * 4 = 12. In the end there are @ apples left.", "So the total is **@**.", "\\fbox{@}",
    "Final Answer: The final answer is $@$. I hope it is correct.", "\\boxed@",
)  # fmt: skip


def number(gold: str) -> int:
    return int(gold.replace(",", ""))


every = pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)], ids=["a fifth", "all"])
"""Each gold with every fifth notation or place, another fifth from gold to gold; and with all of them."""


@every
def test_every_gold_is_every_notation_of_it_and_the_other_way_round(golds: list[str], step: int) -> None:
    wrong = []
    for index, gold in enumerate(golds):
        stated = read(gold)
        for written in islice(notations(number(gold)), index % step, None, step):
            answer = read(written)
            if not (compare(answer, stated) and compare(stated, answer)):
                wrong.append((gold, written))
    assert wrong == []


@every
def test_no_gold_is_a_notation_of_its_neighbours(golds: list[str], step: int) -> None:
    wrong = []
    for index, gold in enumerate(golds):
        value, stated = number(gold), read(gold)
        for other in {value + 1, value - 1, 10 * value, -value} - {value}:
            for written in islice(notations(other), index % step, None, step):
                answer = read(written)
                is_share = answer.kind == "percent" and 100 * other == value  # 700% is also 700
                if compare(answer, stated) is not is_share or compare(stated, answer) is not is_share:
                    wrong.append((gold, written))
    assert wrong == []


@every
def test_every_gold_in_every_place(golds: list[str], step: int) -> None:
    wrong = []
    for index, gold in enumerate(golds):
        checker = {"type": "math", "config": {"answer": gold}}
        value = number(gold)
        for place in PLACES[index % step :: step]:
            for said, right in ((gold, True), (str(value), True), (str(value + 1), False), (f"{value}7", False)):
                if verify(checker, place.replace("@", said)).correct is not right:
                    wrong.append((gold, place, said))
    assert wrong == []


def test_the_solutions_are_correct_and_those_of_others_are_not(rows: list[dict[str, str]]) -> None:
    wrong = []
    for row, other in pairwise(rows):
        gold, not_it = (one["answer"].rpartition("####")[2].strip() for one in (row, other))
        checker = {"type": "math", "config": {"answer": gold}}
        if not verify(checker, row["answer"], row["question"]).correct:
            wrong.append((gold, row["answer"]))
        if verify(checker, other["answer"]).correct is not (number(gold) == number(not_it)):
            wrong.append((gold, other["answer"]))
    assert wrong == []


def test_a_whole_solution_may_be_the_gold(rows: list[dict[str, str]]) -> None:
    wrong = []
    for row in rows[::10]:
        gold = row["answer"].rpartition("####")[2].strip()
        checker = {"type": "math", "config": {"answer": row["answer"]}}
        if (
            not verify(checker, f"\\boxed{{{gold}}}").correct
            or verify(checker, f"\\boxed{{{number(gold) + 1}}}").correct
        ):
            wrong.append(gold)
    assert wrong == []
