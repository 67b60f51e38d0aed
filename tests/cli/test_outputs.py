"""What a command writes is never what it reads, nor a part of a run; a full or closed standard output is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lydite.cli import main

TASK = {"id": "t", "prompt": "2 + 2?", "checker": {"type": "math", "config": {"answer": "4"}}, "solution": "4"}


def lydite(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    return int(left.value.code or 0)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "t.jsonl").write_text(json.dumps(TASK) + "\n")
    (tmp_path / "said.jsonl").write_text(json.dumps({"prompt": "2 + 2?", "completion": "\\boxed{4}"}))
    policy = f"replay:{tmp_path / 'said.jsonl'}"
    assert lydite("sample", tmp_path / "t.jsonl", "--policy", policy, "-n", 1, "-o", tmp_path / "run") == 0
    return tmp_path / "run"


COMMANDS: list[list[Any]] = [
    ["ledger", "prove", "RUN", "sample/t/0", "-o", "RUN/ledger.jsonl"],
    ["ledger", "prove", "RUN", "sample/t/0", "-o", "RUN/rollouts.jsonl"],
    ["export", "preferences", "RUN", "-o", "RUN/ledger.jsonl"],
    ["export", "sft", "RUN", "--phase", "sample", "-o", "RUN/rollouts.jsonl"],
    ["export", "kto", "RUN", "--phase", "sample", "-o", "RUN/run.json"],
    ["tasks", "tier", "RUN", "--take", "too_easy", "-o", "RUN/tasks.jsonl"],
    ["tasks", "generate", "arithmetic", "--levels", "1", "-n", "1", "-o", "RUN/tasks.jsonl"],
    ["tasks", "convert", "TASKS", "-o", "TASKS"],
    ["probes", "twins", "TASKS", "-o", "TASKS"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:3]))
def test_nothing_that_is_needed_is_written_over(command: list[str], run: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in [*run.iterdir(), tmp_path / "t.jsonl"] if path.is_file()}
    words = [word.replace("RUN", str(run)).replace("TASKS", str(tmp_path / "t.jsonl")) for word in command]
    assert lydite(*words) == 2
    assert {path: path.read_bytes() for path in before} == before


def test_a_key_is_not_written_over_by_its_proof(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    key = tmp_path / "key"
    assert lydite("ledger", "keygen", "-o", key) == 0
    before = key.read_bytes()
    assert lydite("ledger", "prove", run, "sample/t/0", "--key", key, "-o", key) == 2
    assert key.read_bytes() == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("command", [["verifiers", "list"], ["ledger", "verify", "RUN", "--json"], ["show", "RUN"]])
def test_a_full_standard_output_is_told(command: list[str], run: Path) -> None:
    words = [word.replace("RUN", str(run)) for word in command]
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "lydite", *words], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 3
    assert "standard output cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_json_for_nobody_is_refused(run: Path) -> None:
    command = f"exec '{sys.executable}' -m lydite ledger verify '{run}' --json >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert "standard output is closed" in done.stderr


def test_a_folder_in_place_of_a_file_is_named(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "metrics.jsonl").unlink(missing_ok=True)
    (run / "metrics.jsonl").mkdir()
    assert lydite("report", run) == 2
    assert "metrics.jsonl" in capsys.readouterr().err
