"""Rewards and advantages: the presets' arithmetic, and group statistics by values and invariants."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.flag import Flag
from lydite.reward import Flagged, Preset, RewardScheme, Signal, advantages, frac_reward_zero_std, group_stats, signal
from lydite.verdict import Outcome, Verdict

BAR = Flag(detector="no_visible_work", version=1, bars=True)
HINT = Flag(detector="hint", version=1, bars=False)
GAP = {Preset.ASYMMETRIC: 1.1, Preset.BINARY: 1.0, Preset.FRACTIONAL: 1.0}

presets = st.sampled_from(list(Preset))
unit = st.floats(0, 1)
rewards = st.one_of(st.none(), st.floats(-2, 2))
groups = st.lists(rewards, min_size=1, max_size=10)


def of(score: float | None) -> Verdict:
    return Verdict.invalid("x", "v@1") if score is None else Verdict.of(score, "x", "v@1")


# Presets


@pytest.mark.parametrize(
    ("preset", "correct", "half", "wrong"),
    [("asymmetric", 1.0, 0.45, -0.1), ("binary", 1.0, 0.0, 0.0), ("fractional", 1.0, 0.5, 0.0)],
)
def test_preset_values(preset: str, correct: float, half: float, wrong: float) -> None:
    scheme = RewardScheme(preset=Preset(preset))
    assert [scheme.reward(of(score)) for score in (1, 0.5, 0)] == pytest.approx([correct, half, wrong])
    assert scheme.reward(Verdict.unparseable("no_answer", "v@1")) == wrong


def test_asymmetric_is_the_default() -> None:
    assert RewardScheme() == RewardScheme(preset=Preset.ASYMMETRIC, format_weight=0.0, flagged=Flagged.KEEP)


@given(presets, unit, st.sampled_from(list(Flagged)))
def test_invalid_earns_nothing_and_never_zero(preset: Preset, format_score: float, flagged: Flagged) -> None:
    scheme = RewardScheme(preset=preset, flagged=flagged, format_weight=0.2)
    assert scheme.reward(of(None), (BAR,), format_score) is None


@given(presets, unit, unit)
def test_a_better_score_never_earns_less(preset: Preset, one: float, two: float) -> None:
    low, high = sorted((one, two))
    scheme = RewardScheme(preset=preset)
    assert scheme.reward(of(low)) <= scheme.reward(of(high))


@given(presets, unit)
def test_reward_depends_on_outcome_and_score_alone(preset: Preset, score: float) -> None:
    scheme = RewardScheme(preset=preset)
    other = Verdict.of(score, "another reason", "other@9", extracted="7", detail="why")
    assert scheme.reward(of(score)) == scheme.reward(other)


def test_with_penalty_a_tenth_an_attempt_pays_above_one_success_in_eleven() -> None:
    scheme = RewardScheme()
    gain, loss = scheme.reward(of(1)), scheme.reward(of(0))
    break_even = -loss / (gain - loss)
    assert break_even == pytest.approx(1 / 11)
    assert break_even * gain + (1 - break_even) * loss == pytest.approx(0)


@given(st.floats(0.001, 1))
def test_break_even_success_rate_is_c_over_1_plus_c(penalty: float) -> None:
    rate = penalty / (1 + penalty)
    assert rate - penalty * (1 - rate) == pytest.approx(0, abs=1e-12)
    assert (rate <= 0.5) == (penalty <= 1)


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=12))
def test_the_penalty_itself_vanishes_in_a_binary_groups_advantages(scores: list[float]) -> None:
    """Within a normalised group -0.1 and 0 differ by scale alone: the penalty matters where no baseline is taken."""
    asymmetric = [RewardScheme().reward(of(score)) for score in scores]
    binary = [RewardScheme(preset=Preset.BINARY).reward(of(score)) for score in scores]
    (one,), (two,) = advantages([asymmetric]), advantages([binary])
    assert one == pytest.approx(two, abs=1e-3)


# The format term


@given(presets, st.floats(0, 1, exclude_max=True), unit, unit)
def test_format_never_outweighs_correctness(preset: Preset, share: float, wrong_form: float, right_form: float) -> None:
    weight = share * GAP[preset]
    scheme = RewardScheme(preset=preset, format_weight=weight)
    right, wrong = scheme.reward(of(1), (), right_form), scheme.reward(of(0), (), wrong_form)
    assert wrong <= right
    if share < 1 - 1e-9:
        assert wrong < right


@pytest.mark.parametrize("preset", list(Preset))
@pytest.mark.parametrize("excess", [0.0, 0.5, math.inf, math.nan])
def test_a_format_weight_that_reaches_the_gap_is_refused(preset: Preset, excess: float) -> None:
    with pytest.raises(ValueError, match="format_weight"):
        RewardScheme(preset=preset, format_weight=GAP[preset] + excess)


def test_a_negative_format_weight_is_refused() -> None:
    with pytest.raises(ValueError, match="format_weight"):
        RewardScheme(format_weight=-0.1)


@given(unit, unit, unit)
def test_better_form_pays_when_all_else_is_equal(score: float, one: float, two: float) -> None:
    low, high = sorted((one, two))
    scheme = RewardScheme(format_weight=0.3)
    assert scheme.reward(of(score), (), low) <= scheme.reward(of(score), (), high)


# Flags


@pytest.mark.parametrize(("flagged", "reward"), [("keep", 1.0), ("mask", None), ("floor", -0.1)])
def test_what_a_flagged_right_answer_earns_is_a_choice(flagged: str, reward: float | None) -> None:
    assert RewardScheme(flagged=Flagged(flagged)).reward(of(1), (BAR,)) == reward


@pytest.mark.parametrize("flagged", list(Flagged))
def test_a_flag_that_does_not_bar_changes_no_reward(flagged: Flagged) -> None:
    assert RewardScheme(flagged=flagged).reward(of(1), (HINT,)) == 1.0


# Signals


@pytest.mark.parametrize(
    ("scores", "kind"),
    [
        ([1, 0], Signal.MIXED),
        ([1, 1, None], Signal.ALL_CORRECT),
        ([0, 0, None], Signal.ALL_WRONG),
        ([0.5, 0.5], Signal.ALL_WRONG),
        ([0.5, 0.25], Signal.MIXED),
        ([None, None], Signal.INVALID),
        ([], Signal.INVALID),
    ],
)
def test_signal_of_a_group(scores: list[float | None], kind: Signal) -> None:
    assert signal(map(of, scores)) is kind


def test_unparseable_is_wrong_and_invalid_is_nothing() -> None:
    verdicts = [Verdict.unparseable("refusal", "v@1"), of(0), of(None)]
    assert [verdict.outcome for verdict in verdicts] == [Outcome.UNPARSEABLE, Outcome.INCORRECT, Outcome.INVALID]
    assert signal(verdicts) is Signal.ALL_WRONG


# Group statistics and advantages


@pytest.mark.parametrize(("std", "value"), [("sample", 0.8660), ("population", 1.0)])
def test_two_right_two_wrong(std, value: float) -> None:
    (result,) = advantages([[1, 1, 0, 0]], std=std)
    assert result == pytest.approx([value, value, -value, -value], abs=1e-3)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"std": "sample"}, [1.5, -0.5, -0.5, -0.5]),
        ({"std": "population"}, [1.732, -0.577, -0.577, -0.577]),
        ({"scale": "none"}, [0.75, -0.25, -0.25, -0.25]),
    ],
)
def test_one_right_of_four(options, expected: list[float]) -> None:
    (result,) = advantages([[1, 0, 0, 0]], **options)
    assert result == pytest.approx(expected, abs=1e-3)


def test_eps_is_added_to_the_standard_deviation_as_trl_does() -> None:
    ((first, *_),) = advantages([[1, 0, 0, 0]])
    assert first == 0.75 / (0.5 + 1e-4)


def test_scaling_by_the_batch_divides_every_group_by_one_number() -> None:
    one, two = advantages([[1, 0], [0.5, 0.25]], scale="batch", eps=0.0)
    spread = group_stats([1, 0, 0.5, 0.25]).std
    assert one == pytest.approx([0.5 / spread, -0.5 / spread])
    assert two == pytest.approx([0.125 / spread, -0.125 / spread])


@given(st.floats(-2, 2), st.integers(1, 8), st.sampled_from(["group", "batch", "none"]))
def test_a_group_without_differences_has_no_advantage(reward: float, size: int, scale) -> None:
    (result,) = advantages([[reward] * size], scale=scale)
    assert result == pytest.approx([0.0] * size, abs=1e-9)


@given(groups, st.sampled_from(["group", "none"]), st.sampled_from(["sample", "population"]))
def test_advantages_of_a_group_sum_to_zero(group, scale, std) -> None:
    (result,) = advantages([group], scale=scale, std=std)
    assert math.fsum(result) == pytest.approx(0, abs=1e-6)


@given(groups)
def test_an_invalid_attempt_has_no_advantage_and_moves_no_baseline(group) -> None:
    (result,) = advantages([group])
    (without,) = advantages([[reward for reward in group if reward is not None]])
    assert [value for value, reward in zip(result, group, strict=True) if reward is not None] == without
    assert all(value == 0 for value, reward in zip(result, group, strict=True) if reward is None)


@given(groups, st.randoms())
def test_permuting_attempts_permutes_advantages(group, random) -> None:
    order = list(range(len(group)))
    random.shuffle(order)
    (plain,), (mixed,) = advantages([group]), advantages([[group[index] for index in order]])
    assert mixed == pytest.approx([plain[index] for index in order])


@given(st.lists(groups, min_size=1, max_size=5))
def test_groups_do_not_touch_each_other_unless_the_batch_scales(several) -> None:
    assert advantages(several) == [advantages([group])[0] for group in several]


@given(groups, st.floats(-5, 5))
def test_a_constant_added_to_all_rewards_changes_no_advantage(group, shift: float) -> None:
    (plain,) = advantages([group], scale="none")
    (moved,) = advantages([[None if reward is None else reward + shift for reward in group]], scale="none")
    assert moved == pytest.approx(plain, abs=1e-9)


def test_group_stats_leave_invalid_aside_and_count_it() -> None:
    stats = group_stats([1, None, 0, None])
    assert (stats.n, stats.invalid, stats.mean, stats.zero_std) == (4, 2, 0.5, False)
    assert stats.std == pytest.approx(math.sqrt(0.5))


@pytest.mark.parametrize("rewards", [[], [None], [None, None]])
def test_a_group_of_nothing_has_no_statistics(rewards: list[None]) -> None:
    stats = group_stats(rewards)
    assert (stats.mean, stats.std, stats.zero_std) == (None, None, True)


def test_a_single_valid_reward_has_no_spread() -> None:
    stats = group_stats([0.7, None])
    assert (stats.std, stats.zero_std) == (0.0, True)
    assert advantages([[0.7, None]]) == [[0.0, 0.0]]


def test_fraction_of_groups_without_spread() -> None:
    assert frac_reward_zero_std([[1, 0], [1, 1], [0, 0], [None, 1]]) == 0.75
    assert frac_reward_zero_std([]) == 0.0
