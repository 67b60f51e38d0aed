"""From a stage of a recipe to a TRL configuration. Every field a recipe names exists in TRL, or it is an error."""

from __future__ import annotations

import dataclasses
import difflib
from pathlib import Path
from typing import Any

from lydite.errors import InputError
from lydite.training.engines import choose_engine, engine_fields
from lydite.training.presets import loss_flags
from lydite.training.recipe import DpoStage, GrpoStage, Recipe, SftStage


def grpo_config(recipe: Recipe, index: int, output: Path, *, tasks: int = 0) -> Any:
    """``trl.GRPOConfig``: one optimizer step per batch of ``completions_per_step`` fresh completions; ``tasks`` is the
    number of training tasks, from which the number of steps may follow."""
    from trl import GRPOConfig

    stage = recipe.stages[index]
    assert isinstance(stage, GrpoStage)
    flags = loss_flags(stage)
    total = stage.completions_per_step
    micro = stage.micro_batch or total
    fields = {
        **_common(recipe, stage, output),
        "max_steps": stage.steps(tasks),
        "per_device_train_batch_size": micro,
        "gradient_accumulation_steps": total // micro,
        "num_generations": stage.num_generations,
        "max_completion_length": stage.max_completion_length,
        "max_tool_calling_iterations": stage.max_tool_calling_iterations,
        **engine_fields(choose_engine(stage.generation_engine, field=f"stages.{index}.generation_engine").name),
        "temperature": stage.temperature,
        "top_p": stage.top_p,
        "top_k": stage.top_k,
        "mask_truncated_completions": stage.mask_truncated,
        "entropy_coef": stage.entropy_coef,
        "shuffle_dataset": False,  # the order of prompts is ours: see grpo.schedule
        "log_completions": False,
        **flags,
    }
    return _build(GRPOConfig, fields, stage.trl, index)


def sft_config(recipe: Recipe, index: int, output: Path) -> Any:
    """``trl.SFTConfig``: loss on the completion only, no packing."""
    from trl import SFTConfig

    stage = recipe.stages[index]
    assert isinstance(stage, SftStage)
    fields = {**_rowed(recipe, stage, output), "max_length": stage.max_length, "packing": False}
    return _build(SFTConfig, {**fields, "completion_only_loss": True}, stage.trl, index)


def dpo_config(recipe: Recipe, index: int, output: Path) -> Any:
    """``trl.DPOConfig``."""
    from trl import DPOConfig

    stage = recipe.stages[index]
    assert isinstance(stage, DpoStage)
    fields = {**_rowed(recipe, stage, output), "max_length": stage.max_length, "beta": stage.beta}
    return _build(DPOConfig, fields, stage.trl, index)


def check_trl_fields(recipe: Recipe) -> None:
    """Build every stage's configuration once, so that a wrong field is found before the first token is sampled.

    Raises:
        InputError: an unknown field of TRL, one that the recipe itself sets, or a value that TRL refuses.
    """
    builders = {"grpo": grpo_config, "sft": sft_config, "dpo": dpo_config}
    for index, stage in enumerate(recipe.stages):
        if stage.kind != "sample":
            builders[stage.kind](recipe, index, Path("unused"))
    _check_reporters(recipe.report_to)


def _check_reporters(names: list[str]) -> None:
    from transformers.integrations import get_reporting_integration_callbacks

    try:
        for callback in get_reporting_integration_callbacks(names):
            callback()
    except (ValueError, RuntimeError, ImportError) as error:
        raise InputError(f"cannot report to {', '.join(names)}: {error}", field="report_to") from None


def _common(recipe: Recipe, stage: GrpoStage | SftStage | DpoStage, output: Path) -> dict[str, Any]:
    import torch

    return {
        "output_dir": str(output),
        "seed": recipe.seed,
        "learning_rate": stage.rate,
        "adam_beta1": stage.beta1,
        "lr_scheduler_type": _scheduler(stage),
        "warmup_steps": stage.warmup_steps,
        "weight_decay": stage.weight_decay,
        "max_grad_norm": stage.max_grad_norm,
        "use_cpu": not torch.cuda.is_available(),
        "bf16": False,
        "gradient_checkpointing": False,
        "dataloader_pin_memory": False,
        "logging_steps": 1,
        "save_strategy": "steps",
        "save_steps": stage.save_every,
        "save_total_limit": kept_while_training(stage),
        "disable_tqdm": True,
        "report_to": recipe.report_to or "none",
    }


def kept_while_training(stage: GrpoStage | SftStage | DpoStage) -> int | None:
    """Checkpoints that lie there at once; ``None`` for all. Two at least: the older is taken away before the newer is
    known to be whole."""
    keep = stage.keep_checkpoints
    return None if keep == "all" else max(2, keep or 0)


def _rowed(recipe: Recipe, stage: SftStage | DpoStage, output: Path) -> dict[str, Any]:
    micro = stage.micro_batch or stage.batch_size
    length = {"max_steps": stage.steps} if stage.steps else {"num_train_epochs": stage.epochs}
    return {
        **_common(recipe, stage, output),
        **length,
        "per_device_train_batch_size": micro,
        "gradient_accumulation_steps": stage.batch_size // micro,
    }


def _scheduler(stage: GrpoStage | SftStage | DpoStage) -> str:
    """The library's ``constant`` ignores a warm-up, and no option is ignored here."""
    return "constant_with_warmup" if stage.lr_scheduler == "constant" and stage.warmup_steps else stage.lr_scheduler


# What the recipe has a field for is set there, so that there is one place to look.
_OWNED = {
    *(
        "output_dir",
        "seed",
        "max_steps",
        "num_train_epochs",
        "per_device_train_batch_size",
        "gradient_accumulation_steps",
    ),
    *("num_generations", "max_completion_length", "temperature", "top_p", "top_k", "mask_truncated_completions"),
    *("max_tool_calling_iterations", "use_vllm", "use_transformers_continuous_batching"),
    *(
        "entropy_coef",
        "shuffle_dataset",
        "learning_rate",
        "adam_beta1",
        "lr_scheduler_type",
        "warmup_steps",
        "weight_decay",
    ),
    *(
        "max_grad_norm",
        "save_strategy",
        "save_steps",
        "save_total_limit",
        "report_to",
        "beta",
        "scale_rewards",
        "max_length",
    ),
    *("loss_type", "disable_tqdm", "reward_weights", "logging_steps", "eval_strategy", "do_eval"),
}


def _build(cls: type, fields: dict[str, Any], verbatim: dict[str, Any], index: int) -> Any:
    known = {item.name for item in dataclasses.fields(cls) if item.init}
    for name in verbatim:
        where = f"stages.{index}.trl.{name}"
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            remedy = f"did you mean {near[0]}?" if near else "see TRL's documentation"
            raise InputError(f"unknown field of {cls.__name__}", field=where, remedy=remedy)
        if name in _OWNED and name in fields:
            raise InputError(
                "set by the recipe itself", field=where, remedy=f"use the stage's own fields instead of trl.{name}"
            )
    try:
        return cls(**{**fields, **verbatim})
    except (ValueError, TypeError, NotImplementedError) as error:
        raise InputError(f"TRL refuses these settings: {error}", field=f"stages.{index}") from None
