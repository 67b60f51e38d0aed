"""Detectors of runs: trends, and what they are made of."""

from __future__ import annotations

import dataclasses

import msgspec
import numpy as np
import pytest

from lydite.detectors.curves import FormOverSubstance, RewardWithoutTruth
from lydite.detectors.trend import MAX_POINTS, linear_slope, trend
from lydite.evaluation.trends import run_flags, stages
from lydite.reward import RewardScheme
from lydite.verdict import Verdict
from memory_rows import make_row

N = 60
STEPS = [float(step) for step in range(N)]


def noisy(slope: float, seed: int, spread: float = 0.03) -> list[float]:
    noise = np.random.default_rng(seed).normal(0, spread, N)
    return [float(0.3 + slope * step + bump) for step, bump in zip(STEPS, noise, strict=True)]


def test_a_straight_rise_has_the_textbook_statistic() -> None:
    """S = 45, variance 125, z = 44 / sqrt(125) = 3.9354."""
    found = trend(range(10), range(10))
    assert found is not None
    assert found.slope == 1
    assert found.p_rise == pytest.approx(4.153e-05, rel=1e-3)


def test_ties_lessen_the_variance() -> None:
    """S = 25 of two equal halves; variance (10 * 9 * 25 - 2 * 5 * 4 * 15) / 18 = 91.67."""
    found = trend(range(10), [0] * 5 + [1] * 5)
    assert found is not None
    plain = 0.5 * (1 - 0)  # a tail cannot be more than half for a positive statistic
    assert found.p_rise < plain
    assert trend(range(10), [1] * 10).p_rise == 1.0  # type: ignore[union-attr]


def test_few_points_say_nothing() -> None:
    assert trend(range(9), range(9)) is None
    assert trend(range(10), [*range(9), float("nan")]) is None


def test_a_long_curve_is_averaged() -> None:
    found = trend(range(5000), range(5000))
    assert found is not None
    assert found.n == MAX_POINTS
    assert found.slope == pytest.approx(1)


@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_chance_is_seldom_taken_for_a_trend(memory: float) -> None:
    """Neighbours that are alike too: without the correction every third such curve would rise."""
    rng = np.random.default_rng(0)
    rising = 0
    for _ in range(300):
        values = [0.0]
        for bump in rng.normal(size=N - 1):
            values.append(memory * values[-1] + float(bump))
        rising += trend(STEPS, values).p_rise < 0.05  # type: ignore[union-attr]
    assert rising / 300 < 0.1


def test_reward_that_rises_alone_is_flagged() -> None:
    flag = RewardWithoutTruth().look(STEPS, noisy(0.01, 1), noisy(0.0, 2))
    assert flag is not None
    assert not flag.bars
    assert flag.evidence["looks"] == 1
    assert flag.evidence["reward_p"] < 0.05 < flag.evidence["second_p"]


def test_reward_that_rises_with_the_truth_is_not_flagged() -> None:
    assert RewardWithoutTruth().look(STEPS, noisy(0.01, 1), noisy(0.008, 2)) is None


def test_a_second_curve_that_is_only_noisy_accuses_nobody() -> None:
    assert RewardWithoutTruth().look(STEPS, noisy(0.001, 1), noisy(0.001, 2, spread=1.0)) is None


def test_false_alarms_of_two_flat_curves_stay_below_the_level() -> None:
    alarms = sum(
        RewardWithoutTruth().look(STEPS, noisy(0, seed), noisy(0, seed + 1000)) is not None for seed in range(200)
    )
    assert alarms <= 10


def test_more_looks_ask_for_more() -> None:
    weak = noisy(0.0008, 5)
    assert RewardWithoutTruth().look(STEPS, weak, noisy(0, 9)) is not None
    assert RewardWithoutTruth().look(STEPS, weak, noisy(0, 9), looks=10_000) is None


def test_steps_without_a_second_verdict_are_left_out_of_both() -> None:
    second = [value if step % 2 else float("nan") for step, value in enumerate(noisy(0.0, 4))]
    flag = RewardWithoutTruth().look(STEPS, noisy(0.01, 1), second)
    assert flag is not None
    assert flag.evidence["points"] == N // 2


def test_form_that_carries_the_rise_is_flagged_with_the_shares() -> None:
    parts = {"correctness": noisy(0.001, 1), "form": noisy(0.006, 2), "length": noisy(0.0, 3)}
    flag = FormOverSubstance().look(STEPS, parts)
    assert flag is not None
    shares = flag.evidence["shares_of_the_rise"]
    assert sum(shares.values()) == pytest.approx(1, abs=1e-3)
    assert shares["form"] > 0.5 > shares["correctness"]
    assert FormOverSubstance().look(STEPS, {**parts, "correctness": noisy(0.02, 1)}) is None


def test_slopes_of_least_squares_add_up() -> None:
    one, two = noisy(0.01, 1), noisy(-0.02, 2)
    both = [a + b for a, b in zip(one, two, strict=True)]
    assert linear_slope(STEPS, both) == pytest.approx(linear_slope(STEPS, one) + linear_slope(STEPS, two))


def formed(step: int, right: float, neat: float, scheme: str = "asymmetric+format=0.5+flagged=keep") -> list:
    """Ten attempts of one step, of which a share is right, and a share of the wrong ones neat."""
    rows = []
    for index in range(10):
        if index < right * 10:
            verdict = Verdict.of(1.0, "correct", "math@1", extracted="7")
        elif index < right * 10 + neat * 10:
            verdict = Verdict.of(0.0, "wrong_answer", "math@1", extracted="8")
        else:
            verdict = Verdict.unparseable("no_answer", "math@1")
        rule = RewardScheme(format_weight=0.5)
        reward = rule.reward(verdict, (), float(verdict.extracted is not None))
        row = make_row("t", index, None, phase=f"train-0-{step}", verdict=verdict)
        record = msgspec.structs.replace(row.record, reward=reward, scheme=scheme)
        rows.append(dataclasses.replace(row, record=record))
    return rows


def test_the_reward_of_a_stage_is_split_exactly() -> None:
    (stage,) = stages([row for step in range(1, 21) for row in formed(step, 0.2, step / 40)])
    assert stage.steps == [float(step) for step in range(1, 21)]
    assert stage.parts["correctness"] == pytest.approx([0.2 - 0.08] * 20)
    assert stage.parts["form"][-1] == pytest.approx(0.5 * 0.7)
    assert stage.parts["length"] == pytest.approx([0.0] * 20)


def test_a_run_that_learns_form_alone_is_flagged_and_one_that_learns_is_not() -> None:
    form = [row for step in range(1, 21) for row in formed(step, 0.2, step / 40)]
    learns = [row for step in range(1, 21) for row in formed(step, step / 25, 0.1)]
    assert [flag.detector for _, flag in run_flags(stages(form))] == ["form_over_substance"]
    assert run_flags(stages(learns)) == []


def test_a_second_verifiers_scores_are_set_against_the_first() -> None:
    rows = [row for step in range(1, 21) for row in formed(step, step / 25, 0.1)]
    second = {row.rollout.id: 0.3 + 0.01 * (row.rollout.index % 3) for row in rows}
    assert [flag.detector for _, flag in run_flags(stages(rows, second))] == ["reward_without_truth"]


def test_a_control_is_not_looked_at() -> None:
    rows = formed(1, 0.5, 0.1, scheme="asymmetric+format=0+flagged=keep+control=random")
    assert stages(rows) == []
