"""Recipes: what is read, and what an error says."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.training import recipe_io
from lydite.training.recipe import GrpoStage, Recipe
from lydite.training.recipe_io import dump_recipe, load_recipe, parse_recipe

EXAMPLES = Path(__file__).parents[2] / "examples"
PACKAGED = Path(recipe_io.__file__).parent / "recipes"

TEXT = """\
name: demo
policy: builtin:tiny
tasks:
  train: {family: arithmetic, levels: [1, 2], n: 100}
stages:
  - kind: sample
    n: 4
  - kind: grpo
    steps: 5
    learning_rate: 1e-3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "recipe.yaml"
    path.write_text(TEXT)
    return path


def plain(**changes: Any) -> dict[str, Any]:
    return {
        "policy": "builtin:tiny",
        "tasks": {"train": ["tasks.jsonl"]},
        "stages": [{"kind": "grpo", "steps": 1}],
        **changes,
    }


def test_an_exponent_without_a_point_is_a_number(file: Path) -> None:
    recipe = load_recipe(file, ["stages.1.trl.delta=2e-1"])
    stage = recipe.stages[1]
    assert isinstance(stage, GrpoStage)
    assert (stage.learning_rate, stage.trl["delta"]) == (0.001, 0.2)


def test_integers_stay_integers(file: Path) -> None:
    recipe = load_recipe(file, ["stages.1.trl.num_iterations=2"])
    assert recipe.tasks.train.levels == [1, 2]
    assert type(recipe.stages[1].trl["num_iterations"]) is int  # type: ignore[union-attr]


def test_toml_reads_as_yaml_does(file: Path, tmp_path: Path) -> None:
    toml = tmp_path / "recipe.toml"
    toml.write_text(
        'name = "demo"\npolicy = "builtin:tiny"\n[tasks]\ntrain = {family = "arithmetic", levels = [1, 2], n = 100}\n'
        '[[stages]]\nkind = "sample"\nn = 4\n[[stages]]\nkind = "grpo"\nsteps = 5\nlearning_rate = 1e-3\n'
    )
    assert load_recipe(toml) == load_recipe(file)


def test_false_stands_for_null_where_there_is_no_null() -> None:
    recipe = parse_recipe(plain(lora=False, evaluation=False))
    assert recipe.lora is None
    assert recipe.evaluation is None


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "words"),
    [
        ("steps: 5", "step: 5", 9, "stages.1.step", "did you mean steps?"),
        ("policy:", "polcy:", 2, "polcy", "did you mean policy?"),
        ("steps: 5", "steps: five", 9, "stages.1.steps", "whole number, not 'five'"),
        ("kind: grpo", "kind: ppo", 8, "stages.1.kind", "known: sample, sft, grpo, dpo"),
        ("family:", "familie:", 4, "tasks.train.familie", "did you mean family?"),
        ("n: 100", "m: 100", 4, "tasks.train.m", "unknown key"),
        ("  - kind: grpo\n    steps: 5", "  - steps: 5", 8, "stages.1.kind", "is missing"),
        ("    n: 4\n", "    n: 4\n    n: 5\n", 8, "stages.0.n", "given twice"),
        ("name: demo", "name: [", 3, None, "not YAML"),
    ],
)
def test_errors_name_file_line_field_and_remedy(
    file: Path, old: str, new: str, line: int, field: str | None, words: str
) -> None:
    file.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        load_recipe(file)
    error = caught.value
    assert (error.path, error.line, error.field) == (file, line, field)
    assert words in str(error)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stages": [{"kind": "grpo", "steps": 1, "batch_size": 12, "num_generations": 8}]}, "2, 3, 4, 6, 12 would do"),
        ({"stages": [{"kind": "grpo", "steps": 1, "micro_batch": 7}]}, "1, 2, 4, 8, 16, 32, 64 would do"),
        ({"stages": [{"kind": "sft", "steps": 1}]}, "either `rows`"),
        ({"stages": [{"kind": "sft", "from": "run", "epochs": 1, "steps": 1}]}, "either `steps` or `epochs`"),
        ({"stages": [{"kind": "sft", "from": "solutions", "steps": 1}], "control": "random"}, "there is none"),
        (
            {"stages": [{"kind": "grpo", "steps": 1}, {"kind": "dpo", "steps": 1}], "control": "random"},
            "stage 1 (dpo) learns from true verdicts",
        ),
        ({"stages": [{"kind": "grpo", "steps": 1}, {"kind": "dpo", "steps": 1}]}, "put a `sample` stage before it"),
        ({"stages": [{"kind": "grpo", "steps": 10**24}]}, "at most 1000000"),
        ({"stages": [{"kind": "grpo", "steps": 10**6, "prompts_per_step": 64}]}, "at most 10000000"),
        ({"control": "flip:2"}, "between 0 and 1"),
        ({"evaluation": {"n": 2, "k": [4]}}, "between 1 and n = 2"),
        ({"reward": {"format_weight": 1.2}}, "outweigh correctness"),
        ({"tasks": {"train": {"family": "arithmetic"}}}, "needs `levels`"),
        ({"seed": -1}, "at least 0, not -1"),
        ({"stages": []}, "at least 1"),
    ],
)
def test_what_cannot_be_honoured_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_recipe(plain(**changes))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("stages.1.steps", "key=value"),
        ("stages.7.steps=3", "2 there, counted from 0"),
        ("stages.x.steps=3", "counted from 0"),
        ("name.x=3", "nothing below"),
        ("stages.1.stepz=3", "did you mean steps?"),
    ],
)
def test_overrides_that_lead_nowhere_say_so(file: Path, override: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        load_recipe(file, [override])
    assert words in str(caught.value)


def test_an_override_makes_the_mapping_it_needs(file: Path) -> None:
    recipe = load_recipe(file, ["lora.r=8", "tasks.train=[a.jsonl, b.jsonl]"])
    assert recipe.lora is not None
    assert recipe.lora.r == 8
    assert recipe.tasks.train.files == ["a.jsonl", "b.jsonl"]


def test_a_dumped_recipe_reads_back_the_same(file: Path, tmp_path: Path) -> None:
    recipe = load_recipe(file)
    again = tmp_path / "again.yaml"
    again.write_text(dump_recipe(recipe))
    assert load_recipe(again) == recipe
    assert load_recipe(again).digest == recipe.digest


def test_paths_are_looked_for_beside_the_recipe_first(file: Path) -> None:
    (file.parent / "tasks.jsonl").touch()
    recipe = load_recipe(file)
    assert recipe.resolve("tasks.jsonl") == str(file.parent / "tasks.jsonl")
    assert recipe.resolve("elsewhere.jsonl") == "elsewhere.jsonl"


@pytest.mark.parametrize("name", ["absent.yaml", "recipe.json"])
def test_no_recipe_there(tmp_path: Path, name: str) -> None:
    if name.endswith("json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(InputError):
        load_recipe(tmp_path / name)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(sorted(Recipe.model_fields)), _JSON),
    st.lists(st.fixed_dictionaries({"kind": st.sampled_from(["sample", "sft", "grpo", "dpo"])}) | _JSON, max_size=2),
)
def test_any_document_is_a_recipe_or_an_input_error(document: dict[str, Any], stages: list[Any]) -> None:
    with contextlib.suppress(InputError):
        assert isinstance(parse_recipe({**plain(), **document, "stages": stages}), Recipe)


