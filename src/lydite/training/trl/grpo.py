"""Group-relative policy optimisation through TRL's ``GRPOTrainer``: what DAPO needs that TRL has not, and episodes.

The subclass overrides three methods. ``_generate_and_score_completions`` is called once per batch of completions, with
the prompts repeated ``num_generations`` times in a row; dynamic sampling repeats it until the batch holds groups that
can teach. ``_tool_call_loop`` is ours (``turns``). ``create_model_card`` is switched off: this project writes its own.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from trl import GRPOTrainer
from trl.trainer.utils import pad

from lydite.environments import Environment
from lydite.policies.decoding import completion_text
from lydite.policies.messages import to_chat
from lydite.policies.toolcalls import offered
from lydite.task import Task
from lydite.training.curriculum import Schedule
from lydite.training.presets import uses_dynamic_sampling
from lydite.training.recipe import GrpoStage, Recipe
from lydite.training.trl.callbacks import Keep
from lydite.training.trl.config import grpo_config
from lydite.training.trl.environment import environment_class
from lydite.training.trl.model import Learner
from lydite.training.trl.reward import RewardColumn
from lydite.training.trl.turns import play


class Trainer(GRPOTrainer):  # type: ignore[misc]
    """TRL's trainer with dynamic sampling (DAPO, arXiv 2503.14476, section 3.2).

    With ``max_rounds`` above 1, groups whose rewards do not differ are thrown away and other prompts are sampled in
    their place, for at most that many rounds; then groups without contrast fill the batch (they give no gradient).
    Contrast is asked of the rewards before any length penalty. Every discarded attempt is in the ledger too.
    """

    column: RewardColumn
    max_rounds: int = 1
    spare_seed: str = ""
    curriculum: Schedule | None = None
    rows: Sequence[dict[str, Any]] = ()
    threads: Executor

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        if not self.model.training:
            return self._scored(inputs)
        size = self.num_generations
        wanted = len(inputs) // size
        if self.curriculum is not None:
            inputs = self._chosen(wanted)
        if self.max_rounds == 1:
            return self._scored(inputs)
        chance = random.Random(f"{self.spare_seed}/{self.state.global_step}")  # a function of the step: resumes alike
        kept: list[dict[str, Any]] = []
        spare: list[dict[str, Any]] = []
        rounds = 0
        while len(kept) < wanted and rounds < self.max_rounds:
            if rounds:
                prompts = [self.train_dataset[chance.randrange(len(self.train_dataset))] for _ in range(wanted)]
                inputs = self._chosen(wanted) or [row for row in prompts for _ in range(size)]
            rounds += 1
            output = self._scored(inputs)
            for position, contrast in enumerate(self.column.contrast):
                group = _rows(output, position * size, size)
                earned = self.column.rewards[position * size : (position + 1) * size]
                group["rewards"] = torch.tensor([torch.nan if one is None else one for one in earned])
                (kept if contrast else spare).append(group)
        metrics = self._metrics["train"]
        metrics["dynamic/rounds"].append(rounds)
        metrics["dynamic/extra_rollouts"].append((rounds - 1) * wanted * size)
        metrics["dynamic/unfilled_groups"].append(max(0, wanted - len(kept)))
        return self._joined((kept + spare)[:wanted])

    def _scored(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """One round; whatever ends it early, no world stays open."""
        try:
            output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        except BaseException:
            self.close_worlds()
            raise
        if self.curriculum is not None and self.model.training:
            size = self.num_generations
            for start in range(0, len(inputs), size):
                self.curriculum.record(inputs[start]["task"], self.column.scores[start : start + size])
            for name, value in self.curriculum.shares().items():
                self._metrics["train"][name].append(value)
        return output

    def _chosen(self, wanted: int) -> list[dict[str, Any]]:
        """Prompts that the curriculum chooses; none where there is no curriculum."""
        chosen = self.curriculum.next(wanted) if self.curriculum is not None else []
        return [dict(self.rows[position]) for position in chosen for _ in range(self.num_generations)]

    def close_worlds(self) -> None:
        """Leave every world that an attempt is still in."""
        for pool in getattr(self, "_environment_pool", {}).values():
            for world in pool:
                world._close()

    def _tool_call_loop(
        self, prompts: Any, prompt_ids: Any, completion_ids: Any, completions: Any, logprobs: Any, *_images: Any
    ) -> tuple[Any, ...]:
        """See ``turns``. The same results as TRL's own: masks, messages, tokens, log-probabilities, calls, failures."""
        rows = play(self, prompt_ids, completion_ids, logprobs, self.threads)
        calls = failed = 0
        masks = [[1] * len(ids) for ids in completion_ids]
        for number, row in enumerate(rows):
            if row is None:
                continue
            masks[number], completion_ids[number] = row.mask, row.ids
            completions[number] = to_chat(row.trail.said, arguments_as_text=False)
            if logprobs is not None:
                logprobs[number] = row.logprobs
            calls += len(row.trail.seconds) + row.trail.malformed
            failed += row.trail.failed + row.trail.malformed
        return masks, completions, completion_ids, logprobs, calls, failed, [[] for _ in completion_ids]

    def _joined(self, groups: list[dict[str, Any]]) -> dict[str, Any]:
        """One batch from groups of different rounds, padded anew: prompts on the left, everything else on the right."""
        batch: dict[str, Any] = {}
        for name in groups[0]:
            rows = [row for group in groups for row in group[name]]
            if rows[0].dim() == 0:
                batch[name] = torch.stack(rows)
            else:
                value = self._tokenizer.pad_token_id if name.endswith("_ids") else int(name == "tool_mask")
                batch[name] = pad(
                    rows, padding_value=value, padding_side="left" if name.startswith("prompt") else "right"
                )
        rewards = batch.pop("rewards")
        if self.scale_rewards == "batch":  # of the batch that is learned from, not of the rounds it was found in
            batch["advantages"] = scaled_by_batch(rewards, self.num_generations).to(batch["advantages"])
        mask = batch["completion_mask"] * batch.get("tool_mask", 1)
        batch["num_items_in_batch"] = self.accelerator.gather(mask.sum()).sum()
        return batch

    def create_model_card(self, *_args: Any, **_kwargs: Any) -> None:
        """Nothing: see ``lydite.training.card``."""


