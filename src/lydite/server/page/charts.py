"""Which curves the dashboard draws: the few that tell how training goes, and the rest behind a switch.

Key names are TRL's, which ``metrics.jsonl`` keeps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

Role = Literal["main", "band", "second"]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One curve. ``band``: half the width of a band around the chart's main curve; ``second``: another, thinner."""

    key: str
    label: str
    role: Role = "main"


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """A figure.

    Attributes:
        id: in the page.
        title: what it shows.
        note: how to read it.
        lines: the first is drawn last, on top.
        share: whether values lie between 0 and 1, and are shown as per cent from 0 to 100.
        zero: whether the axis begins at 0.
        more: whether it stands behind the switch.
    """

    id: str
    title: str
    note: str
    lines: tuple[Line, ...]
    share: bool = False
    zero: bool = False
    more: bool = False


def _one(
    id: str, key: str, title: str, note: str, *, share: bool = False, zero: bool = False, more: bool = False
) -> Chart:
    line = Line(key=key, label=title.lower())
    return Chart(id=id, title=title, note=note, lines=(line,), share=share, zero=zero, more=more)


CHARTS = (
    Chart(
        id="reward",
        title="Reward",
        note="mean of a step's attempts ± one standard deviation within groups",
        lines=(Line(key="reward", label="mean"), Line(key="reward_std", label="±", role="band")),
    ),
    _one("success", "pass_rate", "Success", "share of attempts judged correct", share=True),
    _one(
        "zero-std",
        "frac_reward_zero_std",
        "Groups without signal",
        "share of groups in which every attempt earned the same: nothing is learned from them",
        share=True,
    ),
    _one("entropy", "entropy", "Entropy", "nats per token; near 0 the policy says the same every time", zero=True),
    Chart(
        id="length",
        title="Completion length",
        note="tokens of an answer, mean and longest",
        lines=(
            Line(key="completions/mean_length", label="mean"),
            Line(key="completions/max_length", label="longest", role="second"),
        ),
        zero=True,
    ),
    _one("clipped", "completions/clipped_ratio", "Cut off", "share of answers that ended at the limit", share=True),
    Chart(
        id="trust",
        title="Flags and invalid",
        note="attempts that look like hacks; attempts that could not be judged, by our fault",
        lines=(
            Line(key="suspected_hack_rate", label="suspected hacks"),
            Line(key="invalid_rate", label="invalid", role="second"),
        ),
        share=True,
    ),
    _one("accuracy", "mean_token_accuracy", "Token accuracy", "share of tokens of demonstrations foretold", share=True),
    _one("margin", "rewards/margins", "Margin", "implicit reward of chosen less that of rejected answers"),
    _one("chosen", "rewards/accuracies", "Chosen above rejected", "share of pairs", share=True),
    _one("malformed", "tools/malformed_rate", "Malformed calls", "share of tool calls that cannot be read", share=True),
    _one("loss", "loss", "Loss", "what the optimizer sees", more=True),
    _one("kl", "kl", "KL", "distance from the reference policy", zero=True, more=True),
    _one("grad", "grad_norm", "Gradient norm", "before clipping", zero=True, more=True),
    _one("rate", "learning_rate", "Learning rate", "as scheduled", zero=True, more=True),
    Chart(
        id="kinds",
        title="All right, all wrong",
        note="share of groups",
        lines=(
            Line(key="groups/all_correct", label="all correct"),
            Line(key="groups/all_wrong", label="all wrong", role="second"),
        ),
        share=True,
        more=True,
    ),
    Chart(
        id="clip",
        title="Clipped updates",
        note="share of tokens whose ratio was clipped, low and high",
        lines=(
            Line(key="clip_ratio/high_mean", label="high"),
            Line(key="clip_ratio/low_mean", label="low", role="second"),
        ),
        share=True,
        more=True,
    ),
    _one("time", "step_time", "Step time", "seconds", zero=True, more=True),
)
KEYS = tuple(line.key for chart in CHARTS for line in chart.lines)


def present(lines: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """The charts that a stage has values for; loss comes to the front where there is no reward.

    Args:
        lines: metrics of some of its steps.
    """
    known = {key for values in lines for key in KEYS if isinstance(values.get(key), int | float)}
    found = [
        msgspec.structs.replace(chart, lines=tuple(line for line in chart.lines if line.key in known))
        for chart in CHARTS
        if chart.lines[0].key in known
    ]
    if "reward" not in known:
        found = [msgspec.structs.replace(chart, more=chart.more and chart.id != "loss") for chart in found]
    return found


def column(lines: Sequence[Mapping[str, Any]], key: str) -> list[float]:
    """The values of a metric where it is there."""
    return [float(values[key]) for values in lines if isinstance(values.get(key), int | float)]
