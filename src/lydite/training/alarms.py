"""Warnings in words when a metric of reinforcement learning goes bad.

Each looks at means over the last ``WINDOW`` steps, beside those of the first ones, and speaks once; again only after
``REST`` steps without cause. They are trip-wires for people, not tests: what is tested statistically, when a run is over, stands
in ``detectors.curves``.

| kind | speaks when |
|---|---|
| ``not_finite`` | the loss is no number |
| ``collapse`` | the pass rate is half of its best; or entropy is a fifth of what it was, and a quarter of the groups are all wrong |
| ``length`` | answers are twice as long and tasks are solved no more often; or half of them are cut off, which they were not at first |
| ``no_contrast`` | nine of ten groups earned the same throughout: nothing is learned from them |
| ``one_component`` | one component carries nearly all of the rise of a reward that has several; or form and length carry half of it |
| ``invalid`` | one attempt of twenty could not be judged, by our fault |
| ``suspected_hacks`` | suspicious attempts are more by a tenth of all than at first |
| ``malformed_calls`` | half of the tool calls cannot be read |
"""  # noqa: E501

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from statistics import fmean

import msgspec

WINDOW = 5
"""Steps."""

REST = 20
"""Steps without cause after which the same warning is given again."""

PARTS = "parts/"
"""Prefix of mean scores of a composed checker's parts."""
REWARD_PARTS = "reward_parts/"
"""Prefix of what being right, form and length add to the reward."""


class Alarm(msgspec.Struct, frozen=True, kw_only=True):
    """What went bad.

    Attributes:
        step: of the stage.
        kind: one of the table above.
        message: for people: what is seen, in numbers, and what may help.
    """

    step: int
    kind: str
    message: str


class Alarms:
    """Watches one stage. ``look`` is called with the metrics of every step, in order."""

    def __init__(self) -> None:
        self._steps: list[Mapping[str, float]] = []
        self._last: dict[str, int] = {}  # kind to the step that last gave cause for it

    def look(self, step: int, values: Mapping[str, float]) -> list[Alarm]:
        """The warnings that this step gives cause for.

        Args:
            step: number of the step, from 1.
            values: metrics by name; values that are not finite count as bad where they are the loss, else not at all.
        """
        self._steps.append({name: value for name, value in values.items() if math.isfinite(value)})
        if not math.isfinite(values.get("loss", 0.0)):
            return self._told(step, {"not_finite": "the loss is no number: lower the learning rate"})
        if len(self._steps) < 2 * WINDOW:
            return self._told(step, {})
        return self._told(step, dict(self._found()))

    def _told(self, step: int, found: Mapping[str, str]) -> list[Alarm]:
        new = [kind for kind in found if step - self._last.get(kind, -REST) > REST]
        self._last.update(dict.fromkeys(found, step))
        return [Alarm(step=step, kind=kind, message=found[kind]) for kind in new]

    def _found(self) -> Iterator[tuple[str, str]]:
        for look in _LOOKS:
            message = look(self)
            if message:
                yield look.__name__.strip("_"), message

    def first(self, name: str) -> float:
        """The mean of a metric over the first steps; NaN where it is missing."""
        return _mean(self._steps[:WINDOW], name)

    def now(self, name: str) -> float:
        """The same over the last steps."""
        return _mean(self._steps[-WINDOW:], name)

    def best(self, name: str) -> float:
        """The largest mean over ``WINDOW`` steps in a row so far."""
        starts = range(len(self._steps) - WINDOW + 1)
        means = [_mean(self._steps[start : start + WINDOW], name) for start in starts]
        return max((mean for mean in means if not math.isnan(mean)), default=math.nan)

    def names(self, prefix: str) -> list[str]:
        """Metrics with this prefix at the first steps and now."""
        return [name for name in self._steps[0] if name.startswith(prefix) and not math.isnan(self.now(name))]


def _mean(steps: list[Mapping[str, float]], name: str) -> float:
    known = [values[name] for values in steps if name in values]
    return fmean(known) if known else math.nan


