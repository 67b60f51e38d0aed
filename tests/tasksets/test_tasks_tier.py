"""``lydite tasks tier``: which tasks of a run are too hard, in the band, too easy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lydite.errors import InputError
from lydite.evaluation.tiers import Tier, tiers
from lydite.ledger import RunFolder
from lydite.tasksets import load_tasks

RIGHT = {"never": 0, "half": 10, "edge": 18, "always": 20}
"""Task: how many of 20 attempts are right."""


def lydite(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from lydite.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiers")
    with open(folder / "tasks.jsonl", "w") as tasks, open(folder / "answers.jsonl", "w") as answers:
        for name, right in RIGHT.items():
            checker = {"type": "math", "config": {"answer": "4"}}
            tasks.write(json.dumps({"id": name, "prompt": f"{name}?", "checker": checker}) + "\n")
            for number in range(20):
                said = "\\boxed{4}" if number < right else "\\boxed{5}"
                answers.write(json.dumps({"prompt": f"{name}?", "completion": said}) + "\n")
    done = lydite(
        "sample", folder / "tasks.jsonl", "--policy", f"replay:{folder / 'answers.jsonl'}", "-n", "20",
        "-o", folder / "run",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "run"


def found(run: Path, **how: Any) -> dict[str, tuple[Tier, bool]]:
    return {one.task: (one.tier, one.certain) for one in tiers(RunFolder.open(run), **how)}


def test_tiers_go_by_the_rate_and_intervals_say_how_sure_it_is(run: Path) -> None:
    assert found(run) == {
        "never": (Tier.TOO_HARD, False),  # 0 of 20: up to 16 %
        "half": (Tier.IN_BAND, True),
        "edge": (Tier.IN_BAND, False),
        "always": (Tier.TOO_EASY, False),
    }
    assert found(run, low=0.2, high=0.8)["never"] == (Tier.TOO_HARD, True)
    assert found(run, high=0.85)["edge"] == (Tier.TOO_EASY, False)


def test_only_the_latest_attempts_count_where_that_is_asked(run: Path) -> None:
    assert found(run, last=2)["edge"] == (Tier.TOO_HARD, False)


def test_parts_that_are_not_there_are_told(run: Path) -> None:
    with pytest.raises(InputError, match="it has sample"):
        found(run, phases=["train-0"])
    with pytest.raises(InputError, match="there is no band"):
        found(run, low=0.9, high=0.1)


def test_the_command_tells_and_writes_a_selection_of_tasks(run: Path, tmp_path: Path) -> None:
    done = lydite("tasks", "tier", run, "--json", "-o", tmp_path / "band.jsonl")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["tiers"] == {"too_hard": 1, "in_band": 2, "too_easy": 1, "unknown": 0}
    half = next(one for one in told["tasks"] if one["task"] == "half")
    assert (half["rate"], half["tier"], half["certain"]) == (0.5, "in_band", True)
    assert half["interval"]["low"] == pytest.approx(0.299, abs=0.001)
    originals = {task.id: task.digest for task in RunFolder.open(run).tasks()}
    chosen = load_tasks(tmp_path / "band.jsonl")
    assert {task.id: task.digest for task in chosen} == {name: originals[name] for name in ("half", "edge")}

    done = lydite("tasks", "tier", run, "--take", "unknown", "-o", tmp_path / "none.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no task is unknown" in done.stderr
    assert not (tmp_path / "none.jsonl").exists()
    assert lydite("tasks", "tier", run, "--take", "easy").returncode == 2
    assert "half" in lydite("tasks", "tier", run).stderr


def test_verdicts_of_a_rescoring_can_be_taken(run: Path) -> None:
    assert lydite("tasks", "tier", run, "--verdicts", "strict").returncode == 2  # there is none yet
    checker = json.dumps({"type": "math", "config": {"answer": "5"}})
    assert lydite("ledger", "rescore", run, "--checker", checker, "--name", "five").returncode == 0
    other = json.loads(lydite("tasks", "tier", run, "--verdicts", "five", "--json").stdout)
    rates = {one["task"]: one["correct"] for one in other["tasks"]}
    assert rates == {name: 20 - right for name, right in RIGHT.items()}
