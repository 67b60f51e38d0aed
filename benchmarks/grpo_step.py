"""GRPO step time of a recipe against a hand-written TRL script with the same settings, interleaved in one run.

    python benchmarks/grpo_step.py [--policy builtin:tiny] [--rounds 4] [--steps 12]

Both sides start from the same weights, see the same prompts in the same order and sample with the same seed, so that
they generate the same tokens. The script's reward is a string comparison; the recipe's is the whole path: verifier,
detectors, reward scheme, rollouts and ledger written and synced. A step is the time from one log line to the next;
the first two of each round are left out. Prints medians and their ratio, of wall clock and
of processor time; the goal is at most 1.05.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

WARMUP = 2
Moment = tuple[float, float]


def recipe_times(policy: str, steps: int, folder: Path) -> list[Moment]:
    """Seconds per step of ``lydite.training.train``."""
    from lydite.training import Progress, parse_recipe, train

    times: list[Moment] = []

    def report(progress: Progress) -> None:
        times.append(now())

    recipe = parse_recipe(
        {
            "policy": policy,
            "tasks": {"train": {"family": "arithmetic", "levels": [1, 2], "n": 400}, "eval_fraction": 0},
            "evaluation": None,
            "stages": [
                {
                    "kind": "grpo",
                    "steps": steps,
                    "num_generations": 8,
                    "prompts_per_step": 8,
                    "max_completion_length": 72,
                    "learning_rate": 1e-3,
                    "loss_type": "grpo",
                    "entropy_coef": 0.0,
                    "save_every": 10_000,
                }
            ],
        }
    )
    train(recipe, folder, progress=report)
    return differences(times)


def script_times(policy: str, steps: int, folder: Path) -> list[Moment]:
    """Seconds per step of what one would write by hand."""
    import torch
    from datasets import Dataset
    from peft import LoraConfig, get_peft_model
    from transformers import PrinterCallback, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    from lydite.policies.weights import load_local
    from lydite.tasksets import generate
    from lydite.training.trl.grpo import schedule

    tasks = generate("arithmetic", levels=[1, 2], n=400, seed=0)
    rows = [
        {"prompt": [{"role": "user", "content": task.prompt_text}], "gold": task.checker.config["answer"]}
        for task in tasks
    ]
    times: list[Moment] = []

    class Clock(TrainerCallback):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any], **_: Any) -> None:
            if "loss" in logs:
                times.append(now())

    def reward(completions: list[Any], gold: list[str], **_: Any) -> list[float]:
        said = [completion[0]["content"].rpartition("\\boxed{")[2].partition("}")[0] for completion in completions]
        return [1.0 if answer == right else -0.1 for answer, right in zip(said, gold, strict=True)]

    model, tokenizer = load_local(policy)
    torch.manual_seed(0)
    lora = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")
    trainer = GRPOTrainer(
        model=get_peft_model(model, lora),
        reward_funcs=reward,
        train_dataset=Dataset.from_list(rows).select(schedule(len(rows), steps * 8, "0/0")),
        processing_class=tokenizer,
        callbacks=[Clock()],
        args=GRPOConfig(
            output_dir=str(folder),
            seed=0,
            max_steps=steps,
            per_device_train_batch_size=64,
            num_generations=8,
            max_completion_length=72,
            learning_rate=1e-3,
            lr_scheduler_type="constant",
            loss_type="grpo",
            shuffle_dataset=False,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            bf16=False,
            use_cpu=not torch.cuda.is_available(),
            gradient_checkpointing=False,
            disable_tqdm=True,
        ),
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return differences(times)


def now() -> tuple[float, float]:
    """Wall clock, and processor time of this process: on a busy machine only the second one is comparable."""
    return time.perf_counter(), time.process_time()


def differences(times: list[Moment]) -> list[Moment]:
    """Time from each log line to the next, the first ones left out."""
    return [(later[0] - first[0], later[1] - first[1]) for first, later in pairwise(times)][WARMUP - 1 :]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--policy", default="builtin:tiny")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=12)
    options = parser.parse_args()

    from lydite.training.trl.quiet import hush

    hush()
    found: dict[str, list[Moment]] = {"recipe": [], "script": []}
    with tempfile.TemporaryDirectory() as name:
        for round_ in range(options.rounds):
            order = ("recipe", "script") if round_ % 2 == 0 else ("script", "recipe")
            for side in order:
                measure = recipe_times if side == "recipe" else script_times
                found[side] += measure(options.policy, options.steps, Path(name) / f"{side}-{round_}")
    result: dict[str, Any] = {"steps": {side: len(times) for side, times in found.items()}}
    for number, clock in enumerate(("wall", "cpu")):
        medians = {side: statistics.median(moment[number] for moment in times) for side, times in found.items()}
        result[clock] = {side: round(value, 4) for side, value in medians.items()}
        result[clock]["ratio"] = round(medians["recipe"] / medians["script"], 3)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
