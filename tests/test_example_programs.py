"""The examples run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.train
def test_the_reference_loop_runs_and_measures_before_and_after() -> None:
    pytest.importorskip("torch")
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "rl_loop.py"), "--steps", "2", "--held-out", "4"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rates = [float(rate) for rate in re.findall(r"pass@1 \w+: +([\d.]+)", done.stdout)]
    assert len(rates) == 2
    assert all(0 <= rate <= 1 for rate in rates)
    assert "step 2: reward" in done.stdout
