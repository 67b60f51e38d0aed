"""The example that learns to work with files, in its short form, and killed on the way."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lydite.ledger import RunFolder, verify_run

pytest.importorskip("trl")
pytestmark = [pytest.mark.train, pytest.mark.skipif(sys.platform != "linux", reason="workspaces are Linux only")]

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "files_loop.py"


ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}
"""More of them only get in each other's way at this size."""


def command(out: Path) -> list[str]:
    return [sys.executable, str(EXAMPLE), "--smoke", "-o", str(out)]


def children(pid: int) -> set[int]:
    """Every process below another."""
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            parents[int(name)] = int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def started(pids: set[int]) -> dict[int, str]:
    """When each of these processes was started, for those that are there: numbers are used again."""
    times: dict[int, str] = {}
    for pid in pids:
        try:
            times[pid] = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        except (OSError, IndexError):
            continue
    return times


def test_the_whole_example_in_a_few_steps(tmp_path: Path) -> None:
    done = subprocess.run(command(tmp_path / "run"), env=ONE_THREAD, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rates = [float(rate) for rate in re.findall(r"pass@1 ([\d.]+)%", done.stdout)]
    assert len(rates) == 3
    assert all(0 <= rate <= 100 for rate in rates)
    with RunFolder.open(tmp_path / "run") as run:
        rows = list(run.rows())
        assert run.info.notes["demonstrations-0"]["left_out"] == {}
    assert verify_run(tmp_path / "run").problem is None
    phases = {row.rollout.phase for row in rows}
    assert phases == {"before", "after-0", "train-1-1", "train-1-2", "after"}
    assert {row.rollout.env for row in rows} == {"workspace@2"}
    assert not [row for row in rows if row.record.verdict.outcome == "invalid"]
    metrics = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    wanted = {"rewards/workspace/mean", "rewards/workspace/std", "tools/call_frequency", "tools/malformed_rate"}
    assert wanted | {"sandbox/call_seconds", "sandbox/check_seconds", "invalid_rate"} <= set(metrics[-1])
    assert "After stage 0 (sft)" in (tmp_path / "run" / "model" / "README.md").read_text()


def test_killed_at_work_it_leaves_no_process_and_goes_on(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with subprocess.Popen(
        command(run), env=ONE_THREAD, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 300
        metrics = run / "metrics.jsonl"
        while not (metrics.exists() and '"kind":"grpo"' in metrics.read_text().replace(" ", "")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        below = started(children(process.pid))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert below  # there were workspaces
    deadline = time.monotonic() + 20
    while left := {pid for pid, when in started(set(below)).items() if when == below[pid]}:
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
    done = subprocess.run(command(run), env=ONE_THREAD, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert verify_run(run).problem is None
