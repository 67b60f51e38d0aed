"""How much of a job is done, and when it will be over."""

from __future__ import annotations

import time

from lydite.training.recipe import GrpoStage, Recipe, SampleStage

LEARNED = 3.0
"""What a completion that is sampled and learned from costs, where one that is sampled costs 1."""
_FIRST = 5.0
"""Seconds that are watched before anything is foretold."""


def work(recipe: Recipe, train: int, held_out: int) -> dict[str, float]:
    """The parts of a run (see ``training.Progress``) in their order, and what each costs, in completions.

    Args:
        recipe: the recipe.
        train: how many training tasks there are.
        held_out: how many tasks are measured on.
    """
    measured = recipe.evaluation
    once = float(measured.n * min(measured.limit or held_out, held_out)) if measured else 0.0
    parts = {"before": once}
    for index, stage in enumerate(recipe.stages):
        name = f"{index} {stage.kind}"
        if isinstance(stage, SampleStage):
            parts[f"sample-{index}"] = float(stage.n * min(stage.limit or train, train))
        elif isinstance(stage, GrpoStage):
            parts[name] = LEARNED * stage.steps(train) * stage.completions_per_step
        else:
            parts[name] = float(stage.batch_size * stage.steps) if stage.steps else (stage.epochs or 1.0) * train
        if not isinstance(stage, SampleStage) and stage.evaluate and index + 1 < len(recipe.stages):
            parts[f"after-{index}"] = once
    return {**parts, "after": once}


class Pace:
    """Turns reports of parts into a share of the whole and a time of its end."""

    def __init__(self, parts: dict[str, float]) -> None:
        self._total = sum(parts.values()) or 1.0
        self._parts, self._before, passed = parts, dict[str, float](), 0.0
        for name, cost in parts.items():
            self._before[name] = passed
            passed += cost
        self._first: tuple[float, float] | None = None

    def share(self, part: str, done: int, total: int) -> float:
        """How much of the whole is done, 0 to 1."""
        if part not in self._parts:
            return 0.0
        here = self._parts[part] * min(1.0, done / total if total else 0.0)
        return (self._before[part] + here) / self._total

    def estimate(self, share: float, now: float | None = None) -> float | None:
        """When all will be done, in seconds since the epoch, by what this session did since its first report."""
        now = time.time() if now is None else now
        if self._first is None:
            self._first = now, share
        since, start = self._first
        if now - since < _FIRST or share <= start:
            return None
        return now + (now - since) * (1.0 - share) / (share - start)
