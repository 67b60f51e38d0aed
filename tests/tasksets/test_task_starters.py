"""Starter tasks: each is sound as it is written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lydite.errors import InputError
from lydite.probes.bench import Bench, bench
from lydite.probes.sound import judged
from lydite.sampling import Judge
from lydite.tasksets import load_tasks
from lydite.tasksets.checkers import CHECKERS
from lydite.tasksets.lint import lint_files
from lydite.tasksets.starters import KINDS, starter, write_starter
from lydite.verdict import Outcome


@pytest.fixture(scope="module")
def own() -> Iterator[Bench]:
    with bench() as made:
        yield made


def test_there_is_one_for_each_kind() -> None:
    assert set(KINDS) == {*CHECKERS, "harbor"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_starter_passes_lint_and_its_own_checker(kind: str, tmp_path: Path, own: Bench) -> None:
    if kind == "proof" and shutil.which("coqc") is None:
        pytest.skip("coqc is not installed")
    path = write_starter(kind, tmp_path / (kind if kind == "harbor" else f"{kind}.yaml"))
    judge = Judge()
    assert [str(item) for item in lint_files(path, rule=lambda task: judged(task, judge, own))] == []
    (task,) = load_tasks(path)
    verdict = own.judged(task, own.untouched(task))
    assert verdict is not None
    assert verdict.outcome is Outcome.CORRECT, verdict


@pytest.mark.parametrize("kind", sorted(CHECKERS))
def test_a_starter_names_its_kind_and_explains_itself(kind: str, tmp_path: Path) -> None:
    assert starter(kind).startswith("# ")
    (task,) = load_tasks(write_starter(kind, tmp_path / "t.yaml"))
    parts = [task.checker.type, *(part["type"] for part in task.checker.config.get("checkers", {}).values())]
    assert kind in parts


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_starter_in_json_is_the_same_task(suffix: str, tmp_path: Path) -> None:
    path = write_starter("pytest", tmp_path / f"t{suffix}")
    assert load_tasks(path) == load_tasks(write_starter("pytest", tmp_path / "t.yaml"))
    assert json.loads(path.read_text())["checker"]["type"] == "pytest"


def test_nothing_is_written_over(tmp_path: Path) -> None:
    path = write_starter("math", tmp_path / "t.yaml")
    with pytest.raises(InputError, match="already"):
        write_starter("exact", path)
    place = write_starter("harbor", tmp_path / "h")
    with pytest.raises(InputError, match="already"):
        write_starter("harbor", place)


@pytest.mark.parametrize(("kind", "words"), [("mth", "math"), ("harbr", "harbor"), ("", "known")])
def test_an_unknown_kind_is_told(kind: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        write_starter(kind, tmp_path / "t.yaml")


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.yaml"):
        write_starter("math", tmp_path / "t.txt")
