"""A disk that is full, and files that cannot grow: a clear stop, nothing torn, and a run that goes on afterwards."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from ledger_making import SETTINGS, TASKS, grades

from lydite.errors import StorageError
from lydite.ledger import RunFolder, verify_run

CHILD = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from ledger_making import SETTINGS, TASKS, grades
from lydite.errors import StorageError
from lydite.ledger import RunFolder

run = RunFolder.create(sys.argv[1], kind="sample", settings=SETTINGS, tasks=TASKS)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
acknowledged = 0
try:
    while True:
        run.append(grades(phase=f"p{acknowledged}"))
        acknowledged += 1
except StorageError as error:
    print(acknowledged, error.exit_code, error, flush=True)
try:
    run.append(grades(phase="late"))
except StorageError:
    print("closed")
run.close()
"""


@pytest.mark.parametrize("limit", [9_000, 20_011])
def test_a_file_that_cannot_grow_stops_the_run_cleanly_and_it_resumes(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), str(Path(__file__).parent), str(limit)],
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = done.stdout.splitlines()
    acknowledged, exit_code, message = first.split(" ", 2)
    assert second == "closed"
    assert exit_code == "3"
    assert "ledger.jsonl" in message
    assert "run the same command again" in message
    assert (path / "ledger.jsonl").read_bytes().endswith(b"\n")
    found = verify_run(path)
    assert found.problem is None
    assert found.records == 8 * int(acknowledged)
    with RunFolder.create(path, kind="sample", settings=SETTINGS, tasks=TASKS) as run:
        waiting = list(run.unrecorded())
        assert [rollout.phase for rollout in waiting] == [f"p{acknowledged}"] * 8
        run.seal(grades(phase=f"p{acknowledged}"))
        run.append(grades(phase="late"))
        run.finish()
    assert verify_run(path).problem is None


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_write_that_fails_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    path = tmp_path / "run"
    run = RunFolder.create(path, kind="sample", settings=SETTINGS, tasks=TASKS)
    run.append(grades(phase="one"))
    real, left = getattr(os, call), [1]

    def failing(descriptor: int, *rest: memoryview) -> int:
        if left[0] == 0:
            left[0] = -1
            if rest:
                real(descriptor, rest[0][:100])
            raise OSError(code, os.strerror(code))
        left[0] -= 1
        return int(real(descriptor, *rest) or 0)

    monkeypatch.setattr(os, call, failing)
    with pytest.raises(StorageError, match=r"ledger\.jsonl"):
        run.append(grades(phase="two"))
    monkeypatch.undo()
    run.close()
    found = verify_run(path)
    assert (found.problem, found.records, found.unrecorded, found.torn) == (None, 8, 8, ())


def test_a_folder_that_cannot_be_made_is_a_storage_error() -> None:
    with pytest.raises(StorageError, match="/proc"):
        RunFolder.create("/proc/no/such/run", kind="sample", settings=SETTINGS, tasks=TASKS)


def test_a_failing_last_note_does_not_lose_records(tmp_path: Path) -> None:
    path = tmp_path / "run"
    run = RunFolder.create(path, kind="sample", settings=SETTINGS, tasks=TASKS)
    run.append(grades())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(StorageError, match=r"run\.json"):
            run.finish()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    run.close()
    found = verify_run(path)
    assert (found.problem, found.records) == (None, 8)