def test_the_step_stays_when_momentum_changes() -> None:
    rates = [
        GrpoStage(kind="grpo", effective_learning_rate=1e-3, beta1=beta1).rate / (1 - beta1)
        for beta1 in (0.0, 0.5, 0.9)
    ]
    assert rates == pytest.approx([1e-3] * 3)
    assert GrpoStage(kind="grpo", learning_rate=2e-4, beta1=0.5).rate == 2e-4


@pytest.mark.parametrize(
    "stage", [{"effective_learning_rate": 1e-3, "learning_rate": 1e-4}, {"beta1": 0.5, "trl": {"optim": "sgd"}}]
)
def test_two_rates_or_momentum_that_nobody_heeds_are_errors(stage: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"learning_rate|beta1"):
        GrpoStage(kind="grpo", **stage)


OPTIMISED: list[dict[str, Any]] = [
    {"learning_rate": 1e-3},
    {"effective_learning_rate": 1e-3},
    {"effective_learning_rate": 1e-3, "beta1": 0.5},
    {"learning_rate": 0.1, "trl": {"optim": "sgd"}},
    {"effective_learning_rate": 0.1, "trl": {"optim": "sgd"}},
    {"learning_rate": 1e-3, "trl": {"optim": "adamw_torch_fused"}, "beta1": 0.8},
]


@pytest.mark.parametrize("options", OPTIMISED, ids=str)
@pytest.mark.parametrize(
    "stage",
    [
        {"kind": "grpo", "steps": 1},
        {"kind": "sft", "from": "solutions", "steps": 1},
        {"kind": "dpo", "pairs": "x", "steps": 1},
    ],
    ids=lambda stage: str(stage["kind"]),
)
def test_a_recipe_that_is_written_down_is_read_again(
    stage: dict[str, Any], options: dict[str, Any], tmp_path: Path
) -> None:
    recipe = parse_recipe(plain(stages=[stage | options]))
    (tmp_path / "recipe.yaml").write_text(dump_recipe(recipe))
    again = load_recipe(tmp_path / "recipe.yaml")
    assert again.settings == recipe.settings
    assert again.stages[0].rate == recipe.stages[0].rate  # type: ignore[union-attr]


@pytest.mark.parametrize("file", [*EXAMPLES.glob("*.yaml"), *PACKAGED.glob("*.yaml")], ids=lambda file: file.name)
def test_every_recipe_of_ours_is_read_again(file: Path, tmp_path: Path) -> None:
    recipe = load_recipe(file)
    (tmp_path / "recipe.yaml").write_text(dump_recipe(recipe))
    assert load_recipe(tmp_path).settings == recipe.settings
