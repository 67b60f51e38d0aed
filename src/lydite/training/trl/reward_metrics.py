"""What a step of GRPO is measured by beside what TRL measures: shares of samples and of groups, what makes up a reward,
and episodes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean, stdev

from lydite.evaluation.trends import reward_parts
from lydite.ledger import Graded
from lydite.reward import Signal, signal
from lydite.rollout import FinishReason
from lydite.training.alarms import PARTS, REWARD_PARTS

_COMPOSED = ("all_of", "weighted", "gate")
"""Checkers whose parts bear names that the task gave them."""


def reward_metrics(graded: Sequence[Graded], size: int) -> dict[str, float]:
    """All of them.

    Args:
        graded: the attempts of a batch, groups in a row.
        size: attempts of one group.
    """
    return {**sample_metrics(graded, size), **part_metrics(graded), **episode_metrics(graded)}


def sample_metrics(graded: Sequence[Graded], size: int) -> dict[str, float]:
    """Shares of samples and of groups. ``pass_rate`` is the verifier's word, whatever control or shaping say."""
    total = len(graded)
    scores = [item.verdict.score for item in graded if item.verdict.score is not None]
    signals = Counter(signal(item.verdict for item in graded[start : start + size]) for start in range(0, total, size))
    reasons: dict[str, float] = defaultdict(float)
    reasons["invalid_rate"] = (total - len(scores)) / total
    reasons["suspected_hack_rate"] = sum(bool(item.flags) for item in graded) / total
    for kind in Signal:
        reasons[f"groups/{kind}"] = signals[kind] / sum(signals.values())
    if scores:
        reasons["pass_rate"] = sum(item.verdict.correct for item in graded) / len(scores)
    return dict(reasons)


def part_metrics(graded: Sequence[Graded]) -> dict[str, float]:
    """Means of what makes up a reward: ``reward_parts/…`` where form or length are paid for, too, and ``parts/NAME`` of
    checkers made of checkers. A control pays for none of it."""
    found: dict[str, list[float]] = defaultdict(list)
    paying = any(_pays_for_more(item) for item in graded)
    for item in graded:
        if item.reward is None or "+control=" in item.scheme:
            continue
        for part in item.verdict.parts if _kind(item) in _COMPOSED else ():
            if part.score is not None:
                found[PARTS + part.name].append(part.score)
        if paying:
            paid = reward_parts(item.verdict, item.scheme, item.flags, item.reward)
            for name, value in zip(("correctness", "form", "length"), paid, strict=True):
                found[REWARD_PARTS + name].append(value)
    return {name: fmean(values) for name, values in found.items()}


def _pays_for_more(item: Graded) -> bool:
    """Whether an attempt could earn by something else than being right."""
    return "+overlong" in item.scheme or "+format=0+" not in f"{item.scheme}+" or _kind(item) == "weighted"


def _kind(item: Graded) -> str:
    return item.verdict.verifier.partition("@")[0]


def episode_metrics(graded: Sequence[Graded]) -> dict[str, float]:
    """Of attempts with an environment: rewards by environment, calls, and the seconds that they took in this step."""
    by_name: dict[str, list[float]] = defaultdict(list)
    episodes = [item for item in graded if item.rollout.env]
    if not episodes:
        return {}
    for item in episodes:
        if item.reward is not None:
            by_name[item.rollout.env.partition("@")[0]].append(item.reward)
    values: dict[str, float] = {}
    for name, rewards in by_name.items():
        values[f"rewards/{name}/mean"] = fmean(rewards)
        values[f"rewards/{name}/std"] = stdev(rewards) if len(rewards) > 1 else 0.0
    calls = [item.rollout.calls for item in episodes if item.rollout.calls is not None]
    made, malformed = sum(len(one.seconds) for one in calls), sum(one.malformed for one in calls)
    values["tools/calls_per_rollout"] = (made + malformed) / len(episodes)
    values["tools/malformed_rate"] = malformed / (made + malformed) if made + malformed else 0.0
    values["tools/limit_rate"] = sum(item.rollout.finish is FinishReason.TOOL_LIMIT for item in episodes) / len(
        episodes
    )
    values["sandbox/call_seconds"] = sum(sum(one.seconds) for one in calls)
    values["sandbox/check_seconds"] = sum(item.seconds for item in episodes)
    return values
