"""Which curves a run has, and the files that hold them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lydite.evaluation.curves import Series, line_chart
from lydite.evaluation.summary import Summary, group_counts
from lydite.verdict import Outcome

if TYPE_CHECKING:
    from lydite.evaluation.collect import Collected
    from lydite.evaluation.tally import Tally

_RATE = (0.0, 1.0)
_Reading = Callable[["Tally"], float | None]


def _success(step: Tally) -> float | None:
    valid = step.attempts - step.invalid
    return step.outcomes[Outcome.CORRECT] / valid if valid else None


def _reward(step: Tally) -> float | None:
    rewards = [reward for group in step.groups.values() for reward in group.rewards if reward is not None]
    return sum(rewards) / len(rewards) if rewards else None


def _length(step: Tally) -> float | None:
    return step.completion_tokens / step.counted if step.counted else None


# File name, title, name of the y axis, its range, what it reads off a step.
_STEPS: tuple[tuple[str, str, str, tuple[float, float] | None, _Reading], ...] = (
    ("success", "Success in training", "correct / valid attempts", _RATE, _success),
    ("reward", "Mean reward", "reward", None, _reward),
    (
        "frac_reward_zero_std",
        "Groups without a gradient",
        "frac_reward_zero_std",
        _RATE,
        lambda step: group_counts(step.groups.values()).frac_reward_zero_std,
    ),
    ("length", "Length of completions", "tokens", None, _length),
    ("truncated", "Truncated completions", "share", _RATE, lambda step: step.truncated / step.attempts),
    ("flagged", "Flagged attempts", "share", _RATE, lambda step: step.flagged / step.attempts),
)
_METRICS = {
    "loss": "Loss",
    "kl": "KL from the reference policy",
    "entropy": "Entropy",
    "grad_norm": "Norm of the gradient",
}


def draw(
    folder: Path, found: Collected, metrics: Sequence[Mapping[str, Any]], measured: Mapping[str, Summary]
) -> list[tuple[str, str]]:
    """Draw every curve that the run has data for into ``folder``; gives (title, file name) of each.

    Args:
        folder: made when the first chart is written.
        found, metrics, measured: see ``charts``.
    """
    drawn = charts(found, metrics, measured)
    for name, _, svg in drawn:
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
    return [(title, f"{name}.svg") for name, title, _ in drawn]


def charts(
    found: Collected, metrics: Sequence[Mapping[str, Any]], measured: Mapping[str, Summary]
) -> list[tuple[str, str, str]]:
    """Every curve that the run has data for: name, title and SVG document of each.

    Args:
        found: the run's counts; success, reward, length and the like per training step come from the ledger itself.
        metrics: lines of ``metrics.jsonl``; loss, KL and the like come from the trainer.
        measured: per measured part of the run its summary, for pass@k over k.
    """
    drawn: list[tuple[str, str, str]] = []
    if any(len(summary.pass_at) > 1 for summary in measured.values()):
        drawn.append(("pass_at_k", "pass@k", _pass_at_k(measured)))
    for name, title, label, bounds, read in _STEPS:
        series = [Series(name=stage, points=_points(steps, read)) for stage, steps in found.steps.items()]
        _append(drawn, name, title, label, bounds, series)
    for name, title in _METRICS.items():
        _append(drawn, name, title, name, None, _metric(metrics, name))
    return drawn


def _append(
    charts: list[tuple[str, str, str]],
    name: str,
    title: str,
    label: str,
    bounds: tuple[float, float] | None,
    series: list[Series],
) -> None:
    series = [entry for entry in series if len(entry.points) > 1]
    if series:
        charts.append((name, title, line_chart(series, title=title, x_label="step", y_label=label, y_range=bounds)))


def _points(steps: Mapping[int, Tally], read: _Reading) -> list[tuple[float, float]]:
    values = ((step, read(steps[step])) for step in sorted(steps))
    return [(float(step), value) for step, value in values if value is not None]


def _metric(metrics: Sequence[Mapping[str, Any]], name: str) -> list[Series]:
    """One line a stage. A step that was repeated after a resume counts as it came out last."""
    stages: dict[str, dict[float, float]] = {}
    for line in metrics:
        step, value = line.get("step"), line.get(name)
        if isinstance(step, int | float) and isinstance(value, int | float):
            stage = f"stage {line.get('stage', 0)} {line.get('kind', '')}".strip()
            stages.setdefault(stage, {})[float(step)] = float(value)
    return [Series(name=stage, points=sorted(values.items())) for stage, values in stages.items()]


def _pass_at_k(measured: Mapping[str, Summary]) -> str:
    series = []
    for part, summary in measured.items():
        entries = [(entry.k, entry.excluded or entry.as_wrong) for entry in summary.pass_at]
        series.append(
            Series(
                name=part,
                points=[(k, estimate.value) for k, estimate in entries],
                band=[(k, estimate.low, estimate.high) for k, estimate in entries],
            )
        )
    return line_chart(series, title="pass@k with 95 % intervals", x_label="k", y_label="share of tasks", y_range=_RATE)
