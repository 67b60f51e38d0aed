"""Killed at any of its writes, a run loses nothing that was acknowledged, doubles nothing, and goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DRIVER = Path(__file__).with_name("crash_driver.py")


def drive(folder: Path, *words: str) -> int:
    """Run the driver; the number of boundaries that it found. Its faults are the failure."""
    path = os.pathsep.join([str(DRIVER.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(DRIVER), words[0], words[1], str(folder), *words[2:]],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *faults, last = done.stdout.splitlines()
    assert not faults, "\n".join(faults[:20])
    return int(json.loads(last)["boundaries"])


@pytest.mark.parametrize("scenario", ["sample", "rescore"])
def test_killed_before_each_change_of_the_disk_and_again_while_it_resumes(tmp_path: Path, scenario: str) -> None:
    assert drive(tmp_path, scenario, "before") > 50


@pytest.mark.parametrize("scenario", ["sample", "rescore"])
def test_killed_in_the_middle_of_each_write_and_again_while_it_resumes(tmp_path: Path, scenario: str) -> None:
    assert drive(tmp_path, scenario, "torn") > 10


@pytest.mark.battery
@pytest.mark.parametrize("scenario", ["sample", "rescore"])
@pytest.mark.parametrize("how", ["before", "torn"])
def test_every_pair_of_kills(tmp_path: Path, scenario: str, how: str) -> None:
    drive(tmp_path, scenario, how, "1" if how == "torn" else "2")
