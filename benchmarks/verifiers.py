"""Verdicts per second of the math verifier beside math-verify's, on one core.

    pip install -e .[bench]
    python benchmarks/verifiers.py [--json] [--rounds N] [--seconds S] [--mix NAME]

Both judge the same fresh texts (``math_texts.py``) in the same process: math-verify as it comes, on a gold that was
parsed beforehand, and ``lydite.verify``, whose cache holds the compiled gold. A round is a block of Lydite, a block of
math-verify, and another one of Lydite, so that noise hits both; the ratio is the median over the rounds. Times are CPU
times of this process. Wrong verdicts of both are counted.

Then: milliseconds for texts of one megabyte that are degenerate in one way each, and the slowest of the labelled cases.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from math_texts import DEGENERATE, MIXES, MORE, Case, make

import lydite

MEGABYTE = 1_000_000
Judge = Callable[[Case], bool]


class Block(NamedTuple):
    """What one side did in one block."""

    verdicts: int
    seconds: float
    wrong: int


def checker(gold: str, policy: str = "lenient") -> dict[str, Any]:
    """The checker of a gold."""
    return {"type": "math", "config": {"answer": gold, "extraction": policy}}


def ours(case: Case) -> bool:
    """The whole public call."""
    return lydite.verify(checker(case.gold), case.text).correct


def peer() -> tuple[Callable[[str], None], Judge] | None:
    """What parses a gold, and what judges with it; ``None`` where math-verify is not installed."""
    try:
        from math_verify import parse, verify
    except ImportError:
        return None
    golds: dict[str, list[object]] = {}

    def prepare(gold: str) -> None:
        golds.setdefault(gold, parse(f"${gold}$"))

    return prepare, lambda case: bool(verify(golds[case.gold], parse(case.text)))


def block(judge: Judge, cases: Sequence[Case], seconds: float) -> Block:
    """Judge cases in order until they, or the seconds, are used up."""
    done = wrong = 0
    start = time.process_time()
    spent = 0.0
    while done < len(cases) and spent < seconds:
        few = cases[done : done + max(1, done // 4)]
        wrong += sum(judge(case) is not case.right for case in few)
        done += len(few)
        spent = time.process_time() - start
    return Block(done, spent, wrong)


def compare(mix: str, rounds: int, seconds: float) -> dict[str, Any]:
    """One row of the table."""
    other = peer()
    rates: list[float] = []
    their_rates: list[float] = []
    mine: list[Block] = []
    theirs: list[Block] = []
    for number in range(rounds):
        cases = make(mix, 400 if mix.startswith("long") else 4000, seed=number + 1)
        for case in cases:
            lydite.verify(checker(case.gold), "")
        half = len(cases) // 2
        first = block(ours, cases[:half], seconds / 4)
        if other is not None:
            prepare, judge = other
            # as many golds as may be needed; parsing them is not timed
            few = cases[: 40 if mix.startswith("long") else 400]
            for case in few:
                prepare(case.gold)
            theirs.append(block(judge, few, seconds))
            their_rates.append(theirs[-1].verdicts / theirs[-1].seconds)
        second = block(ours, cases[half:], seconds / 4)
        mine += [first, second]
        rates.append((first.verdicts + second.verdicts) / (first.seconds + second.seconds))
    row: dict[str, Any] = {
        "mix": mix,
        "per_second": round(statistics.median(rates)),
        "wrong": f"{sum(one.wrong for one in mine)}/{sum(one.verdicts for one in mine)}",
    }
    if theirs:
        ratios = sorted(rate / their for rate, their in zip(rates, their_rates, strict=True))
        row |= {
            "math_verify": round(statistics.median(their_rates), 1),
            "its_wrong": f"{sum(one.wrong for one in theirs)}/{sum(one.verdicts for one in theirs)}",
            "ratio": round(statistics.median(ratios), 1),
            "lowest": round(ratios[0], 1),
            "highest": round(ratios[-1], 1),
        }
    return row


def degenerate() -> list[dict[str, Any]]:
    """Milliseconds per megabyte: the text alone and before an answer, both policies; the slowest of the four."""
    rows = []
    for piece, name in DEGENERATE.items():
        body = (piece * (MEGABYTE // len(piece) + 1))[:MEGABYTE]
        times = []
        for text in (body, body + "\nThe answer is \\boxed{7}."):
            for policy in ("lenient", "strict"):
                lydite.verify(checker("7", policy), "")
                start = time.process_time()
                lydite.verify(checker("7", policy), text)
                times.append(time.process_time() - start)
        rows.append({"text": name, "piece": piece[:30], "ms": round(max(times) * 1000, 1)})
    return rows


def slowest(cases: Path) -> dict[str, Any] | None:
    """The slowest single verdict of a file of labelled cases, wall time, processes at the side included."""
    if not cases.is_file():
        return None
    lydite.verify(checker("\\sin^2 x"), "\\boxed{1-\\cos^2 x}")
    times = []
    for line in cases.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        start = time.perf_counter()
        lydite.verify(checker(case["gold"]), case["completion"])
        times.append((time.perf_counter() - start, case["id"]))
    times.sort(reverse=True)
    return {"cases": len(times), "slowest": [{"id": name, "ms": round(1000 * one, 1)} for one, name in times[:3]]}


def _table(rows: list[dict[str, Any]]) -> str:
    columns = list(rows[0])
    cells = [columns, *([str(row.get(column, "")) for column in columns] for row in rows)]
    widths = [max(len(line[index]) for line in cells) for index in range(len(columns))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)


def main() -> None:
    """Run all of it and print tables, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5, help="blocks of each side per mix")
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds of a block of math-verify")
    parser.add_argument("--mix", action="append", choices=[*MIXES, *MORE], help="this mix alone; may be repeated")
    parser.add_argument("--cases", type=Path, default=Path(__file__).parents[2] / "shared" / "cases" / "math.jsonl")
    options = parser.parse_args()
    rows = [compare(mix, options.rounds, options.seconds) for mix in options.mix or MIXES]
    bad = [] if options.mix else degenerate()
    slow = None if options.mix else slowest(options.cases)
    if options.json:
        print(json.dumps({"mixes": rows, "degenerate": bad, "slowest": slow}))
        return
    print(_table(rows))
    if bad:
        print("\ndegenerate texts of 1 MB")
        print(_table(bad))
    if slow:
        print(f"\nslowest of {slow['cases']} labelled cases: {slow['slowest']}")


if __name__ == "__main__":
    main()
