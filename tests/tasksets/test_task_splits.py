"""Splits, difficulty labels and families."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from lydite.errors import InputError
from lydite.tasksets import FAMILIES, generate, load_tasks, parse_task, split_tasks
from lydite.tasksets.difficulty import from_level, from_pass_rate


def tasks(count: int, start: int = 0):  # type: ignore[no-untyped-def]
    checker = {"type": "math", "config": {"answer": "1"}}
    return [parse_task({"prompt": f"question {i}", "checker": checker}) for i in range(start, start + count)]


def sides(items, fraction=0.3, seed=0):  # type: ignore[no-untyped-def]
    train, held = split_tasks(items, fraction, seed)
    return {task.id: task.split for task in [*train, *held]}


def test_every_task_is_on_one_side_and_says_so() -> None:
    train, held = split_tasks(tasks(200), 0.3)
    assert {task.split for task in train} == {"train"}
    assert {task.split for task in held} == {"eval"}
    assert len(train) + len(held) == 200
    assert 35 <= len(held) <= 85


def test_adding_tasks_moves_none() -> None:
    before, after = sides(tasks(100)), sides(tasks(300))
    assert before.items() <= after.items()


def test_order_does_not_matter() -> None:
    items = tasks(100)
    mixed = random.Random(1).sample(items, 100)
    assert sides(items) == sides(mixed)


def test_a_larger_fraction_only_adds_to_the_held_out_side() -> None:
    small = {task.id for task in split_tasks(tasks(200), 0.2)[1]}
    large = {task.id for task in split_tasks(tasks(200), 0.4)[1]}
    assert small < large


def test_another_seed_gives_another_split() -> None:
    assert sides(tasks(100)) != sides(tasks(100), seed=1)


def test_equal_prompts_never_part() -> None:
    checker = [{"type": "math", "config": {"answer": str(i)}} for i in range(2)]
    pairs = [[parse_task({"prompt": f"q {i}", "checker": c}) for c in checker] for i in range(60)]
    found = sides([task for pair in pairs for task in pair])
    assert all(found[a.id] == found[b.id] for a, b in pairs)


def test_marking_a_side_changes_neither_id_nor_digest() -> None:
    (task,) = tasks(1)
    train, held = split_tasks([task], 0.5)
    (marked,) = [*train, *held]
    assert (marked.id, marked.digest) == (task.id, task.digest)


@pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan")])
def test_a_fraction_out_of_range(fraction: float) -> None:
    with pytest.raises(InputError, match="eval_fraction"):
        split_tasks(tasks(1), fraction)


def test_the_share_of_a_real_set(shared: Path) -> None:
    items = load_tasks(shared / "data" / "gsm8k_test.jsonl")
    assert abs(len(split_tasks(items, 0.2)[1]) / len(items) - 0.2) < 0.04


@pytest.mark.parametrize(
    ("level", "label"),
    [("Level 5", "level-5"), (3, "level-3"), ("07", "level-7"), ("Level ?", ""), (None, ""), ("", "")],
)
def test_labels_of_levels(level: str | int | None, label: str) -> None:
    assert from_level(level) == label


def test_labels_of_pass_rates() -> None:
    rates = (0.0, 0.05, 0.1, 0.5, 0.9, 0.95, 1.0)
    assert [from_pass_rate(rate) for rate in rates] == ["never", "hard", "medium", "medium", "medium", "easy", "always"]
    for rate in (-0.1, 1.5, float("nan")):
        with pytest.raises(InputError):
            from_pass_rate(rate)


def test_a_family_is_the_same_for_the_same_seed() -> None:
    first = generate("arithmetic", levels=[1, 2], n=12, seed=4)
    assert len(first) == 12
    assert first == generate("arithmetic", levels=[1, 2], n=12, seed=4)
    assert first != generate("arithmetic", levels=[1, 2], n=12, seed=5)
    assert len({task.id for task in first}) == 12


@pytest.mark.parametrize(
    ("family", "levels", "n", "words"),
    [("arithmetics", [1], 1, "did you mean 'arithmetic'"), ("arithmetic", [], 1, "levels"), 
     ("arithmetic", [1], 0, "n:"),     ("arithmetic", [99], 1, "levels"), ("zzz", [1], 1, "arithmetic")],
)  # fmt: skip
def test_bad_requests_of_a_family(family: str, levels: list[int], n: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        generate(family, levels=levels, n=n, seed=0)


def test_every_family_can_be_generated() -> None:
    assert all(generate(family, levels=[1], n=2, seed=0) for family in FAMILIES)
