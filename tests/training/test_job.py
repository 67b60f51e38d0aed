"""The settings of a platform's job, and the same keys in a recipe."""

from __future__ import annotations

from typing import Any

import pytest
from tiny_llama import grpo

from lydite.errors import InputError
from lydite.training import parse_recipe
from lydite.training.job import read_job, status_metrics
from lydite.training.recipe import GrpoStage

DEFAULTS = {
    "num_generations": 8,
    "max_completion_length": 1024,
    "max_tool_calling_iterations": 16,
    "optimizer_steps": 0,
    "entropy_coef": 0.05,
    "beta": 0.0,
    "learning_rate": 1e-6,
    "env": "workspace",
    "loss_type": "dapo",
    "scale_rewards": "batch",
    "generation_engine": "auto",
    "pip_packages": [],
}


def test_defaults_of_a_job() -> None:
    assert read_job({}) == read_job({"numGenerations": None})
    assert read_job({}).settings == DEFAULTS
    assert read_job({}).clamps == ()


@pytest.mark.parametrize(
    ("key", "asked", "field", "used"),
    [
        ("numGenerations", 2, "num_generations", 4),
        ("numGenerations", 99, "num_generations", 16),
        ("maxCompletionLength", 10, "max_completion_length", 256),
        ("maxCompletionLength", 5000, "max_completion_length", 4096),
        ("maxToolCallingIterations", 1, "max_tool_calling_iterations", 4),
        ("maxToolCallingIterations", 64, "max_tool_calling_iterations", 32),
        ("maxSteps", -3, "optimizer_steps", 0),
        ("entropyCoef", 0.9, "entropy_coef", 0.5),
        ("entropyCoef", -1, "entropy_coef", 0.0),
        ("beta", 0.04, "beta", 0.0),
        ("learningRate", 1e-3, "learning_rate", 2e-6),
    ],
)
def test_what_is_out_of_range_is_moved_and_told(key: str, asked: float, field: str, used: float) -> None:
    job = read_job({key: asked})
    assert job.settings[field] == used
    assert [(clamp.field, clamp.asked, clamp.used) for clamp in job.clamps] == [(key, asked, used)]
    assert job.clamps[0].why


def test_the_rate_is_capped_for_hf_models_only() -> None:
    assert read_job({"learningRate": 1e-3}, policy="builtin:tiny").settings["learning_rate"] == 1e-3


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"numGeneration": 8}, "numGeneration"),
        ({"numGenerations": "8"}, "numGenerations"),
        ({"numGenerations": True}, "numGenerations"),
        ({"numGenerations": 8.5}, "numGenerations"),
        ({"entropyCoef": float("nan")}, "entropyCoef"),
        ({"lossType": "ppo"}, "lossType"),
        ({"generationEngine": "sglang"}, "generationEngine"),
        ({"pipPackages": "numpy"}, "pipPackages"),
    ],
)
def test_what_cannot_be_moved_is_an_error(document: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        read_job(document)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "entry",
    [
        "git+https://example.org/x",
        "x @ https://example.org/x.whl",
        "./x",
        "/tmp/x",
        "--index-url=http://example.org",
        "-r x",
        "",
        "x; python_version < '3'",
        "x[extra]",
    ],
)
def test_packages_are_names_and_versions(entry: str) -> None:
    pytest.importorskip("packaging")
    with pytest.raises(InputError, match="pipPackages") as caught:
        read_job({"pipPackages": ["numpy>=2,<3", entry]})
    assert repr(entry) in str(caught.value)


def test_fifty_packages_at_most() -> None:
    pytest.importorskip("packaging")
    assert len(read_job({"pipPackages": [f"p{n}" for n in range(50)]}).settings["pip_packages"]) == 50
    with pytest.raises(InputError, match="at most 50"):
        read_job({"pipPackages": [f"p{n}" for n in range(51)]})


def test_a_platforms_status_knows_workspaces_by_another_name() -> None:
    metrics = {"rewards/workspace/mean": 0.5, "rewards/workspace/std": 0.1, "reward": 0.5}
    alias = {"rewards/TfcodeEnv/mean": 0.5, "rewards/TfcodeEnv/std": 0.1}
    assert status_metrics(metrics) == {**metrics, **alias}
    assert status_metrics({"reward": 0.5}) == {"reward": 0.5}


def test_the_group_is_made_to_divide_the_batch() -> None:
    job = read_job({"numGenerations": 7}, batch_size=24)
    assert job.settings["num_generations"] == 6
    assert "4, 6, 8, 12" in job.clamps[0].why
    with pytest.raises(InputError, match="no group size"):
        read_job({}, batch_size=17)


def test_a_job_is_a_stage_of_a_recipe(document: dict[str, Any]) -> None:
    document["stages"] = [{"kind": "grpo", **read_job({}).settings}]
    stage = parse_recipe(document).stages[0]
    assert isinstance(stage, GrpoStage)
    bare = GrpoStage(kind="grpo")
    shared = set(DEFAULTS) - {"learning_rate", "env", "scale_rewards", "beta"}  # None there: the loss's, the tasks' own
    assert {name: getattr(stage, name) for name in shared} == {name: getattr(bare, name) for name in shared}


@pytest.mark.parametrize(
    "change",
    [
        {"num_generations": 1},
        {"max_completion_length": 0},
        {"max_tool_calling_iterations": 0},
        {"max_tool_calling_iterations": 65},
        {"optimizer_steps": -1},
        {"entropy_coef": 11},
        {"beta": -0.1},
        {"learning_rate": 0},
        {"loss_type": "ppo"},
        {"scale_rewards": "std"},
        {"generation_engine": "sglang"},
        {"pip_packages": ["git+https://example.org/x"]},
    ],
    ids=str,
)
def test_outside_of_a_recipes_bounds_is_an_error(change: dict[str, Any], document: dict[str, Any]) -> None:
    document["stages"] = [{"kind": "grpo", "num_generations": 4, "prompts_per_step": 4, **change}]
    with pytest.raises(InputError, match=next(iter(change))):
        parse_recipe(document)


def test_a_recipe_has_wider_bounds_than_a_job() -> None:
    narrow = {"num_generations": 2, "max_completion_length": 32, "max_tool_calling_iterations": 1}
    GrpoStage(kind="grpo", **narrow, entropy_coef=0.6, beta=0.04, learning_rate=1e-3)
    wide = {"num_generations": 32, "max_completion_length": 8192, "max_tool_calling_iterations": 64}
    GrpoStage(kind="grpo", **wide)


def test_an_older_spelling_and_the_newer_one_are_not_both_taken(document: dict[str, Any]) -> None:
    document["stages"] = [grpo(optimizer_steps=3)]
    with pytest.raises(InputError, match="another name"):
        parse_recipe(document)


def test_steps_follow_from_the_tasks() -> None:
    stage = GrpoStage(kind="grpo", prompts_per_step=8)
    assert [stage.steps(tasks) for tasks in (0, 1, 8, 9, 80)] == [1, 1, 1, 2, 10]
    assert GrpoStage(kind="grpo", optimizer_steps=5).steps(80) == 5
