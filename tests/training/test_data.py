"""Tasks and rows that a recipe names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lydite.errors import InputError
from lydite.training.data import load_sides, preference_documents, sft_documents
from lydite.training.recipe_io import parse_recipe

TASK = {"prompt": "What is 1 + 1?", "checker": {"type": "math", "config": {"answer": "2"}}}


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def recipe(tasks: Any, **stage: Any) -> Any:
    stages = [{"kind": "sft", "steps": 1, **stage}] if stage else [{"kind": "grpo", "steps": 1}]
    return parse_recipe({"policy": "builtin:tiny", "tasks": tasks, "stages": stages})


def test_a_training_task_that_a_held_out_one_repeats_is_dropped_and_counted(tmp_path: Path) -> None:
    other = {**TASK, "prompt": "What is 2 + 2?", "checker": {"type": "math", "config": {"answer": "4"}}}
    train = write(tmp_path / "train.jsonl", {**TASK, "prompt": "What is  1 + 1?"}, other)
    held_out = write(tmp_path / "eval.jsonl", TASK)
    left, right, dropped = load_sides(recipe({"train": str(train), "eval": str(held_out)}))
    assert [task.prompt_text for task in left] == ["What is 2 + 2?"]
    assert ([task.split for task in left + right], dropped) == (["train", "eval"], 1)


def test_nothing_left_to_train_on_is_an_error(tmp_path: Path) -> None:
    file = str(write(tmp_path / "train.jsonl", TASK))
    with pytest.raises(InputError, match="no task left to train on"):
        load_sides(recipe({"train": file, "eval": file}))


def test_evaluation_without_held_out_tasks_is_an_error(tmp_path: Path) -> None:
    file = str(write(tmp_path / "train.jsonl", TASK))
    with pytest.raises(InputError, match="evaluation: null"):
        load_sides(recipe({"train": file, "eval_fraction": 0}))


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": "a", "completion": "b"},
        {"prompt": [{"role": "user", "content": "a"}], "completion": [{"role": "assistant", "content": "b"}]},
        {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
    ],
)
def test_sft_rows_in_three_spellings(tmp_path: Path, row: dict[str, Any]) -> None:
    plan = recipe({"train": "unused"}, rows=str(write(tmp_path / "rows.jsonl", row)))
    assert sft_documents(plan, 0, None, []) == [  # type: ignore[arg-type]
        {"prompt": [{"role": "user", "content": "a"}], "completion": [{"role": "assistant", "content": "b"}]}
    ]


def test_preference_pairs_in_two_spellings(tmp_path: Path) -> None:
    said = {name: [{"role": "assistant", "content": name}] for name in ("good", "bad")}
    asked = [{"role": "user", "content": "a"}]
    file = write(
        tmp_path / "pairs.jsonl",
        {"prompt": asked, "chosen": said["good"], "rejected": said["bad"]},
        {"input": {"messages": asked}, "preferred_output": said["good"], "non_preferred_output": said["bad"]},
    )
    first, second = preference_documents(file, 0)
    assert first == second == {"prompt": asked, "chosen": said["good"], "rejected": said["bad"]}


@pytest.mark.parametrize(
    ("row", "field"),
    [("{", None), ("[]", None), ('{"prompt": "a"}', "chosen"), ('{"prompt": [], "chosen": "b"}', "chosen")],
)
def test_a_row_that_cannot_be_read_names_its_line(tmp_path: Path, row: str, field: str | None) -> None:
    good = {"prompt": "a", "chosen": "b", "rejected": "c"}
    file = write(tmp_path / "pairs.jsonl", good, row)
    with pytest.raises(InputError) as caught:
        preference_documents(file, 0)
    assert (str(caught.value.path), caught.value.line) == (str(file), 2)
    if field:
        assert caught.value.field in (field, "rejected", "prompt")


def test_no_pairs_says_what_the_groups_were(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="barred 7"):
        preference_documents(write(tmp_path / "pairs.jsonl"), 0, {"groups": 7, "barred": 7, "pairs": 0})
