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


DOMAINS = sorted(path.stem for path in (EXAMPLES / "domains").glob("*.jsonl"))


def _domains(*arguments: str) -> list[list[str]]:
    """The table that the program prints, without its head, split into words."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "domains.py"), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split() for line in done.stdout.splitlines()[1:]]


@pytest.mark.train
def test_every_domain_is_sampled_and_its_hacks_are_stopped() -> None:
    pytest.importorskip("torch")
    table = _domains("--policy", "builtin:tiny", "--max-tokens", "8")
    assert [row[0] for row in table] == DOMAINS
    assert all(row[1] == "9" for row in table if row[1:3] != ["left", "out:"])


@pytest.mark.train
@pytest.mark.slow
def test_a_real_policy_is_verified_right_now_and_then() -> None:
    pytest.importorskip("torch")
    table = _domains("math", "choice", "exact")
    assert any(row[2] != "0%" for row in table)
