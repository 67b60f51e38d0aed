"""What episodes left behind is evidence: whoever touches it is found out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lydite.errors import InputError
from lydite.ledger import RunFolder, states
from lydite.ledger.audit import audit
from lydite.ledger.replay import Match, replay
from lydite.rollout import Message, Rollout
from lydite.sampling import Judge
from lydite.sandbox import Snapshot
from lydite.tasksets import parse_task

STATES = [Snapshot.from_files({"a.txt": b"one"}), Snapshot.from_files({"b/c.txt": b"two" * 1000})]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    document = {"id": "t", "prompt": "x", "checker": {"type": "file_exists", "config": {"paths": ["a.txt"]}}}
    task, judge = parse_task(document), Judge()
    with RunFolder.create(tmp_path / "run", kind="sample", settings={}, tasks=[task]) as folder:
        for index, state in enumerate(STATES):
            said = (Message(role="assistant", content='{"workspace":"elsewhere"}'),)
            rollout = Rollout(
                id=f"sample/t/{index}", task="t", task_digest=task.digest, index=index, prompt=task.prompt,
                completion=said, env="workspace@1", workspace=folder.keep(state),
            )  # fmt: skip
            folder.append([judge.judge(rollout, task, state)])
        folder.finish()
    return tmp_path / "run"


def problem(run: Path) -> str | None:
    found = audit(run, RunFolder.open(run).info).problem
    return None if found is None else str(found)


def test_what_was_left_behind_is_judged_kept_and_judged_again(run: Path) -> None:
    assert problem(run) is None
    rows = list(RunFolder.open(run).rows())
    assert [row.record.verdict.outcome for row in rows] == ["correct", "incorrect"]
    assert [RunFolder.open(run).state(row.rollout.workspace) for row in rows] == STATES
    assert [item.match for item in replay(RunFolder.open(run))] == [Match.SAME, Match.SAME]


def _flip(path: Path, run: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


DAMAGE: dict[str, Callable[[Path, Path], object]] = {
    "a bit": _flip,
    "removed": lambda path, run: path.unlink(),
    "emptied": lambda path, run: path.write_bytes(b""),
    "cut": lambda path, run: path.write_bytes(path.read_bytes()[:-3]),
    "added to": lambda path, run: path.write_bytes(path.read_bytes() + b"x"),
    "another": lambda path, run: path.write_bytes((run / states.FOLDER / STATES[1].digest).read_bytes()),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_named(run: Path, kind: str) -> None:
    DAMAGE[kind](run / states.FOLDER / STATES[0].digest, run)
    assert STATES[0].digest in str(problem(run))
    assert [item.match for item in replay(RunFolder.open(run))] == [Match.DIFFERS, Match.SAME]


def test_the_whole_folder_removed(run: Path) -> None:
    for path in (run / states.FOLDER).iterdir():
        path.unlink()
    (run / states.FOLDER).rmdir()
    assert "is missing" in str(problem(run))


def test_a_state_that_no_sample_names(run: Path) -> None:
    (run / states.FOLDER / ("0" * 64)).write_bytes(b"")
    assert "no sample names it" in str(problem(run))


@pytest.mark.parametrize("name", ["", "../run.json", "0" * 63, "/" * 64, "." * 64])
def test_what_is_no_digest_is_not_looked_for(run: Path, name: str) -> None:
    with pytest.raises(InputError):
        states.read(run, name)
