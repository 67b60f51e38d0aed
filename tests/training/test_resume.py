"""Runs that are stopped or killed, and go on: nothing lost, nothing doubled, the same weights in the end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from lydite.ledger import RunFolder, verify_run

pytest.importorskip("trl")
pytestmark = [pytest.mark.train, pytest.mark.slow]

STEPS = 24


@pytest.fixture
def recipe(document: dict[str, Any], tmp_path: Path) -> Path:
    document["stages"][0] |= {"steps": STEPS, "save_every": 3}
    document["stages"].insert(0, {"kind": "sft", "from": "solutions", "steps": 2, "learning_rate": 1e-3})
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


def command(*arguments: Any) -> list[str]:
    return [sys.executable, "-m", "lydite", "train", *map(str, arguments)]


def steps(run: Path) -> list[int]:
    path = run / "metrics.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [values["step"] for line in lines if (values := json.loads(line))["kind"] == "grpo"]


def stop_at(recipe: Path, run: Path, step: int, number: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Start a run, and send a signal once it has done that many steps."""
    with subprocess.Popen(
        command(recipe, "-o", run), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 500
        while len(steps(run)) < step:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        out, error = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, error)


def adapter(run: Path) -> bytes:
    return (run / "adapter" / "adapter_model.safetensors").read_bytes()


def test_interrupted_and_resumed_gives_the_weights_of_an_uninterrupted_run(recipe: Path, tmp_path: Path) -> None:
    subprocess.run(command(recipe, "-o", tmp_path / "whole"), check=True, capture_output=True)

    run = tmp_path / "stopped"
    done = stop_at(recipe, run, 5, signal.SIGINT)
    assert done.returncode == 3
    assert f"lydite train {run} --resume" in done.stderr
    reached = max(steps(run))
    assert reached < STEPS
    assert verify_run(run).problem is None
    subprocess.run(command(run, "--resume"), check=True, capture_output=True)
    assert steps(run) == list(range(1, STEPS + 1))  # no step was repeated
    assert adapter(run) == adapter(tmp_path / "whole")

    run = tmp_path / "killed"
    done = stop_at(recipe, run, 8, signal.SIGKILL)
    assert done.returncode == -signal.SIGKILL
    subprocess.run(command(recipe, "-o", run, "--resume"), check=True, capture_output=True)
    assert verify_run(run).problem is None
    assert sorted(set(steps(run))) == list(range(1, STEPS + 1))
    assert adapter(run) == adapter(tmp_path / "whole")
    with RunFolder.open(run) as folder:
        rows = list(folder.rows())
    assert max(Counter(row.rollout.id for row in rows).values()) == 1
    trained = Counter(row.rollout.phase for row in rows if row.rollout.phase.startswith("train-1-"))
    assert set(trained.values()) == {16}
    assert {phase.partition(".")[0] for phase in trained} == {f"train-1-{step}" for step in range(1, STEPS + 1)}
