"""Verdicts per second of the math verifier, on one core.

    python benchmarks/verifiers.py [--json] [--count N]

Three mixes, half of the answers wrong, every text fresh, the gold compiled once per task as in training:

- gsm: completions of about 340 characters with whole numbers as answers; - math: about 400 characters; 60 % whole
numbers, then fractions, roots, polynomials, points, intervals, lists, angles, words; - long: the answers of math
behind 16 kB of reasoning.

With math-verify installed (it is used by this benchmark alone), it judges a share of the same texts in the same
process and the ratio is printed. Times are CPU times of this process, so that other work on the machine counts little.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

from lydite.verifiers import Submission, build

Case = tuple[str, str, bool]  # gold, completion, whether it is right

_GSM = (
    "{name} sold {a} clips in April, and then sold {b} more in May than in the month before, so we first work out how"
    " many were sold in May: {a} + {b} = {c}. Then we add both months to get the total number of clips: {a} +"
    " {c} = {d}."
    " Checking the sum once more, {d} - {c} = {a}, which agrees with what the question told us. So altogether"
    " {name} sold"
    " \\boxed{{{answer}}} clips."
)
_MATH = (
    "We set $f(x) = {a}x^2 + {b}x$ and complete the square. The discriminant is ${b}^2 - 4 \\cdot {a} \\cdot 0"
    " = {e}$, so"
    " that the roots are real. Substituting back into the relation $x + y = {c}$ and collecting terms, the remaining"
    " factor cancels, and comparing coefficients on both sides of the equation gives the claim. A check with $x = {d}$"
    " confirms it. Therefore the final answer is $\\boxed{{{answer}}}$."
)
_STEP = (
    "Next, note that $\\frac{{{a}}}{{{b}}} + \\sqrt{{{c}}} \\le {d}$, and hence $x_{{{a}}} ="
    " {e}$ by the previous step. "
)


def _answer(rng: random.Random) -> tuple[str, str, str]:
    """A gold, another notation of it, and a wrong answer."""
    a, b = rng.randint(2, 99), rng.randint(2, 99)
    kind = rng.random()
    if kind < 0.6:
        return str(a * b), f"{a * b:,}", str(a * b + 1)
    choices = [
        (f"\\frac{{{a}}}{{{a + 1}}}", f"{a}/{a + 1}", f"\\frac{{{a}}}{{{a + 2}}}"),
        (f"{a}\\sqrt{{{b}}}", f"\\sqrt{{{a * a * b}}}", f"{a}\\sqrt{{{b + 1}}}"),
        (f"x^2+{a + b}x+{a * b}", f"(x+{a})(x+{b})", f"(x+{a})(x-{b})"),
        (f"({a},{b})", f"\\left({a}, {b}\\right)", f"({b},{a + 1})"),
        (f"[{a},{a + b})", f"{a} \\le x < {a + b}", f"({a},{a + b})"),
        (f"{a},{-b}", f"{-b}, {a}", f"{a},{b}"),
        (f"{a}^\\circ", f"{a} \\text{{ degrees}}", f"{a + 1}^\\circ"),
        ("\\text{no solution}", "\\text{No solutions}", "\\text{infinitely many}"),
    ]
    return rng.choice(choices)


def make(mix: str, count: int, seed: int = 0) -> list[Case]:
    """The cases of a mix."""
    rng = random.Random(f"{mix}:{seed}")
    cases: list[Case] = []
    for index in range(count):
        a, b = rng.randint(10, 99), rng.randint(10, 99)
        right = index % 2 == 0
        numbers = {"a": a, "b": b, "c": a + b, "d": 2 * a + b, "e": b * b}
        if mix == "gsm":
            gold, said, wrong = str(2 * a + b), str(2 * a + b), str(2 * a + b + 1)
            text = _GSM.format(name="Natalia", answer=said if right else wrong, **numbers)
        else:
            gold, said, wrong = _answer(rng)
            text = _MATH.format(answer=said if right else wrong, **numbers)
            if mix == "long":
                text = "".join(_STEP.format(**{key: rng.randint(2, 999) for key in "abcde"}) for _ in range(185)) + text
        cases.append((gold, text, right))
    return cases


def measure(judge: Callable[[str, str], bool], cases: list[Case]) -> tuple[float, int]:
    """CPU seconds, and how many verdicts were wrong."""
    start = time.process_time()
    said = [judge(gold, text) for gold, text, _ in cases]
    seconds = time.process_time() - start
    return seconds, sum(one is not right for one, (_, _, right) in zip(said, cases, strict=True))


def lydite(gold: str, text: str) -> bool:
    """The whole call, cache of compiled golds included."""
    return build({"type": "math", "config": {"answer": gold}})(Submission(text=text)).correct


def math_verify() -> Callable[[str, str], bool] | None:
    """math-verify with its default configuration, the gold parsed once; ``None`` where it is not installed."""
    try:
        from math_verify import parse, verify
    except ImportError:
        return None
    golds: dict[str, list[object]] = {}

    def judge(gold: str, text: str) -> bool:
        if gold not in golds:
            golds[gold] = parse(f"${gold}$")
        return bool(verify(golds[gold], parse(text)))

    return judge


def slowest(cases: Path) -> tuple[str, float] | None:
    """The slowest single verdict of a file of labelled cases: its id and CPU seconds."""
    if not cases.is_file():
        return None
    lydite("1", "\\boxed{1}")
    times = []
    for line in cases.read_text().splitlines():
        case = json.loads(line)
        start = time.process_time()
        lydite(case["gold"], case["completion"])
        times.append((time.process_time() - start, case["id"]))
    seconds, name = max(times)
    return name, seconds


def main() -> None:
    """Run the mixes and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--count", type=int, default=20_000, help="verdicts of the gsm mix; the others take a share")
    parser.add_argument("--cases", type=Path, default=Path(__file__).parents[2] / "shared" / "cases" / "math.jsonl")
    options = parser.parse_args()
    peer = math_verify()
    rows = []
    for mix, share in (("gsm", 1), ("math", 2), ("long", 10)):
        cases = make(mix, max(20, options.count // share))
        measure(lydite, make(mix, 20, seed=1))
        seconds, wrong = measure(lydite, cases)
        row = {"mix": mix, "verdicts": len(cases), "per_second": round(len(cases) / seconds), "wrong": wrong}
        if peer is not None:
            few = cases[: max(10, len(cases) // 40)]
            theirs, their_wrong = measure(peer, few)
            row |= {"math_verify_per_second": round(len(few) / theirs), "math_verify_wrong_of": [their_wrong, len(few)]}
            row["ratio"] = round(row["per_second"] / (len(few) / theirs), 1)
        rows.append(row)
    found = slowest(options.cases)
    if options.json:
        print(json.dumps({"mixes": rows, "slowest": found}))
        return
    for row in rows:
        print("  ".join(f"{key}={value}" for key, value in row.items()))
    if found:
        print(f"slowest labelled case: {found[0]}, {found[1] * 1000:.1f} ms")


if __name__ == "__main__":
    main()
