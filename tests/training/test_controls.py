"""Controls: what they show to training, and their statistics."""

from __future__ import annotations

import math

import pytest

from lydite.reward import Preset, RewardScheme
from lydite.training.controls import Control
from lydite.verdict import Verdict

RIGHT = Verdict.of(1.0, "correct", "v@1", extracted="3")
WRONG = Verdict.of(0.0, "incorrect", "v@1", extracted="4")
NOTHING = Verdict.unparseable("no_answer", "v@1")
OURS = Verdict.invalid("verifier_error", "v@1")
N = 4000


def shown(control: str, verdict: Verdict, number: int, seed: int = 0) -> float | None:
    scheme = RewardScheme(preset=Preset.ASYMMETRIC)
    return Control.parse(control).reward(
        scheme.reward(verdict), seed=seed, rollout=f"train-0-1/t/{number}", verdict=verdict, scheme=scheme
    )


def test_random_is_a_fair_coin_that_knows_nothing_of_the_verdict() -> None:
    verdicts = [RIGHT if i % 3 == 0 else WRONG for i in range(N)]
    coins = [shown("random", verdict, i) for i, verdict in enumerate(verdicts)]
    assert set(coins) == {0.0, 1.0}
    values = [float(coin) for coin in coins if coin is not None]
    mean = sum(values) / N
    assert abs(mean - 0.5) < 2 / math.sqrt(N)
    right = sum(verdict.correct for verdict in verdicts) / N
    pairs = zip(values, verdicts, strict=True)
    covariance = sum((coin - mean) * (verdict.correct - right) for coin, verdict in pairs) / N
    assert abs(covariance / math.sqrt(mean * (1 - mean) * right * (1 - right))) < 2 / math.sqrt(N)


def test_random_depends_on_seed_and_rollout_only() -> None:
    coins = [shown("random", RIGHT, i) for i in range(200)]
    assert coins == [shown("random", WRONG, i) for i in range(200)]
    assert coins == [shown("random", RIGHT, i) for i in range(200)]
    assert coins != [shown("random", RIGHT, i, seed=1) for i in range(200)]


def test_format_only_pays_for_an_answer_right_or_wrong() -> None:
    assert [shown("format_only", verdict, 0) for verdict in (RIGHT, WRONG, NOTHING)] == [1.0, 1.0, 0.0]


def test_flip_exchanges_right_and_wrong_as_often_as_it_says() -> None:
    rewards = [shown("flip:0.2", RIGHT, i) for i in range(N)]
    assert set(rewards) == {1.0, -0.1}
    assert abs(rewards.count(-0.1) / N - 0.2) < 3 * math.sqrt(0.2 * 0.8 / N)
    assert {shown("flip:1", WRONG, i) for i in range(20)} == {1.0}
    assert {shown("flip:0", WRONG, i) for i in range(20)} == {-0.1}


@pytest.mark.parametrize("control", ["none", "random", "format_only", "flip:1"])
def test_an_invalid_sample_has_no_reward_under_any_control(control: str) -> None:
    assert shown(control, OURS, 0) is None


@pytest.mark.parametrize("text", ["", "coin", "flip", "flip:x", "flip:-1", "flip:nan", "random:1"])
def test_other_controls_do_not_exist(text: str) -> None:
    with pytest.raises(ValueError, match=r"control|probability"):
        Control.parse(text)


def test_a_control_reads_back_from_its_text() -> None:
    for text in ("none", "random", "format_only", "flip:0.25"):
        assert str(Control.parse(text)) == text


def test_false_positives_and_false_negatives_go_one_way() -> None:
    assert {shown("false_positives:1", verdict, 0) for verdict in (RIGHT, WRONG, NOTHING)} == {1.0}
    assert {shown("false_negatives:1", verdict, 0) for verdict in (RIGHT, WRONG, NOTHING)} == {-0.1}
    assert shown("false_positives:0", WRONG, 0) == shown("false_negatives:1", WRONG, 0) == -0.1
    rewards = [shown("false_negatives:0.3", RIGHT, i) for i in range(N)]
    assert abs(rewards.count(-0.1) / N - 0.3) < 3 * math.sqrt(0.3 * 0.7 / N)


def test_shuffled_shows_what_another_checker_says() -> None:
    shuffled = Control.parse("shuffled")
    assert shuffled.reward(1.0, seed=0, rollout="r", verdict=RIGHT, elsewhere=-0.1) == -0.1
    assert shuffled.reward(None, seed=0, rollout="r", verdict=OURS, elsewhere=1.0) is None
