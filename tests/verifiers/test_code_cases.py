"""Programs that claim to add: only those that do are correct, however the verifier is asked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lydite import verify
from lydite.verdict import Outcome

FOLDER = Path(__file__).parent / "code_cases"
PROGRAMS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.txt"))}
CHECKER = {
    "type": "code",
    "config": {
        "tests": [
            {"call": "add", "args": [1, 2], "expected": 3},
            {"call": "add", "args": [5, 6], "expected": 11},
            {"call": "add", "args": [-7, 1000], "expected": 993},
        ],
        "visible": [{"call": "add", "args": [1, 2], "expected": 3}],
        "timeout": 2,
        "memory_mb": 128,
    },
}
CONSTANTS = ["cheat_call_count", "cheat_call_count_in_files", "cheat_forged_record"]
"""These answer 3, which the first test asks for; claiming a value is no more than returning it."""


def fenced(program: str) -> str:
    return f"This adds:\n\n```python\n{program}\n```\n"


def test_there_are_cases() -> None:
    assert sum(name.startswith("cheat") for name in PROGRAMS) >= 30


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name.startswith("right")])
def test_a_right_program_is_correct(name: str) -> None:
    assert verify(CHECKER, fenced(PROGRAMS[name])).correct
    assert verify(CHECKER, PROGRAMS[name]).correct


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_guess_earns_only_what_it_hits(name: str) -> None:
    verdict = verify(CHECKER, fenced(PROGRAMS[name]))
    assert verdict.outcome is Outcome.PARTIAL
    assert [part.reason for part in verdict.parts if part.name != "t1 visible"].count("ok") == 0


@pytest.mark.parametrize(
    "name", [name for name in PROGRAMS if not name.startswith(("right", "cheat_table")) and name not in CONSTANTS]
)
def test_a_cheat_earns_nothing(name: str) -> None:
    verdict = verify(CHECKER, fenced(PROGRAMS[name]))
    assert verdict.outcome is Outcome.INCORRECT
    assert [part.reason for part in verdict.parts].count("ok") == 0


def test_a_table_of_examples_fails_the_hidden_test() -> None:
    verdict = verify(CHECKER, fenced(PROGRAMS["cheat_table_of_examples"]))
    assert (verdict.outcome, verdict.score) == (Outcome.PARTIAL, pytest.approx(2 / 3))
    assert verdict.detail == "visible 1 of 1, hidden 1 of 2"
    assert [(part.name, part.reason) for part in verdict.parts] == [("t1 visible", "ok"), ("t2", "ok"), ("t3", "wrong")]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("bomb_output", "output"), ("bomb_memory", "memory"), ("bomb_time", "timeout"), ("bomb_syntax", "error")],
)
def test_a_bomb_is_named(name: str, reason: str) -> None:
    verdict = verify(CHECKER, fenced(PROGRAMS[name]))
    assert (verdict.outcome, verdict.reason) == (Outcome.INCORRECT, reason)


def test_the_command_says_the_same(tmp_path: Path) -> None:
    names = [name for name in PROGRAMS if not name.startswith("bomb")]
    source = tmp_path / "in.jsonl"
    source.write_text(
        "".join(
            json.dumps({"id": name, "completion": fenced(PROGRAMS[name]), "checker": CHECKER}) + "\n" for name in names
        )
    )
    done = subprocess.run(
        [sys.executable, "-m", "lydite", "verify", str(source), "--jobs", "2"], capture_output=True, timeout=300
    )
    assert done.returncode == 0
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["id"] for row in rows] == names
    assert {row["id"] for row in rows if row["outcome"] == "correct"} == {n for n in names if n.startswith("right")}
    assert not [row["id"] for row in rows if row["outcome"] == "invalid"]


def test_programs_that_beat_other_graders_are_not_correct(shared: Path) -> None:
    folder = shared / "cases" / "attacks" / "protocol"
    said = {
        path.stem: [verify(CHECKER, text).outcome for text in (path.read_text(), fenced(path.read_text()))]
        for path in sorted(folder.glob("[pqz]*.py"))
    }
    assert len(said) > 10
    assert [name for name, outcomes in said.items() if Outcome.CORRECT in outcomes] == ["p01_honest_control"]
    assert not [name for name, outcomes in said.items() if Outcome.INVALID in outcomes]


def test_without_a_sandbox_the_command_leaves_with_2(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    row = {"completion": "4", "checker": {"type": "exact", "config": {"answer": "4"}}}
    source.write_text(json.dumps({"completion": "x", "checker": CHECKER}) + "\n" + json.dumps(row) + "\n")
    code = (
        "import sys\nfrom lydite.cli import main\nfrom lydite.errors import UnavailableError\n"
        "from lydite.verifiers.code import box\n"
        "def none(): raise UnavailableError('no back end works here')\n"
        "box.sandbox = none\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code, "verify", str(source)], capture_output=True, timeout=60)
    assert done.returncode == 2
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["outcome"], row["score"]) for row in rows] == [("invalid", None), ("correct", 1.0)]
    assert "no back end works here" in rows[0]["detail"]


def test_a_time_limit_of_the_command_ends_a_program_that_hangs(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    checker = {"type": "code", "config": {**CHECKER["config"], "timeout": 60}}  # type: ignore[dict-item]
    rows = [{"completion": fenced(PROGRAMS[name]), "checker": checker} for name in ("bomb_time", "right_plain")]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [sys.executable, "-m", "lydite", "verify", str(source), "--timeout", "6"]
    done = subprocess.run(command, capture_output=True, timeout=60)
    said = [(row["outcome"], row["reason"]) for row in map(json.loads, done.stdout.splitlines())]
    assert said == [("incorrect", "timeout"), ("correct", "correct")]
