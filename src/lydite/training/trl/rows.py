"""Supervised fine-tuning and preference optimisation on rows, through TRL's ``SFTTrainer`` and ``DPOTrainer``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset
from trl import DPOTrainer, SFTTrainer

from lydite.training.recipe import Recipe
from lydite.training.trl.config import dpo_config, sft_config
from lydite.training.trl.model import Learner


class _Sft(SFTTrainer):  # type: ignore[misc]
    def create_model_card(self, *_args: Any, **_kwargs: Any) -> None:
        """Nothing: see ``lydite.training.card``."""


class _Dpo(DPOTrainer):  # type: ignore[misc]
    def create_model_card(self, *_args: Any, **_kwargs: Any) -> None:
        """Nothing: see ``lydite.training.card``."""


def sft_trainer(
    recipe: Recipe,
    index: int,
    learner: Learner,
    rows: Sequence[dict[str, Any]],
    output: Path,
    callbacks: list[Any],
) -> Any:
    """The trainer of one ``sft`` stage. The loss is on the completion only."""
    return _Sft(
        model=learner.model,
        args=sft_config(recipe, index, output),
        train_dataset=_dataset(rows, learner),
        processing_class=learner.tokenizer,
        callbacks=callbacks,
    )


def dpo_trainer(
    recipe: Recipe,
    index: int,
    learner: Learner,
    rows: Sequence[dict[str, Any]],
    output: Path,
    callbacks: list[Any],
) -> Any:
    """The trainer of one ``dpo`` stage. The reference is the policy as it is when the stage begins."""
    return _Dpo(
        model=learner.model,
        args=dpo_config(recipe, index, output),
        train_dataset=_dataset(rows, learner),
        processing_class=learner.tokenizer,
        callbacks=callbacks,
    )


def _dataset(rows: Sequence[dict[str, Any]], learner: Learner) -> Dataset:
    """Rows of messages, or plain texts for a policy without a chat template, as when it is sampled."""
    if not learner.plain:
        return Dataset.from_list(list(rows))
    return Dataset.from_list(
        [{name: "\n\n".join(message["content"] for message in part) for name, part in row.items()} for row in rows]
    )