def scaled_by_batch(rewards: torch.Tensor, size: int) -> torch.Tensor:
    """Advantages as TRL has them for ``scale_rewards: batch``: (reward - group mean) / (std of all + 1e-4). NaN, a
    sample without a reward, is left out of both and gets 0.

    Args:
        rewards: shape (groups * size,), groups in a row.
        size: samples of one group.
    """
    means = rewards.view(-1, size).nanmean(dim=1).repeat_interleave(size)
    known = rewards[~rewards.isnan()]
    std = known.std() if known.numel() > 1 else rewards.new_zeros(())
    return ((rewards - means) / (std + 1e-4)).nan_to_num(nan=0.0)


def _rows(output: dict[str, Any], start: int, size: int) -> dict[str, Any]:
    return {
        name: value[start : start + size]
        for name, value in output.items()
        if isinstance(value, torch.Tensor) and value.dim() > 0
    }


def grpo_trainer(
    recipe: Recipe,
    index: int,
    learner: Learner,
    tasks: Sequence[Task],
    column: RewardColumn,
    output: Path,
    callbacks: list[Any],
    environments: Mapping[str, Environment | None],
    threads: Executor,
    curriculum: Schedule | None = None,
) -> Trainer:
    """The trainer of one ``grpo`` stage, ready to ``train``.

    Args:
        recipe: the recipe.
        index: number of the stage.
        learner: the policy.
        tasks: what to train on.
        column: the reward.
        output: folder of checkpoints.
        callbacks: for TRL.
        environments: those that the tasks name, by name; empty when all tasks are answered in text.
        threads: where worlds are set up, and tools called.
        curriculum: chooses the tasks; without, they take turns.
    """
    stage = recipe.stages[index]
    assert isinstance(stage, GrpoStage)
    limit = stage.max_tool_calling_iterations
    worlds = {name: environment_class(one, tasks, threads, limit=limit) for name, one in environments.items()}
    rows = prompt_rows(tasks, chat=not learner.plain)
    trainer = Trainer(
        model=learner.model,
        reward_funcs=[column.score],
        args=grpo_config(recipe, index, output, tasks=len(tasks)),
        train_dataset=prompts(rows, stage, seed=f"{recipe.seed}/{index}"),
        processing_class=learner.tokenizer,
        callbacks=[*([Keep(curriculum.save)] if curriculum is not None else []), *callbacks],
        environment_factory=worlds or None,
    )
    trainer.threads, trainer.curriculum, trainer.rows = threads, curriculum, rows
    if worlds:  # prompts tell of tools in the very words in which they do when a policy is measured
        trainer._env_tools = {name: offered(one.tools) if one else [] for name, one in environments.items()}
    column.eos = frozenset(trainer.eos_token_ids)
    column.decode = partial(completion_text, learner.tokenizer)
    trainer.column = column
    if uses_dynamic_sampling(stage):
        trainer.max_rounds = stage.max_rounds
        trainer.spare_seed = f"{recipe.seed}/{index}"
    return trainer


def prompt_rows(tasks: Sequence[Task], *, chat: bool) -> list[dict[str, Any]]:
    """A row per task: its prompt, its position, and what it takes place in."""
    return [
        {
            "prompt": to_chat(task.prompt, arguments_as_text=False) if chat else task.prompt_text,
            "task": position,
            "environment": task.env,
        }
        for position, task in enumerate(tasks)
    ]


def prompts(rows: list[dict[str, Any]], stage: GrpoStage, *, seed: str) -> Dataset:
    """The whole stage's prompts, in the order in which they will be asked, one row per group.

    All steps lie within one epoch of this data set, so a resumed run skips to its place exactly. (TRL's own sampler
    shuffles every epoch from the start: resuming in the second epoch would repeat the first one's order.) Rows hold the
    prompt and the task's position and nothing else: no reference answer comes near the trainer. With a curriculum the
    rows only say how many groups there are in each step.
    """
    return Dataset.from_list(rows).select(schedule(len(rows), stage.steps(len(rows)) * stage.prompts, seed))


def schedule(count: int, length: int, seed: str) -> list[int]:
    """``length`` positions out of ``count``: one seeded permutation after another."""
    chance = random.Random(seed)
    order: list[int] = []
    while len(order) < length:
        order.extend(chance.sample(range(count), count))
    return order[:length]
