"""Lydite's verdicts in TRL's own trainer: no recipe, no run of ours, one reward function.

    python examples/trl_reward.py [--steps 10] [-o runs/trl]

The built-in policy is trained on arithmetic by `trl.GRPOTrainer`. Each row of the data set brings its own checker, as
JSON text. Every attempt and verdict goes into the folder, which `lydite ledger verify` and `lydite show` read.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from datasets import Dataset
from transformers import TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from lydite.exports import trl_reward
from lydite.policies.weights import load_local
from lydite.tasksets import generate


class Report(TrainerCallback):
    """Prints what the reward function logged. Invalid verdicts are ours: they are in no mean."""

    def on_log(self, args, state, control, logs=None, **others):
        if logs and "lydite/correct" in logs:
            correct, invalid = (round(100 * logs[f"lydite/{name}"]) for name in ("correct", "invalid"))
            print(f"step {state.global_step}: correct {correct} %, invalid {invalid} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("-o", "--out", type=Path, default=Path("runs/trl"))
    options = parser.parse_args()

    rows = [
        {
            "prompt": [{"role": "user", "content": task.prompt_text}],
            "checker": json.dumps({"type": task.checker.type, "config": task.checker.config}),
        }
        for task in generate("arithmetic", levels=[1, 2], n=200, seed=0)
    ]
    reward = trl_reward(ledger=options.out)
    reward.check(rows)  # a faulty checker is found now, not at step 900

    model, tokenizer = load_local("builtin:tiny")
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=reward,
        args=GRPOConfig(
            output_dir=f"{options.out}-trainer",  # TRL's own files; the run folder holds nothing but the run
            max_steps=options.steps,
            per_device_train_batch_size=32,
            num_generations=8,
            max_completion_length=72,
            learning_rate=2e-4,
            logging_steps=1,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        callbacks=[Report()],
    )
    trainer.train()
    reward.close()


if __name__ == "__main__":
    main()
