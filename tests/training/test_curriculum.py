"""Tasks that are always or never solved rest; what is chosen is a function of the seed and of what came out."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_llama import task_document

from lydite.errors import InputError, InterruptedRunError
from lydite.ledger import RunFolder
from lydite.training import Progress, dump_recipe, parse_recipe, train
from lydite.training.curriculum import FILE, Schedule
from lydite.training.recipe_parts import Curriculum

HARD, EASY, GOOD = [0.0] * 4, [1.0] * 4, [0.0, 1.0, 1.0, 0.0]


def played(schedule: Schedule, worth: dict[int, list[float]], groups: int) -> list[int]:
    """The tasks of the next groups, asked one by one; what is not in ``worth`` is solved half of the time."""
    asked = []
    for _ in range(groups):
        (task,) = schedule.next(1)
        schedule.record(task, worth.get(task, GOOD))
        asked.append(task)
    return asked


def test_what_is_always_or_never_solved_rests_longer_each_time_and_comes_back() -> None:
    schedule = Schedule(4, Curriculum(rest=4), "seed")
    rests, asked = [], Counter[int]()
    for _ in range(400):
        (task,) = played(schedule, {0: HARD, 1: EASY}, 1)
        asked[task] += 1
        if task == 0:
            rests.append(schedule.standings[0].rest)
    assert rests[:5] == [1, 2, 4, 4, 4]
    for resting in (0, 1):
        assert asked[2] / asked[resting] == pytest.approx(5, rel=0.1)  # four turns of rest, one of work


def test_a_task_that_comes_into_the_band_takes_every_turn_again() -> None:
    schedule = Schedule(2, Curriculum(rest=8), "seed")
    played(schedule, {0: HARD}, 100)
    while 0 not in played(schedule, {}, 1):
        pass
    assert Counter(played(schedule, {}, 100)) == {0: 50, 1: 50}


def test_where_nothing_is_in_the_band_tasks_are_tried_again_all_the_same() -> None:
    schedule = Schedule(3, Curriculum(), "seed")
    assert set(Counter(played(schedule, {0: HARD, 1: EASY, 2: HARD}, 90))) == {0, 1, 2}


def test_attempts_that_could_not_be_judged_say_nothing_of_a_task() -> None:
    schedule = Schedule(1, Curriculum(), "seed")
    schedule.record(0, [None, None])
    assert schedule.shares()["curriculum/unseen"] == 1.0
    schedule.record(0, [None, 1.0, 0.0])
    assert schedule.standings[0].rate == 0.5


def test_a_task_with_partial_scores_is_one_to_learn_from() -> None:
    schedule = Schedule(1, Curriculum(), "seed")
    schedule.record(0, [0.2, 0.6])
    assert schedule.shares()["curriculum/in_band"] == 1.0


@settings(max_examples=25, deadline=None)
@given(
    data=st.data(), tasks=st.integers(1, 8), before=st.integers(0, 30), rest=st.integers(1, 6), size=st.integers(1, 9)
)
def test_a_state_that_was_saved_goes_on_as_if_it_had_not_been(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, tasks: int, before: int, rest: int, size: int
) -> None:
    worth = {task: data.draw(st.sampled_from([HARD, EASY, GOOD])) for task in range(tasks)}
    first = Schedule(tasks, Curriculum(rest=rest), "x")
    played(first, worth, before)
    folder = tmp_path_factory.mktemp("state")
    first.save(folder)
    second = Schedule(tasks, Curriculum(rest=rest), "x")
    second.restore(folder)
    assert first.next(size) == second.next(size)
    assert played(first, worth, 40) == played(second, worth, 40)


def test_a_state_of_other_tasks_is_refused(tmp_path: Path) -> None:
    Schedule(3, Curriculum(), "x").save(tmp_path)
    with pytest.raises(InputError, match="about 3 tasks, not 4"):
        Schedule(4, Curriculum(), "x").restore(tmp_path)
    (tmp_path / FILE).write_text("{")
    with pytest.raises(InputError, match=FILE):
        Schedule(3, Curriculum(), "x").restore(tmp_path)


def test_a_recipe_without_a_curriculum_is_written_as_before(document: dict[str, Any]) -> None:
    assert "curriculum" not in dump_recipe(parse_recipe(document))
    document["stages"][0]["curriculum"] = True
    recipe = parse_recipe(document)
    assert yaml.safe_load(dump_recipe(recipe))["stages"][0]["curriculum"]["high"] == 0.9
    assert parse_recipe(yaml.safe_load(dump_recipe(recipe))).digest == recipe.digest


@pytest.mark.parametrize("wrong", [{"low": 0.9, "high": 0.1}, {"rest": 0}, {"bands": 1}])
def test_a_curriculum_that_cannot_be_is_refused(document: dict[str, Any], wrong: dict[str, Any]) -> None:
    document["stages"][0]["curriculum"] = wrong
    with pytest.raises(InputError, match="curriculum"):
        parse_recipe(document)


def test_a_control_leaves_the_choice_of_tasks_alone(document: dict[str, Any]) -> None:
    document["stages"][0]["curriculum"] = True
    with pytest.raises(InputError, match="chooses tasks by true verdicts"):
        parse_recipe({**document, "control": "random"})


@pytest.fixture
def mixed(document: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Six tasks: two that nobody solves, four that the policy solves half of the time."""
    tasks = [task_document(number) for number in range(10, 16)]
    for task in tasks[:2]:
        task["checker"]["config"]["answer"] = "7"
    (tmp_path / "mixed.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    document |= {"tasks": {"train": str(tmp_path / "mixed.jsonl"), "eval_fraction": 0}, "evaluation": None}
    document["stages"][0] |= {"steps": 8, "prompts_per_step": 2, "save_every": 2, "curriculum": {"rest": 2}}
    document["stages"][0] |= {"num_generations": 8, "learning_rate": 1e-5}
    return document


def asked(run: Path) -> dict[str, list[str]]:
    """Tasks of each step, a step that was repeated as it was done last."""
    with RunFolder.open(run) as folder:
        found: dict[str, list[str]] = {}
        for row in folder.rows():
            if row.rollout.phase.startswith("train-"):
                found.setdefault(row.rollout.phase, []).append(row.rollout.task)
    steps = {}
    for phase, tasks in found.items():
        steps[phase.partition(".")[0]] = tasks
    return steps


@pytest.mark.train
def test_training_rests_what_is_never_solved_and_goes_on_where_it_was(mixed: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("trl")
    train(parse_recipe(mixed), tmp_path / "whole")
    whole = asked(tmp_path / "whole")
    count = Counter(task for tasks in whole.values() for task in tasks)
    assert sum(count.values()) == 8 * 2 * 8
    assert max(count["odd-10"], count["odd-11"]) < min(count[f"odd-{number}"] for number in range(12, 16))
    metrics = [json.loads(line) for line in (tmp_path / "whole" / "metrics.jsonl").read_text().splitlines()]
    assert metrics[-1]["curriculum/too_hard"] == pytest.approx(2 / 6, abs=0.01)

    def stop(at: Progress) -> None:
        if at.done == 5 and at.metrics:
            raise KeyboardInterrupt

    with pytest.raises(InterruptedRunError):
        train(parse_recipe(mixed), tmp_path / "stopped", progress=stop)
    train(parse_recipe(mixed), tmp_path / "stopped", resume=True)
    assert asked(tmp_path / "stopped") == whole


@pytest.mark.train
def test_a_stage_knows_what_was_sampled_before_it(mixed: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("trl")
    mixed["stages"][0] |= {"steps": 2, "dynamic_sampling": True, "max_rounds": 2}
    mixed["stages"].insert(0, {"kind": "sample", "n": 8, "max_tokens": 12})
    train(parse_recipe(mixed), tmp_path / "run")
    assert not {"odd-10", "odd-11"} & set(asked(tmp_path / "run")["train-1-1"])
