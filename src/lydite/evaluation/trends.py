"""Curves of training stages for the detectors of runs: what the reward is made of, step by step, and a second verdict.

The reward of an attempt is split exactly: what is paid for form (the scheme's format term, and components of a
``weighted`` checker that are called after form or length), what length costs or earns (overlong shaping), and
the rest, which is paid for being right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from lydite.detectors.curves import FormOverSubstance, RewardWithoutTruth
from lydite.errors import InputError
from lydite.flag import Flag
from lydite.reward import Flagged, Preset, RewardScheme
from lydite.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from lydite.ledger import Row
    from lydite.ledger.contents import Contents

_STEP = re.compile(r"(train-\d+)-(\d+)(?:\.\d+)?")
_WEIGHT = re.compile(r"\+format=(\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
_FLAGGED = re.compile(r"\+flagged=(\w+)")
_FORM = re.compile(r"form|length|style|tag|layout", re.IGNORECASE)


class Stage(msgspec.Struct, kw_only=True):
    """Means per step of one training stage, over the attempts that earned a reward.

    Attributes:
        stage: ``train-0`` ...
        steps: ascending; the lists have one value for each.
        score: of the verifier, 0 to 1.
        parts: ``correctness``, ``form``, ``length``: what they add to the reward.
        tokens: of completions, where the policy reports them (NaN elsewhere).
        second: another verifier's score of the same attempts (NaN where there is none).
    """

    stage: str
    steps: list[float] = []
    score: list[float] = []
    parts: dict[str, list[float]] = {}
    tokens: list[float] = []
    second: list[float] = []


class _Sums:
    """Sums of one step."""

    __slots__ = ("counted", "n", "parts", "score", "second", "seconds", "tokens")

    def __init__(self) -> None:
        self.n = self.counted = self.seconds = 0
        self.score = self.tokens = self.second = 0.0
        self.parts = [0.0, 0.0, 0.0]


def stages(rows: Iterable[Row], second: Mapping[str, float] | None = None) -> list[Stage]:
    """The training stages of a run. A step that a resumed session repeated counts as its last session did it; stages
    whose reward a control replaced are left out: it is not paid for anything.

    Args:
        rows: of the run.
        second: id of a rollout to another verifier's score of it.
    """
    sums: dict[str, dict[int, _Sums]] = {}
    phases: dict[tuple[str, int], str] = {}
    for row in rows:
        match = _STEP.fullmatch(row.rollout.phase)
        if match is None or "+control=" in row.record.scheme:
            continue
        stage, step = match[1], int(match[2])
        steps = sums.setdefault(stage, {})
        if phases.get((stage, step)) != row.rollout.phase:
            phases[stage, step] = row.rollout.phase
            steps[step] = _Sums()
        _add(steps[step], row, second or {})
    return [_stage(name, steps) for name, steps in sums.items()]


def _add(sums: _Sums, row: Row, second: Mapping[str, float]) -> None:
    verdict, reward = row.record.verdict, row.record.reward
    if reward is None or verdict.score is None:
        return
    sums.n += 1
    sums.score += verdict.score
    found = reward_parts(verdict, row.record.scheme, row.record.flags, reward)
    for at, value in enumerate(found):
        sums.parts[at] += value
    if row.rollout.completion_tokens is not None:
        sums.counted += 1
        sums.tokens += row.rollout.completion_tokens
    if row.rollout.id in second:
        sums.seconds += 1
        sums.second += second[row.rollout.id]


def reward_parts(verdict: Verdict, scheme: str, flags: Sequence[Flag], reward: float) -> tuple[float, float, float]:
    """A reward as what is paid for being right, for form, and for length.

    Args:
        verdict, flags, reward: of an attempt.
        scheme: what made the reward, in the words of the ledger.
    """
    weight, flagged = _WEIGHT.search(scheme), _FLAGGED.search(scheme)
    graded = verdict.outcome is not Outcome.UNPARSEABLE and verdict.extracted is not None
    paid = float(weight[1]) if weight is not None and graded else 0.0
    try:
        rule = RewardScheme(
            preset=Preset(scheme.partition("+")[0]), flagged=Flagged(flagged[1]) if flagged else Flagged.KEEP
        )
        base = rule.reward(verdict, flags)
    except ValueError:  # a scheme of the user's own
        base = None
    if base is None:
        return reward, 0.0, 0.0
    length = reward - base - paid if "+overlong" in scheme else 0.0
    paid += max(base, 0.0) * _form_share(verdict)
    return reward - paid - length, paid, length


def _form_share(verdict: Verdict) -> float:
    """Which share of a weighted score comes from components of form. Weights are not in a verdict: all count alike."""
    if not verdict.verifier.startswith("weighted@") or not verdict.parts:
        return 0.0
    whole = sum(part.score or 0.0 for part in verdict.parts)
    return sum(part.score or 0.0 for part in verdict.parts if _FORM.search(part.name)) / whole if whole else 0.0


def _stage(name: str, steps: dict[int, _Sums]) -> Stage:
    kept = [(step, sums) for step, sums in sorted(steps.items()) if sums.n]
    names = ("correctness", "form", "length")
    return Stage(
        stage=name,
        steps=[float(step) for step, _ in kept],
        score=[sums.score / sums.n for _, sums in kept],
        parts={part: [sums.parts[at] / sums.n for _, sums in kept] for at, part in enumerate(names)},
        tokens=[sums.tokens / sums.counted if sums.counted else float("nan") for _, sums in kept],
        second=[sums.second / sums.seconds if sums.seconds else float("nan") for _, sums in kept],
    )


def rescored_scores(run: Contents, name: str) -> dict[str, float]:
    """Scores of a rescoring by id of the rollout, as ``stages`` takes them; ``invalid`` ones left out.

    Args:
        run: the run folder, open to read.
        name: of a complete rescoring, or ``rescored`` for the latest.

    Raises:
        InputError: there is no such rescoring, or it is not complete.
    """
    before = run.verdicts
    try:
        run.choose(name)
        chosen = run.verdicts
    finally:
        run.verdicts = before
    if chosen is None:
        raise InputError("are the first verdicts, not others", field="--rescoring", remedy="name a rescoring")
    pairs = ((new.rollout.id, new.record.verdict.score) for _, new in run.rescored(chosen))
    return {identity: score for identity, score in pairs if score is not None}


def run_flags(found: Iterable[Stage], *, looks: int = 1, level: float = 0.05) -> list[tuple[str, Flag]]:
    """Flags of the detectors of runs, each with its stage."""
    flags: list[tuple[str, Flag]] = []
    for stage in found:
        form = FormOverSubstance().look(stage.steps, stage.parts, looks=looks, level=level)
        apart = RewardWithoutTruth().look(stage.steps, stage.score, stage.second, looks=looks, level=level)
        flags += [(stage.stage, flag) for flag in (form, apart) if flag is not None]
    return flags
