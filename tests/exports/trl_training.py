"""TRL's own trainer on a policy of two layers, for tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "training"))

SETTINGS: dict[str, Any] = {
    "per_device_train_batch_size": 4,
    "num_generations": 4,
    "max_completion_length": 10,
    "max_steps": 2,
    "logging_steps": 1,
    "learning_rate": 1e-3,
    "use_cpu": True,
    "bf16": False,
    "gradient_checkpointing": False,
    "save_strategy": "no",
    "report_to": "none",
    "disable_tqdm": True,
    "loss_type": "grpo",
}


def save_tiny(folder: Path) -> Path:
    """A model that says ``\\boxed{0}`` or ``\\boxed{1}``, and its tokenizer."""
    from tiny_llama import make_model, make_tokenizer

    tokenizer = make_tokenizer()
    make_model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def trainer(
    tiny: Path, rows: list[dict[str, Any]], reward: Any, output: Path, kind: str = "GRPO", **settings: Any
) -> Any:
    """``trl.GRPOTrainer`` (or ``RLOO``), ready to train."""
    import trl
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from lydite.training.trl.quiet import hush

    hush()
    fields = {**SETTINGS, **settings}
    if kind == "RLOO":
        fields.pop("loss_type")
    return getattr(trl, f"{kind}Trainer")(
        model=AutoModelForCausalLM.from_pretrained(tiny),
        reward_funcs=reward,
        args=getattr(trl, f"{kind}Config")(output_dir=str(output), **fields),
        train_dataset=Dataset.from_list(rows),
        processing_class=AutoTokenizer.from_pretrained(tiny),
    )
