"""Warnings in words: each for its own cause, once, and none for a run that goes well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tiny_llama import task_document

from lydite.ledger import RunFolder
from lydite.tasksets import parse_task
from lydite.training.alarms import WINDOW, Alarm, Alarms

STEPS = 40
WELL = {
    "loss": 0.01,
    "entropy": 1.0,
    "frac_reward_zero_std": 0.3,
    "pass_rate": 0.5,
    "completions/mean_length": 100.0,
    "completions/clipped_ratio": 0.05,
    "groups/all_wrong": 0.1,
    "groups/all_correct": 0.2,
    "invalid_rate": 0.0,
    "suspected_hack_rate": 0.02,
    "tools/malformed_rate": 0.1,
    "reward_parts/correctness": 0.5,
    "reward_parts/form": 0.1,
    "reward_parts/length": 0.0,
    "parts/tests": 0.4,
    "parts/style": 0.4,
}


def watched(change: Callable[[float], dict[str, float]], steps: int = STEPS) -> list[Alarm]:
    """Alarms of a run whose metrics change with the share of it that is done."""
    alarms = Alarms()
    return [
        alarm
        for step in range(1, steps + 1)
        for alarm in alarms.look(step, {**WELL, **change((step - 1) / (steps - 1))})
    ]


CAUSES: dict[str, tuple[str, Callable[[float], dict[str, float]], str]] = {
    "the loss is lost": ("not_finite", lambda done: {"loss": float("nan") if done > 0.5 else 0.1}, "no number"),
    "the pass rate falls": ("collapse", lambda done: {"pass_rate": 0.6 * (1 - done)}, "fell from"),
    "entropy and contrast go": (
        "collapse",
        lambda done: {"entropy": 1 - done, "groups/all_wrong": 0.1 + 0.4 * done},
        "entropy fell from",
    ),
    "answers grow in vain": ("length", lambda done: {"completions/mean_length": 100 + 300 * done}, "grew from 115"),
    "answers are cut": ("length", lambda done: {"completions/clipped_ratio": done}, "are cut"),
    "all groups are wrong": (
        "no_contrast",
        lambda done: {"frac_reward_zero_std": 0.97, "groups/all_wrong": 0.97, "groups/all_correct": 0.0},
        "too hard",
    ),
    "all groups are right": (
        "no_contrast",
        lambda done: {"frac_reward_zero_std": 0.95, "groups/all_wrong": 0.0, "groups/all_correct": 0.95},
        "too easy",
    ),
    "form pays": ("one_component", lambda done: {"reward_parts/form": 0.1 + 0.4 * done}, "paid for form"),
    "one part rises": ("one_component", lambda done: {"parts/style": 0.4 + 0.5 * done}, "the part style rose"),
    "the verifier breaks": ("invalid", lambda done: {"invalid_rate": 0.2 * done}, "our fault"),
    "hacks come": ("suspected_hacks", lambda done: {"suspected_hack_rate": 0.02 + 0.3 * done}, "look like hacks"),
    "calls are noise": ("malformed_calls", lambda done: {"tools/malformed_rate": 0.8}, "cannot be read"),
}


@pytest.mark.parametrize("name", CAUSES)
def test_each_cause_gives_one_warning_of_its_kind(name: str) -> None:
    kind, change, words = CAUSES[name]
    alarms = watched(change)
    assert [alarm.kind for alarm in alarms] == [kind]
    assert words in alarms[0].message


@pytest.mark.parametrize(
    "change",
    [
        lambda done: {},
        lambda done: {"pass_rate": 0.2 + 0.7 * done, "reward_parts/correctness": 0.2 + 0.7 * done},
        lambda done: {"pass_rate": 0.2 + 0.7 * done, "completions/mean_length": 100 + 200 * done},
        lambda done: {
            "pass_rate": 0.5 + 0.49 * done,
            "entropy": 1 - 0.99 * done,
            "frac_reward_zero_std": 0.3 + 0.5 * done,
        },
        lambda done: {"parts/tests": 0.4 + 0.4 * done, "parts/style": 0.4 + 0.3 * done},
    ],
    ids=["nothing changes", "it learns", "it learns to think", "it becomes sure", "both parts rise"],
)
def test_a_run_that_goes_well_is_left_alone(change: Callable[[float], dict[str, float]]) -> None:
    assert watched(change) == []


def test_one_bad_step_is_no_warning_and_a_new_spell_is_one() -> None:
    assert watched(lambda done: {"invalid_rate": 0.2 if 0.5 < done < 0.53 else 0.0}) == []
    spells = watched(lambda done: {"invalid_rate": 0.5 if 0.2 < done < 0.3 or done > 0.8 else 0.0}, steps=100)
    assert [alarm.kind for alarm in spells] == ["invalid", "invalid"]
    flickers = watched(lambda done: {"invalid_rate": 0.5 if int(20 * done) % 2 else 0.0}, steps=200)
    assert [alarm.kind for alarm in flickers] == ["invalid"]


def test_metrics_that_are_missing_are_no_cause() -> None:
    alarms = Alarms()
    assert [alarm for step in range(1, STEPS) for alarm in alarms.look(step, {"loss": 0.1})] == []


@pytest.fixture
def run(tmp_path: Path) -> Any:
    tasks = [parse_task(task_document(10))]
    with RunFolder.create(tmp_path / "run", kind="train", settings={}, tasks=tasks) as run:
        yield run


def test_warnings_are_reported_kept_and_not_repeated_by_a_resumed_run(run: RunFolder) -> None:
    pytest.importorskip("trl")
    from lydite.training.trl.callbacks import Stop, Watch

    told: list[str] = []

    def watch() -> Watch:
        return Watch(run, 1, "grpo", Stop(), lambda done, total, metrics, warnings: told.extend(warnings))

    def log(on: Watch, step: int) -> None:
        on.on_log(None, SimpleNamespace(global_step=step, max_steps=99), None, {**WELL, "frac_reward_zero_std": 1.0})

    first = watch()
    for step in range(1, 2 * WINDOW + 1):
        log(first, step)
    assert [line.partition(":")[0] for line in told] == [f"step {2 * WINDOW}"]
    [kept] = run.info.notes["warnings"]
    assert (kept["stage"], kept["step"], kept["kind"]) == (1, 2 * WINDOW, "no_contrast")
    second = watch()
    second.on_train_begin(None, SimpleNamespace(global_step=2 * WINDOW), None)
    log(second, 2 * WINDOW + 1)
    assert len(told) == 1
