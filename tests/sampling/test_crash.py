"""Killed with SIGKILL at any write, a run goes on: no attempt is lost, none is doubled, and each comes out the same.

Every case forks a child that really samples and really dies: before a write, after half of one, before a sync, before a
rename. Then the folder is verified, resumed and compared with a run that was never disturbed.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sampling_making import lines, make_tasks, run_sample

from lydite.ledger import RunFolder, verify_run

TASKS = make_tasks(6)
CALLS = ("write", "fsync", "replace", "ftruncate")


def killed_at(boundary: int, how: str, work: Callable[[], Any]) -> bool:
    """Do the work in a forked child that kills itself at the n-th boundary; whether it was killed before the end."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _arm(boundary, how)
            work()
            status = 0
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    if os.WIFSIGNALED(ended):
        assert os.WTERMSIG(ended) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(ended) == 0
    return False


def _arm(boundary: int, how: str) -> None:
    left = [boundary]

    def wrap(name: str) -> None:
        real = getattr(os, name)

        def armed(*arguments: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                if name == "write" and how == "half":
                    real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments)

        setattr(os, name, armed)

    for name in CALLS:
        wrap(name)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    path = tmp_path_factory.mktemp("undisturbed") / "run"
    run_sample(path, TASKS)
    return lines(path)


def check_resumed(path: Path, undisturbed: list[bytes]) -> None:
    if (path / "run.json").exists():
        assert verify_run(path).problem is None
    run_sample(path, TASKS)
    found = verify_run(path)
    assert found.problem is None
    assert found.sealed
    assert (found.records, found.samples, found.state) == (18, 18, "complete")
    assert lines(path) == undisturbed
    rows = list(RunFolder.open(path).rows())
    assert len({row.rollout.id for row in rows}) == len(rows) == 18


@pytest.mark.parametrize("how", ["before", "half"])
def test_a_kill_at_every_boundary(tmp_path: Path, undisturbed: list[bytes], how: str) -> None:
    boundary = 0
    killed = True
    while killed:
        boundary += 1
        path = tmp_path / str(boundary)
        killed = killed_at(boundary, how, lambda path=path: run_sample(path, TASKS))
        check_resumed(path, undisturbed)
    assert boundary > 15  # creation, several group commits and the end were all hit


@pytest.mark.parametrize("how", ["before", "half"])
def test_a_kill_at_every_boundary_of_the_recovery(tmp_path: Path, undisturbed: list[bytes], how: str) -> None:
    boundary = 0
    killed = True
    while killed:
        boundary += 1
        path = tmp_path / str(boundary)
        # Two samples have no record, a third line of samples and a line of the ledger are torn.
        with RunFolder.create(path, kind="sample", settings={"n": 3}, tasks=TASKS):
            pass
        (path / "rollouts.jsonl").write_bytes(b"\n".join([*undisturbed[:2], undisturbed[2][:40]]))
        (path / "ledger.jsonl").write_bytes(b'{"seq":1,"prev":"')
        killed = killed_at(boundary, how, lambda path=path: run_sample(path, TASKS))
        check_resumed(path, undisturbed)
    assert boundary > 15


@pytest.mark.parametrize("seed", range(4))
def test_kills_again_and_again(tmp_path: Path, undisturbed: list[bytes], seed: int) -> None:
    dice, path, kills = random.Random(seed), tmp_path / "run", 0
    while killed_at(dice.randint(1, 16), dice.choice(["before", "half"]), lambda: run_sample(path, TASKS)):
        kills += 1
        if (path / "run.json").exists():
            assert verify_run(path).problem is None
    assert kills > 0
    check_resumed(path, undisturbed)
