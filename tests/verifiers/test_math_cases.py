from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lydite.verdict import Outcome
from lydite.verifiers import verify

FILES = ("math_cases.txt", "math_kinds.txt", "math_extraction.txt")


def own_cases() -> Iterator[tuple[str, str, str, bool]]:
    kind = ""
    for name in FILES:
        for line in (Path(__file__).parent / name).read_text().split("\n"):
            if line.startswith("## "):
                kind = line[3:]
            elif line and not line.startswith("#"):
                gold, answer, expected = line.rsplit(" ; ", 2) if line.count(" ; ") > 2 else line.split(" ; ")
                yield kind, gold, answer, expected.strip() == "T"


def completion(answer: str) -> str:
    if answer.startswith(">"):
        return answer[1:].replace("\\n", "\n")
    return f"Adding everything up we get $\\boxed{{{answer}}}$."


@pytest.mark.parametrize("kind", sorted({case[0] for case in own_cases()}))
def test_own_cases(kind: str) -> None:
    wrong = [
        (gold, answer, expected, verdict.reason)
        for case_kind, gold, answer, expected in own_cases()
        if case_kind == kind
        for verdict in [verify({"type": "math", "config": {"answer": gold}}, completion(answer))]
        if verdict.correct is not expected or verdict.outcome is Outcome.INVALID
    ]
    assert wrong == []


def test_labelled_cases(shared: Path) -> None:
    false_negatives, false_positives, invalid = [], [], []
    for line in (shared / "cases" / "math.jsonl").read_text().splitlines():
        case = json.loads(line)
        verdict = verify({"type": "math", "config": {"answer": case["gold"]}}, case["completion"], case.get("prompt"))
        if verdict.outcome is Outcome.INVALID:
            invalid.append(case["id"])
        elif verdict.correct and not case["expected"]:
            false_positives.append(case["id"])
        elif case["expected"] and not verdict.correct:
            false_negatives.append(case["id"])
    assert invalid == []
    assert false_positives == []
    assert len(false_negatives) <= 3, false_negatives


def test_every_gsm8k_gold_equals_itself(shared: Path) -> None:
    for name in ("gsm8k_train.jsonl", "gsm8k_test.jsonl"):
        for line in (shared / "data" / name).read_text().splitlines():
            answer = json.loads(line)["answer"]
            gold = answer.rpartition("####")[2].strip()
            assert verify({"type": "math", "config": {"answer": gold}}, answer).correct, gold
            assert verify({"type": "math", "config": {"answer": gold}}, f"\\boxed{{{gold}}}").correct, gold


def test_solutions_of_gsm8k_without_their_markers(shared: Path) -> None:
    """A number in prose is found where people put it, in their words."""
    wrong: list[str] = []
    for line in (shared / "data" / "gsm8k_test.jsonl").read_text().splitlines():
        worked, _, gold = json.loads(line)["answer"].rpartition("####")
        prose = re.sub(r"<<[^>]*>>", "", worked).strip()
        if not verify({"type": "math", "config": {"answer": gold.strip()}}, prose).correct:
            wrong.append(prose[-120:])
    assert len(wrong) < 20, wrong