def _collapse(seen: Alarms) -> str:
    entropy, start = seen.now("entropy"), seen.first("entropy")
    rate, best = seen.now("pass_rate"), seen.best("pass_rate")
    if best >= 0.2 and rate < best / 2:
        return (
            f"the pass rate fell from {best:.0%} to {rate:.0%}: lower the learning rate, or hold the policy with beta"
        )
    wrong = seen.now("groups/all_wrong")
    if entropy < start / 5 and wrong >= 0.25:
        return (
            f"entropy fell from {start:.2f} to {entropy:.2f} and {wrong:.0%} of groups are all wrong: the policy says"
            " nearly the same every time. Raise entropy_coef, or lower the learning rate"
        )
    return ""


def _length(seen: Alarms) -> str:
    name = "completions/mean_length"
    length, start = seen.now(name), seen.first(name)
    rate, before = seen.now("pass_rate"), seen.first("pass_rate")
    if length >= 2 * start and rate < before + 0.1:
        return (
            f"answers grew from {start:.0f} to {length:.0f} tokens, and the pass rate is {rate:.0%} after"
            f" {before:.0%}: see `overlong`"
        )
    cut = "completions/clipped_ratio"
    if seen.now(cut) >= 0.5 and seen.now(cut) >= seen.first(cut) + 0.25:
        return (
            f"{seen.now(cut):.0%} of answers are cut at max_completion_length, {seen.first(cut):.0%} were at first:"
            " raise it, or see `overlong`"
        )
    return ""


def _no_contrast(seen: Alarms) -> str:
    share = seen.now("frac_reward_zero_std")
    if not share >= 0.9:
        return ""
    hard, easy = seen.now("groups/all_wrong"), seen.now("groups/all_correct")
    why = "too hard" if hard > easy else "too easy"
    return (
        f"in {share:.0%} of groups every attempt earned the same, and nothing is learned from them: the tasks are {why}"
        " (see `lydite tasks tier` and `curriculum`)"
    )


def _one_component(seen: Alarms) -> str:
    rises = {name: seen.now(name) - seen.first(name) for name in seen.names(REWARD_PARTS)}
    total = math.fsum(rises.values())
    for name, rise in rises.items():
        if name != REWARD_PARTS + "correctness" and total >= 0.1 and rise >= total / 2:
            part = name.removeprefix(REWARD_PARTS)
            return f"the reward rose by {total:.2f}, and {rise:.2f} of that is paid for {part}, not for being right"
    parts = seen.names(PARTS)
    ups = {name: max(0.0, seen.now(name) - seen.first(name)) for name in parts}
    total = math.fsum(ups.values())
    if len(parts) < 2 or total < 0.2:
        return ""
    name = max(ups, key=lambda part: ups[part])
    others = [other for other in parts if other != name]
    if ups[name] >= 0.9 * total and any(seen.now(other) < 0.9 for other in others):
        return (
            f"the part {name.removeprefix(PARTS)} rose from {seen.first(name):.2f} to {seen.now(name):.2f}, and"
            f" {', '.join(other.removeprefix(PARTS) for other in others)} did not: look at what is said for it"
        )
    return ""


def _invalid(seen: Alarms) -> str:
    share = seen.now("invalid_rate")
    return f"{share:.0%} of attempts could not be judged, by our fault: see `lydite show`" if share >= 0.05 else ""


def _suspected_hacks(seen: Alarms) -> str:
    share, start = seen.now("suspected_hack_rate"), seen.first("suspected_hack_rate")
    if not share >= start + 0.1:
        return ""
    return f"{share:.0%} of attempts look like hacks, {start:.0%} did at first: read some (`lydite flags`)"


def _malformed_calls(seen: Alarms) -> str:
    share = seen.now("tools/malformed_rate")
    return f"{share:.0%} of tool calls cannot be read: start from demonstrations (`sft`)" if share >= 0.5 else ""


_LOOKS: tuple[Callable[[Alarms], str], ...] = (
    _collapse,
    _length,
    _no_contrast,
    _one_component,
    _invalid,
    _suspected_hacks,
    _malformed_calls,
)
