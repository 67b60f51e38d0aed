"""The demo: the packaged recipe, from an untouched policy to a better one, and what came of it in a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from lydite.evaluation import Summary
from lydite.training.progress import Report
from lydite.training.recipe import Recipe
from lydite.training.recipe_io import load_recipe
from lydite.training.results import TrainResult
from lydite.training.run import train


def demo_recipe(*, seed: int = 0, control: str = "none") -> Recipe:
    """The demo's recipe under a seed and a control (see ``lydite.training.controls``).

    Raises:
        InputError: an unknown control or a seed out of range.
    """
    return packaged_recipe([f"seed={seed}", f"control={control}"])


def packaged_recipe(overrides: Sequence[str]) -> Recipe:
    """The demo's recipe with some fields changed.

    Raises:
        InputError: an override that no recipe may have.
    """
    packaged = resources.files("lydite.training") / "recipes" / "demo.yaml"
    with resources.as_file(packaged) as path:
        return load_recipe(path, overrides)


def demo(recipe: Recipe, out: Path, *, progress: Report | None = None) -> TrainResult:
    """Carry the demo out in a folder; one that was stopped goes on, a finished one gives its result again."""
    return train(recipe, out, resume=(out / "run.json").exists(), progress=progress)


def demo_document(result: TrainResult) -> dict[str, Any]:
    """The result as plain values; rates are fractions, intervals are 95 %."""
    assert result.before is not None
    assert result.after is not None
    assert result.paired is not None
    return {
        "run": result.run,
        "before": _rates(result.before),
        "after": _rates(result.after),
        "paired": {
            "difference": result.paired.difference,
            "low": result.paired.low,
            "high": result.paired.high,
        },
        "groups": {
            "mixed": result.groups.mixed,
            "all_correct": result.groups.all_correct,
            "all_wrong": result.groups.all_wrong,
            "invalid": result.groups.invalid,
        },
        "suspected_hacks": result.suspected_hacks,
        "preference_pairs": result.preference_pairs,
        "seconds": result.seconds,
        "head": result.head,
    }


def _rates(summary: Summary) -> dict[str, float]:
    """pass@1 with its interval, and every other pass@k of the summary."""
    first = summary.at(1).as_wrong
    rates = {"pass@1": first.value, "low": first.low, "high": first.high}
    return rates | {f"pass@{entry.k}": entry.as_wrong.value for entry in summary.pass_at if entry.k != 1}
