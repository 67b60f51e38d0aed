from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lydite.cli import main
from lydite.errors import InputError
from lydite.probes.kept import load, tried
from lydite.probes.protocol import Level
from lydite.tasksets.documents import parse_task

LOOSE = {"id": "t", "prompt": "2 + 2?", "checker": {"type": "exact", "config": {"answer": "4"}}}
FILES = {"id": "w", "prompt": "Write 4 to a.", "checker": {"type": "file_exists", "config": {"paths": ["a"]}}}


def lydite(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    return int(left.value.code or 0)


def folder(tmp_path: Path, **probe: Any) -> Path:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "one.json").write_text(json.dumps(probe))
    return tmp_path / "p"


def test_an_attempt_of_a_run_is_kept_and_tried_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.jsonl").write_text(json.dumps(LOOSE))
    (tmp_path / "said.jsonl").write_text(json.dumps({"prompt": "2 + 2?", "completion": "4"}))
    run, kept = tmp_path / "run", tmp_path / "kept"
    assert (
        lydite("sample", tmp_path / "t.jsonl", "--policy", f"replay:{tmp_path / 'said.jsonl'}", "-n", 1, "-o", run) == 0
    )
    assert lydite("probes", "add", run, "sample/t/0", "--to", kept, "--what", "says the bare answer") == 0
    [probe] = load(kept).values()
    assert (probe.what, probe.completion, probe.origin["rollout"]) == ("says the bare answer", "4", "sample/t/0")
    assert lydite("probes", "run", kept) == 1
    assert "judged correct" in capsys.readouterr().err
    mended = LOOSE | {"checker": {"type": "exact", "config": {"answer": "four"}}}
    (tmp_path / "mended.jsonl").write_text(json.dumps(mended))
    assert lydite("probes", "run", kept, "--tasks", tmp_path / "mended.jsonl") == 0
    assert lydite("probes", "add", run, "sample/t/0", "--to", kept) == 2  # it is there already
    assert lydite("probes", "add", run, "sample/t/7", "--to", kept, "--name", "x") == 2


def test_what_an_attempt_did_is_done_in_the_untouched_workspace(tmp_path: Path) -> None:
    path = folder(tmp_path, task=FILES, commands=["echo garbage > a"])
    [found] = tried(load(path), path)
    assert (found.level, found.task, found.outcome) == (Level.FAILED, "w", "correct")


def test_a_part_of_the_score_may_be_too_much(tmp_path: Path) -> None:
    half = {"id": "h", "prompt": "?", "checker": {"type": "file_exists", "config": {"paths": ["a", "b"]}}}
    path = folder(tmp_path, task=half, files={"a": ""}, at_most=0.25)
    [found] = tried(load(path), path)
    assert found.level is Level.FAILED
    assert "0.5" in found.told


def test_a_probe_without_a_task_is_tried_on_all_and_one_by_id_on_its_own(tmp_path: Path) -> None:
    tasks = [parse_task(LOOSE), parse_task(LOOSE | {"id": "u"})]
    path = folder(tmp_path, completion="I cannot say.")
    assert [found.task for found in tried(load(path), path, tasks)] == ["t", "u"]
    (path / "one.json").write_text(json.dumps({"task_id": "u", "completion": "5"}))
    assert [(found.task, found.level) for found in tried(load(path), path, tasks)] == [("u", Level.PASSED)]
    assert [found.level for found in tried(load(path), path)] == [Level.NOT_MADE]


@pytest.mark.parametrize(
    ("probe", "said"),
    [
        ("{", "no probe"),
        ("[]", "no probe"),
        ('{"complet": "x"}', "complet"),
        ('{"task": {}, "task_id": "t"}', "task_id"),
        ('{"workspace": "../x.pack"}', "workspace"),
        ('{"workspace": "x.pack", "files": {"a": "b"}}', "workspace"),
        ('{"at_most": 2}', "at_most"),
    ],
)
def test_what_is_no_probe_is_named(tmp_path: Path, probe: str, said: str) -> None:
    (tmp_path / "bad.json").write_text(probe)
    with pytest.raises(InputError, match=said) as raised:
        load(tmp_path)
    assert "bad.json" in str(raised.value)


def test_an_empty_folder_and_a_missing_workspace_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no probes"):
        load(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        load(tmp_path / "none")


@pytest.mark.parametrize(
    "probe",
    [{"task": FILES, "workspace": "gone.pack"}, {"task": FILES, "files": {"../a": ""}}, {"task": {"prompt": "?"}}],
)
def test_one_that_cannot_be_tried_is_told_and_keeps_no_other_from_it(tmp_path: Path, probe: dict[str, Any]) -> None:
    path = folder(tmp_path, **probe)
    (path / "two.json").write_text(json.dumps({"task": FILES}))
    found = list(tried(load(path), path))
    assert [one.level for one in found] == [Level.NOT_MADE, Level.PASSED]
    assert "one.json" in found[0].told or "gone.pack" in found[0].told
    assert lydite("probes", "run", path) == 2
