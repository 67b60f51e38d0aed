"""The example of a checker that can be gamed, and of one that cannot."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lydite.ledger import verify_run
from lydite.sandbox import Snapshot
from lydite.tasksets import load_tasks
from lydite.verifiers import verify

pytest.importorskip("trl")
pytestmark = [pytest.mark.train, pytest.mark.skipif(sys.platform != "linux", reason="workspaces are Linux only")]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import gameable

    yield gameable
    sys.modules.pop("gameable", None)


def test_garbage_satisfies_the_one_and_not_the_other(example: Any, tmp_path: Path) -> None:
    example.write(tmp_path, 40)
    open_to_it, sound = load_tasks(tmp_path / "gameable.jsonl"), load_tasks(tmp_path / "sound.jsonl")
    assert [task.prompt for task in open_to_it] == [task.prompt for task in sound]
    at = next(number for number, task in enumerate(sound) if task.metadata["kind"] == "count")
    left = tmp_path / "left"
    left.mkdir()
    for name, text in sound[at].setup_files.items():
        (left / name).write_text(text)
    number = len(text.splitlines())
    out = left / example.output(sound[at])
    out.write_text("garbage")
    state = Snapshot.from_directory(left)
    assert verify(open_to_it[at], "", state=state).correct
    assert not verify(sound[at], "", state=state).correct
    out.write_text(f"{number}\n")
    assert verify(sound[at], "", state=Snapshot.from_directory(left)).correct


@pytest.mark.slow
def test_the_whole_example_in_a_few_steps(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "gameable.py"), "--smoke", "-o", str(tmp_path)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"^(?:gameable|sound) .*%", done.stdout, re.MULTILINE)) == 6
    for name in ("gameable", "sound"):
        assert verify_run(tmp_path / name).problem is None
