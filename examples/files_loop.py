"""Training on files in a workspace: demonstrations first, then rewards for what a policy leaves behind.

    python examples/files_loop.py [-o runs/files] [--seed 0] [--smoke]

Carries out ``files_loop.yaml`` and prints what held-out tasks say: before, after the demonstrations, at the end, with
paired intervals. A run that was stopped goes on with the same command. ``--smoke`` is a run of a few steps that shows
that everything works, and nothing else.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from lydite.evaluation import Paired, Summary
from lydite.training import Progress, load_recipe, train

SMOKE = [
    "tasks.train.n=60",
    "evaluation={n: 2, k: [1], limit: 4, max_tokens: 96}",
    "stages.0.steps=2",
    "stages.0.limit=8",
    "stages.0.batch_size=4",
    "stages.1.optimizer_steps=2",
    "stages.1.num_generations=4",
    "stages.1.prompts_per_step=2",
    "stages.1.max_completion_length=160",
    "stages.1.max_rounds=2",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", type=Path, default=Path("runs/files"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("overrides", nargs="*", help="fields of the recipe, as for lydite train: a.b=c")
    options = parser.parse_args()
    changes = [f"seed={options.seed}", *(SMOKE if options.smoke else []), *options.overrides]
    recipe = load_recipe(Path(__file__).with_suffix(".yaml"), changes)
    result = train(recipe, options.out, resume=(options.out / "run.json").exists(), progress=show)
    assert result.before is not None
    assert result.after is not None
    assert result.paired is not None
    print(f"before     pass@1 {rate(result.before)}")
    for stage in result.between:
        print(f"after {stage.kind:4} pass@1 {rate(stage.summary)}  gained {points(stage.gained)}")
        print(f"           what came after it added {points(stage.to_come)}")
    print(f"at the end pass@1 {rate(result.after)}")
    print(f"all in all {points(result.paired)}, {result.paired.tasks} held-out tasks, {result.seconds:.0f} s")
    print(f"run: {result.run}")


def show(progress: Progress) -> None:
    if progress.metrics and (progress.done % 10 == 0 or progress.done == progress.total):
        shown = {"reward": "reward", "tools/malformed_rate": "malformed", "loss": "loss"}
        values = [f"{word} {progress.metrics[name]:.3f}" for name, word in shown.items() if name in progress.metrics]
        print(f"{progress.part} {progress.done}/{progress.total}: {', '.join(values)}", flush=True)


def rate(summary: Summary) -> str:
    found = summary.at(1).as_wrong
    return f"{found.value:.1%} [{found.low:.1%}, {found.high:.1%}]"


def points(paired: Paired) -> str:
    return f"{100 * paired.difference:+.1f} points [{100 * paired.low:+.1f}, {100 * paired.high:+.1f}]"


if __name__ == "__main__":
    main()
