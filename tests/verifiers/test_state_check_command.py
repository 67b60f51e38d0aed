"""``lydite tasks check``: what a task's checker says of a folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lydite.cli import main

TASK: dict[str, Any] = {
    "id": "one",
    "prompt": "Write a.py in which one is 1.",
    "setup_files": {"tests/test_a.py": "from a import one\n\ndef test_one():\n    assert one == 1\n"},
    "checker": {"type": "pytest", "config": {"test_paths": ["tests"]}},
}


def run(folder: Path, *tasks: dict[str, Any], more: tuple[str, ...] = ()) -> int:
    path = folder.parent / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks or (TASK,)))
    try:
        return main(["tasks", "check", str(path), "--workspace", str(folder), *more])
    except SystemExit as leaving:
        return int(leaving.code or 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "left").mkdir()
    return tmp_path / "left"


def contents(folder: Path) -> list[tuple[str, bytes, int]]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [(str(path), path.read_bytes(), os.stat(path).st_mtime_ns) for path in files]


def test_correct(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text("one = 1\n")
    assert run(folder, more=("--json",)) == 0
    said = json.loads(capsys.readouterr().out)
    assert {name: said[name] for name in ("outcome", "score", "reason", "flags")} == {
        "outcome": "correct",
        "score": 1.0,
        "reason": "correct",
        "flags": [],
    }
    assert said["parts"] == [{"name": "tests/test_a.py::test_one", "score": 1.0, "reason": "passed"}]


def test_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text("one = 2\n")
    assert run(folder) == 1
    said = capsys.readouterr().out
    assert said.splitlines()[0] == "incorrect (failed, score 0)"
    assert "assert 2 == 1" in said


def test_the_folder_is_never_changed_and_nothing_of_it_runs_outside(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    cheat = f"open({str(outside)!r}, 'w').write('ran')\n"
    for name in ("a.py", "conftest.py", "sitecustomize.py", "tests/conftest.py", "tests/test_a.py", "json.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"import os\n{cheat}os.remove('tests/test_a.py')\n")
    before = contents(folder)
    assert run(folder) == 1
    assert contents(folder) == before
    assert not outside.exists()


def test_one_of_several_tasks(folder: Path) -> None:
    other = {"id": "two", "prompt": "Write b.", "checker": {"type": "file_exists", "config": {"paths": ["b"]}}}
    (folder / "b").touch()
    assert run(folder, TASK, other) == 2
    assert run(folder, TASK, other, more=("--id", "two")) == 0
    assert run(folder, TASK, other, more=("--id", "three")) == 2


def test_what_cannot_be_used(folder: Path) -> None:
    assert run(folder / "missing") == 2
    broken = {**TASK, "checker": {"type": "pytest", "config": {"test_paths": ["other"]}}}
    assert run(folder, broken) == 2


def test_a_terminal_is_not_driven_by_what_a_folder_holds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text("one = '\\x1b[2J'\n")
    assert run(folder) == 1
    told = capsys.readouterr()
    assert "\x1b[2J" not in told.out + told.err
