"""GRPO step time with environments against the same TRL script with an environment that does nothing.

    python benchmarks/grpo_episodes.py [--policy builtin:tiny] [--rounds 3] [--steps 8]

Both sides start from the same weights, see the same tasks of the family ``files`` (level 1) in the same order, and
offer the same four tools. So that both do the same work, what is said is written here: four calls of ``write_file``,
then an answer. The policy generates as many tokens each time, at its own pace, and they are replaced. The script's
environment answers in the words of the workspace and does nothing; its reward is a string comparison. The recipe has
the whole path: a workspace per attempt in the sandbox, the check of what was left, detectors, ledger and states.

A step is the time from one log line to the next; the first of each round are left out. Printed are medians of the
processor time of the trainer's process, which leaves out what the sandbox's own processes use (goal: at most 1.1x),
and of wall clock, beside the seconds per step of the sandbox's calls and checks (several at a time: an upper bound of
what they add).
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

WARMUP = 2
GROUP, PROMPTS, LENGTH, CALLS = 8, 2, 640, 4
SAID = '<tool_call>{"name": "write_file", "arguments": {"path": "a.txt", "content": "red"}}</tool_call>'
Moment = tuple[float, float]


class Side:
    """What one side took: seconds per step, tokens of a completion, calls of a completion."""

    def __init__(self) -> None:
        self.steps: list[Moment] = []
        self.tokens: list[float] = []
        self.calls: list[float] = []
        self.sandbox: list[float] = []

    def add(self, times: list[Moment], logs: list[dict[str, float]]) -> None:
        self.steps += [(after[0] - first[0], after[1] - first[1]) for first, after in pairwise(times)][WARMUP - 1 :]
        for values in logs[WARMUP:]:
            self.tokens.append(values["completions/mean_length"])
            self.calls.append(values.get("tools/call_frequency", 0.0))
            self.sandbox.append(values.get("sandbox/call_seconds", 0.0) + values.get("sandbox/check_seconds", 0.0))


def recipe_of(policy: str, stage: dict[str, Any]) -> Any:
    """A recipe with one stage on tasks of level 1."""
    from lydite.training import parse_recipe

    tasks = {"train": {"family": "files", "levels": [1], "n": 200}, "eval_fraction": 0}
    return parse_recipe({"policy": policy, "lora": None, "tasks": tasks, "evaluation": None, "stages": [stage]})


def written() -> None:
    """Have every trainer say what is written here, after the policy has generated as many tokens."""
    from trl import GRPOTrainer

    real = GRPOTrainer._generate_single_turn

    def generate(self: Any, prompt_ids: list[list[int]], *rest: Any, **more: Any) -> tuple[list[list[int]], None]:
        asked = self._tokenizer.decode(prompt_ids[0])
        said = SAID if asked.count("bytes to a.txt") < CALLS else "Done."
        ids = self._tokenizer(said, add_special_tokens=False)["input_ids"] + [self._tokenizer.eos_token_id]
        config = self.generation_config
        before = config.max_new_tokens, config.min_new_tokens
        config.max_new_tokens = config.min_new_tokens = len(ids)
        try:
            real(self, prompt_ids, *rest, **more)
        finally:
            config.max_new_tokens, config.min_new_tokens = before
        return [list(ids) for _ in prompt_ids], None

    GRPOTrainer._generate_single_turn = generate


def of_recipe(policy: str, steps: int, folder: Path, side: Side) -> None:
    """A round of ``lydite.training.train``."""
    from lydite.training import Progress, train

    times: list[Moment] = []
    logs: list[dict[str, float]] = []

    def report(progress: Progress) -> None:
        times.append(now())
        logs.append(progress.metrics or {})

    stage = {
        "kind": "grpo",
        "env": "workspace",
        "steps": steps,
        "num_generations": GROUP,
        "prompts_per_step": PROMPTS,
        "max_completion_length": LENGTH,
        "max_tool_calling_iterations": CALLS + 2,
        "loss_type": "grpo",
        "entropy_coef": 0.0,
        "learning_rate": 1e-5,
        "save_every": 10_000,
    }
    train(recipe_of(policy, stage), folder, progress=report)
    side.add(times, logs)


class Nothing:
    """An environment that does nothing."""

    def reset(self, **row: Any) -> None:
        """Begin."""

    def list_dir(self, path: str = "") -> str:
        """List the names in a folder of the workspace. Folders end in a slash.

        Args:
            path: The folder, relative to the workspace. Leave it out for the workspace itself.
        """
        return "(no output)"

    def read_file(self, path: str) -> str:
        """Read a text file of the workspace.

        Args:
            path: The file, relative to the workspace.
        """
        return "(no output)"

    def run_command(self, command: str) -> str:
        """Run a shell command in the workspace and return what it prints, and its exit code if that is not 0.

        Args:
            command: The command, as one line of a shell.
        """
        return "(no output)"

    def write_file(self, path: str, content: str) -> str:
        """Write a text file in the workspace. It is made, or replaced, with the folders above it.

        Args:
            path: The file, relative to the workspace.
            content: All of its text.
        """
        return f"wrote {len(content.encode())} bytes to {path}"


def of_script(policy: str, steps: int, folder: Path, side: Side) -> None:
    """A round of what one would write by hand."""
    import torch
    from datasets import Dataset
    from transformers import PrinterCallback, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    from lydite.environments.workspace import TOOLS
    from lydite.policies.toolcalls import offered
    from lydite.policies.weights import load_local
    from lydite.tasksets import generate
    from lydite.training.trl.grpo import schedule
    from lydite.training.trl.templates import offer_tools

    tasks = generate("files", levels=[1], n=200, seed=0)
    rows = [{"prompt": [{"role": "user", "content": task.prompt_text}], "word": task.id[-1]} for task in tasks]
    times: list[Moment] = []
    kept: list[dict[str, float]] = []

    class Clock(TrainerCallback):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any], **_: Any) -> None:
            if "loss" in logs:
                times.append(now())
                kept.append(dict(logs))

    def reward(completions: list[Any], word: list[str], **_: Any) -> list[float]:
        return [float(one in completion[-1]["content"]) for completion, one in zip(completions, word, strict=True)]

    model, tokenizer = load_local(policy)
    offer_tools(tokenizer)
    torch.manual_seed(0)
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=reward,
        train_dataset=Dataset.from_list(rows).select(schedule(len(rows), steps * PROMPTS, "0/0")),
        processing_class=tokenizer,
        callbacks=[Clock()],
        environment_factory=Nothing,
        args=GRPOConfig(
            output_dir=str(folder),
            seed=0,
            max_steps=steps,
            per_device_train_batch_size=GROUP * PROMPTS,
            num_generations=GROUP,
            max_completion_length=LENGTH,
            max_tool_calling_iterations=CALLS + 2,
            learning_rate=1e-5,
            lr_scheduler_type="constant",
            loss_type="grpo",
            beta=0.0,
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
    for name, tools in getattr(trainer, "_env_tools", {}).items():  # the prompt in the very same words
        trainer._env_tools[name] = offered([tool.tool for tool in TOOLS.values()]) or tools
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    side.add(times, kept)


def now() -> Moment:
    """Wall clock, and processor time of this process."""
    return time.perf_counter(), time.process_time()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--policy", default="builtin:tiny")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    options = parser.parse_args()

    from lydite.training.trl.quiet import hush

    hush()
    written()
    sides = {"recipe": Side(), "script": Side()}
    measures: dict[str, Callable[[str, int, Path, Side], None]] = {"recipe": of_recipe, "script": of_script}
    with tempfile.TemporaryDirectory() as name:
        for number in range(options.rounds):
            for side in ("recipe", "script") if number % 2 == 0 else ("script", "recipe"):
                measures[side](options.policy, options.steps, Path(name) / f"{side}-{number}", sides[side])
    result: dict[str, Any] = {}
    tokens = {name: statistics.median(side.tokens) for name, side in sides.items()}
    for place, clock in enumerate(("wall", "cpu")):
        medians = {name: statistics.median(step[place] for step in side.steps) for name, side in sides.items()}
        ratio = medians["recipe"] / medians["script"]
        result[clock] = {name: round(value, 3) for name, value in medians.items()}
        result[clock]["ratio"] = round(ratio, 3)
    result["tokens"] = {name: round(value, 1) for name, value in tokens.items()}
    result["calls"] = {name: round(statistics.median(side.calls), 2) for name, side in sides.items()}
    result["sandbox seconds"] = round(statistics.median(sides["recipe"].sandbox), 3)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
