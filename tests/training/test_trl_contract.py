"""What this package relies on in TRL. A new version of TRL that breaks one of these breaks training."""

from __future__ import annotations

import dataclasses
import inspect
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")
pytestmark = pytest.mark.train


def test_the_version_is_the_one_that_was_read() -> None:
    assert version("trl").startswith("1.16.")


@pytest.mark.parametrize("trainer", ["GRPOTrainer", "SFTTrainer", "DPOTrainer"])
def test_constructors(trainer: str) -> None:
    import trl

    parameters = inspect.signature(getattr(trl, trainer).__init__).parameters
    assert {"model", "args", "train_dataset", "processing_class", "callbacks", "peft_config"} <= set(parameters)


def test_grpo_fields_and_the_defaults_we_lean_on() -> None:
    from trl import GRPOConfig

    fields = {field.name: field.default for field in dataclasses.fields(GRPOConfig)}
    expected = {
        "num_iterations": 1,
        "multi_objective_aggregation": "sum_then_normalize",
        "remove_unused_columns": False,
        "use_vllm": False,
        "delta": None,
        "top_entropy_quantile": 1.0,
        "off_policy_mask_threshold": None,
    }
    assert {name: fields[name] for name in expected} == expected


def test_override_points() -> None:
    from trl import GRPOTrainer

    assert list(inspect.signature(GRPOTrainer._generate_and_score_completions).parameters) == ["self", "inputs"]
    assert list(inspect.signature(GRPOTrainer._compute_loss).parameters) == ["self", "model", "inputs"]
    for trainer in (GRPOTrainer, *__import__("trl").SFTTrainer.__mro__[:1]):
        assert "model_name" in inspect.signature(trainer.create_model_card).parameters


@pytest.fixture
def trainer(tiny: Path, tmp_path: Path) -> Any:
    """One group of four, with a reward that says what the test put there."""
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    from lydite.training.trl.quiet import hush

    hush()
    seen: dict[str, Any] = {}

    def reward(**columns: Any) -> list[float | None]:
        seen.update(columns)
        return list(made.rewards)

    made = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(tiny),
        reward_funcs=reward,
        args=GRPOConfig(
            output_dir=str(tmp_path),
            per_device_train_batch_size=4,
            num_generations=4,
            max_completion_length=6,
            use_cpu=True,
            bf16=False,
            report_to="none",
            loss_type="grpo",
        ),
        train_dataset=Dataset.from_list([{"prompt": [{"role": "user", "content": "Is 3 odd?"}], "task": 7}]),
        processing_class=AutoTokenizer.from_pretrained(tiny),
    )
    made.rewards, made.seen = [], seen
    made.model.train()
    return made


def _advantages(trainer: Any, rewards: list[float | None]) -> list[float]:
    trainer.rewards = rewards
    batch = trainer._generate_and_score_completions([trainer.train_dataset[0]] * 4)
    values: list[float] = batch["advantages"].tolist()
    return values


def test_none_leaves_the_baseline(trainer: Any) -> None:
    assert _advantages(trainer, [2.0, 1.0, None, None]) == pytest.approx([0.7070, -0.7070, 0.0, 0.0], abs=1e-3)


def test_advantages_are_those_of_the_core(trainer: Any) -> None:
    from lydite.reward import advantages

    for rewards in ([1.0, 0.0, 0.0, 0.0], [1.0, -0.1, None, -0.1], [0.5] * 4):
        assert _advantages(trainer, rewards) == pytest.approx(advantages([rewards])[0], abs=1e-5)


def test_a_group_without_any_reward_gives_no_gradient(trainer: Any) -> None:
    assert _advantages(trainer, [None] * 4) == [0.0] * 4


def test_what_a_reward_function_is_given(trainer: Any) -> None:
    _advantages(trainer, [0.0] * 4)
    seen = trainer.seen
    assert seen["task"] == [7] * 4
    assert all(isinstance(ids, list) and len(ids) <= 6 for ids in seen["completion_ids"])
    assert seen["trainer_state"].global_step == 0
    assert callable(seen["log_metric"])


def test_completions_end_with_the_end_token_or_are_truncated(trainer: Any) -> None:
    _advantages(trainer, [0.0] * 4)
    assert all(len(ids) == 6 or ids[-1] in trainer.eos_token_ids for ids in trainer.seen["completion_ids"])


def test_a_batch_has_the_tensors_that_dynamic_sampling_joins(trainer: Any) -> None:
    trainer.rewards = [1.0, 0.0, 0.0, 0.0]
    batch = trainer._generate_and_score_completions([trainer.train_dataset[0]] * 4)
    shapes = {name: value.dim() for name, value in batch.items()}
    assert shapes == {
        "prompt_ids": 2,
        "prompt_mask": 2,
        "completion_ids": 2,
        "completion_mask": 2,
        "advantages": 1,
        "num_items_in_batch": 0,
    }
