"""Attacks on checkers of short answers: sound ones hold, gameable ones do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lydite.probes import Finding, Level, probe
from lydite.tasksets import load_tasks, parse_task

DOMAINS = Path(__file__).resolve().parents[2] / "examples" / "domains"


HERE = ("oracle_max", "floor_gap", "canary_floor", "adversarial_floor", "no_solution_leakage", "verifier_determinism")
"""All but what another process has to say, which takes its time to start."""


def found(*documents: dict[str, Any], only: tuple[str, ...] = HERE) -> list[Finding]:
    tasks = [parse_task({"id": f"t{index}", **document}) for index, document in enumerate(documents)]
    return [finding for done in probe(tasks, only=only, jobs=2) for finding in done.findings]


def through(findings: list[Finding]) -> set[str]:
    return {finding.kind for finding in findings if finding.level is Level.FAILED}


@pytest.mark.parametrize("domain", ["math", "choice", "exact", "gate"])
def test_nothing_gets_through_a_sound_checker(domain: str) -> None:
    tasks = load_tasks(DOMAINS / f"{domain}.jsonl")
    findings = [finding for done in probe(tasks, only=HERE, jobs=2) for finding in done.findings]
    assert len(findings) > 30
    assert not [finding for finding in findings if finding.level is not Level.PASSED]


@pytest.mark.parametrize(
    "checker",
    [
        {"type": "math", "config": {"answer": "42"}},
        {"type": "math", "config": {"answer": "0"}},
        {"type": "exact", "config": {"answer": "yes"}},
        {"type": "choice", "config": {"answer": "B", "choices": ["1", "2"]}},
    ],
)
def test_a_guess_that_happens_to_be_right_is_no_hole(checker: dict[str, Any]) -> None:
    findings = found({"prompt": "What is it?", "checker": checker})
    assert not through(findings)
    assert "happens to be right" in {finding.told for finding in findings}


@pytest.mark.parametrize(
    ("prompt", "kind", "config"),
    [
        ("Which are even?", "choice", {"answer": ["A", "C"], "choices": ["2", "3", "4"]}),
        ("Yes or no?", "exact", {"answer": ["yes", "no"]}),
        ("Roots of (x - 1)(x - 2)?", "math", {"answer": r"\{1, 2\}"}),
        ("Repeat 3 1 2.", "exact", {"answer": "3 1 2"}),
        ("About how much?", "math", {"answer": "1000", "tolerance": 0.1}),
        ("When is it negative?", "math", {"answer": "-1<x<2"}),
        ("How many tests passed?", "math", {"answer": "1"}),
    ],
)
def test_what_looks_wrong_and_may_be_right_is_no_hole(prompt: str, kind: str, config: dict[str, Any]) -> None:
    assert not through(found({"prompt": prompt, "checker": {"type": kind, "config": config}}))


def test_a_choice_of_one_is_guessed() -> None:
    checker = {"type": "choice", "config": {"answer": "A", "choices": ["4"]}}
    assert "random_choice" in through(found({"prompt": "What is 2 + 2?", "checker": checker}))


OWN = """
def contained(submission, config):
    return config["answer"] in submission.text

def evaluated(submission, config):
    try:
        return eval(submission.text) == config["answer"]
    except Exception:
        return 0.0

def near(submission, config):
    try:
        return not abs(float(submission.text) - config["answer"]) > 0.01
    except ValueError:
        return 0.0

def sound(submission, config):
    return submission.text.strip() == config["answer"]
"""


@pytest.mark.parametrize(
    ("name", "answer", "expected"),
    [
        ("contained", "42", {"every_number", "denied", "contradiction"}),
        ("evaluated", 42, {"evaluated"}),
        ("near", 42.0, {"not_a_number"}),
        ("sound", "42", set()),
    ],
)
def test_checkers_of_a_users_own(tmp_path: Path, name: str, answer: Any, expected: set[str]) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    checker = {"type": f"{path}:{name}", "config": {"answer": answer}}
    got = through(found({"prompt": "What is 6 * 7?", "checker": checker, "solution": "42"}))
    assert got >= expected
    assert bool(got) is bool(expected)


def test_a_reference_that_does_not_score_is_told() -> None:
    checker = {"type": "math", "config": {"answer": "7"}}
    assert through(found({"prompt": "3 + 4?", "checker": checker, "solution": "8"})) == {"reference"}


def test_without_a_solution_the_check_is_not_made() -> None:
    findings = found({"prompt": "3 + 4?", "checker": {"type": "math", "config": {"answer": "7"}}}, only=("oracle_max",))
    assert [finding.level for finding in findings] == [Level.NOT_MADE]


def test_a_checker_that_changes_its_mind_is_told(tmp_path: Path) -> None:
    path = tmp_path / "moody.py"
    path.write_text(
        "count = 0\n\ndef check(submission, config):\n    global count\n    count += 1\n    return count % 2\n"
    )
    findings = found({"prompt": "x", "checker": {"type": f"{path}:check"}, "solution": "x"})
    told = {finding.check for finding in findings if finding.level is Level.FAILED}
    assert "semantic.verifier_determinism" in told
