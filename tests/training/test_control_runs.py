"""A recipe beside its controls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lydite.errors import InputError
from lydite.ledger import RunFolder, verify_run
from lydite.task import Task
from lydite.tasksets.documents import parse_task
from lydite.training import parse_recipe, train
from lydite.training.control_runs import control_runs
from lydite.training.controls import exchanged

pytest.importorskip("trl")
pytestmark = pytest.mark.train


def test_every_control_is_compared_with_the_true_reward(document: dict[str, Any], tmp_path: Path) -> None:
    document["stages"][0]["steps"] = 1
    made = control_runs(parse_recipe(document), ["random", "shuffled", "random", "false_positives:0.5"], tmp_path)
    assert [arm.control for arm in made.arms] == ["none", "random", "shuffled", "false_positives:0.5"]
    assert [arm.beaten_by is None for arm in made.arms] == [True, False, False, False]
    assert all(verify_run(arm.run).problem is None for arm in made.arms)
    assert not made.counts  # one step of a tiny model proves nothing
    assert json.loads((tmp_path / "controls.json").read_text())["arms"][1]["control"] == "random"
    assert "`shuffled`" in (tmp_path / "controls.md").read_text()
    starts = {arm.control: [row.record.verdict for row in RunFolder.open(arm.run).rows("before")] for arm in made.arms}
    assert all(verdicts == starts["none"] for verdicts in starts.values())  # the same policy, tasks and seed
    for arm in made.arms[1:]:
        shown = {row.record.scheme for row in RunFolder.open(arm.run).rows("train-0-1")}
        assert all(scheme.endswith(f"+control={arm.control}") for scheme in shown)
    heads = [arm.head for arm in made.arms]
    again = control_runs(parse_recipe(document), ["random", "shuffled", "false_positives:0.5"], tmp_path)
    assert [arm.head for arm in again.arms] == heads  # nothing was done a second time


@pytest.mark.parametrize(
    ("change", "controls", "field"),
    [
        ({"control": "random"}, ["random"], "control"),
        ({"evaluation": None}, ["random"], "evaluation"),
        ({}, ["coin"], "controls"),
        ({}, ["flip:2"], "controls"),
        ({}, [], "controls"),
    ],
)
def test_what_cannot_be_compared_is_told_before_anything_runs(
    document: dict[str, Any], tmp_path: Path, change: dict[str, Any], controls: list[str], field: str
) -> None:
    with pytest.raises(InputError) as raised:
        control_runs(parse_recipe(document | change), controls, tmp_path / "out")
    assert raised.value.field == field
    assert not (tmp_path / "out").exists()


def math(name: str, answer: str) -> Task:
    return parse_task({"id": name, "prompt": name, "checker": {"type": "math", "config": {"answer": answer}}})


def test_exchanged_tasks_keep_their_prompt_and_get_another_answer() -> None:
    tasks = [math(f"t{number}", str(number // 2)) for number in range(20)]
    found = exchanged(tasks, 3)
    assert found == exchanged(tasks[::-1], 3)
    assert found != exchanged(tasks, 4)
    assert all(found[task.id].prompt == task.prompt and found[task.id].checker != task.checker for task in tasks)


def test_what_cannot_be_exchanged() -> None:
    with pytest.raises(InputError, match="checked alike"):
        exchanged([math("a", "1"), math("b", "1")], 0)
    state = {"id": "w", "prompt": "?", "checker": {"type": "file_exists", "config": {"paths": ["a"]}}}
    with pytest.raises(InputError, match="workspace"):
        exchanged([parse_task(state)], 0)


def test_a_recipe_that_cannot_be_shuffled_leaves_no_folder(document: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(
        json.dumps({"prompt": "1?", "checker": {"type": "math", "config": {"answer": "1"}}})
    )
    document |= {
        "control": "shuffled",
        "tasks": {"train": str(tmp_path / "one.jsonl"), "eval": document["tasks"]["eval"]},
    }
    with pytest.raises(InputError, match="checked alike"):
        train(parse_recipe(document), tmp_path / "run")
    assert not (tmp_path / "run").exists()
