"""Supervised fine-tuning and preference optimisation on rows, through TRL's ``SFTTrainer`` and ``DPOTrainer``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset
from trl import DPOTrainer, SFTTrainer

from lydite.errors import InputError
from lydite.training.recipe import Recipe, SftStage
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
    """The trainer of one ``sft`` stage. The loss is on the completion only; in episodes, on what the policy says."""
    return _Sft(
        model=learner.model,
        args=sft_config(recipe, index, output),
        train_dataset=_episodes(rows, learner, recipe, index) if _have_tools(rows) else _dataset(rows, learner),
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


def _have_tools(rows: Sequence[dict[str, Any]]) -> bool:
    return any("tools" in row for row in rows)


def _episodes(rows: Sequence[dict[str, Any]], learner: Learner, recipe: Recipe, index: int) -> Dataset:
    """Rows as tokens, put together as in an episode. Those that are too long are left out: a demonstration that breaks
    off teaches to break off.

    Raises:
        InputError: no row is short enough.
    """
    stage = recipe.stages[index]
    assert isinstance(stage, SftStage)
    made = [tokens_of(learner.tokenizer, row) for row in rows]
    short = [
        {"input_ids": ids, "labels": labels}
        for ids, labels in made
        if stage.max_length is None or len(ids) <= stage.max_length
    ]
    if not short:
        least = min(len(ids) for ids, _ in made)
        raise InputError(
            f"every demonstration is longer, the shortest has {least} tokens", field=f"stages.{index}.max_length"
        )
    return Dataset.from_list(short)


def tokens_of(tokenizer: Any, row: dict[str, Any]) -> tuple[list[int], list[int]]:
    """An episode as tokens, and the labels: what the policy says is learned, with the end of each turn; -100 elsewhere.

    Raises:
        InputError: the chat template is not prefix-preserving.
    """
    prompt, completion = list(row["prompt"]), list(row["completion"])

    def rendered(count: int, *, opened: bool) -> list[int]:
        ids: list[int] = tokenizer.apply_chat_template(
            prompt + completion[:count],
            tools=row.get("tools"),
            add_generation_prompt=opened,
            tokenize=True,
            return_dict=False,
        )
        return ids

    ids: list[int] = []
    labels: list[int] = []
    for number, message in enumerate(completion):
        if message["role"] != "assistant":
            continue
        before, after = rendered(number, opened=True), rendered(number + 1, opened=False)
        if after[: len(before)] != before or before[: len(ids)] != ids:
            raise InputError("the chat template is not prefix-preserving", field="policy", remedy="lydite models check")
        turn = after[len(before) :]
        if tokenizer.eos_token_id in turn:
            turn = turn[: len(turn) - turn[::-1].index(tokenizer.eos_token_id)]
        labels += [-100] * (len(before) - len(ids)) + turn
        ids = before + turn
    return ids, labels


def _dataset(rows: Sequence[dict[str, Any]], learner: Learner) -> Dataset:
    """Rows of messages, or plain texts for a policy without a chat template, as when it is sampled."""
    if not learner.plain:
        return Dataset.from_list(list(rows))
    return Dataset.from_list(
        [{name: "\n\n".join(message["content"] for message in part) for name, part in row.items()} for row in rows]
    )
