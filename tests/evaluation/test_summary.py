import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.evaluation import summarise, tally
from lydite.reward import frac_reward_zero_std, signal
from lydite.rollout import FinishReason
from memory_rows import BAR, HINT, make_row, make_rows

scores = st.lists(st.sampled_from([None, 0.0, 0.5, 1.0]), min_size=1, max_size=6)


def test_pass_at_1_is_the_mean_over_tasks_and_not_over_attempts() -> None:
    summary = summarise(make_rows({"easy": [1], "hard": [0, 0, 0]}))
    assert summary.at(1).excluded.value == 0.5


def test_both_denominators_are_reported() -> None:
    rows = make_rows({f"t{index}": [1] for index in range(8)}) + make_rows({"x": [None], "y": [None]})
    entry = summarise(rows).at(1)
    assert (entry.excluded.value, entry.excluded.tasks, entry.left_out) == (1.0, 8, 2)
    assert (entry.as_wrong.value, entry.as_wrong.tasks) == (0.8, 10)


def test_an_invalid_attempt_leaves_its_own_tasks_denominator_only() -> None:
    entry = summarise(make_rows({"a": [1, None, 0, 1], "b": [0, 0, 0, 0]})).at(1)
    assert entry.excluded.value == pytest.approx((2 / 3 + 0) / 2)
    assert entry.as_wrong.value == pytest.approx((2 / 4 + 0) / 2)


def test_nothing_valid_gives_no_rate_instead_of_zero() -> None:
    summary = summarise(make_rows({"a": [None, None]}))
    assert summary.at(1).excluded is None
    assert summary.at(1).as_wrong.value == 0
    assert summary.mean_score is None
    assert summary.groups.invalid == 1


def test_partial_is_not_a_pass_but_counts_in_the_mean_score() -> None:
    summary = summarise(make_rows({"a": [0.5, 0.5]}))
    assert summary.at(1).excluded.value == 0
    assert summary.mean_score == 0.5


def test_more_k_than_attempts_names_the_task() -> None:
    with pytest.raises(InputError, match="'short' has 1"):
        summarise(make_rows({"long": [1, 0], "short": [1]}), ks=(1, 2))


def test_too_few_valid_attempts_leave_the_task_out_and_are_counted() -> None:
    entry = summarise(make_rows({"a": [1, None], "b": [0, 1]}), ks=(2,)).at(2)
    assert (entry.excluded.tasks, entry.left_out, entry.as_wrong.tasks) == (1, 1, 2)


def test_no_rows_are_an_error() -> None:
    with pytest.raises(InputError, match="no attempts"):
        summarise([])


def test_sampling_everything_twice_with_nothing_learned_does_not_narrow_the_interval() -> None:
    groups = {f"t{index}": [1] * (index % 5) + [0] * (4 - index % 5) for index in range(40)}
    once = summarise(make_rows(groups)).at(1).excluded
    twice = summarise(make_rows({task: group * 2 for task, group in groups.items()})).at(1).excluded
    assert (once.low, once.high) == (twice.low, twice.high)
    single = {task: group[:1] for task, group in groups.items()}
    one, two = (summarise(make_rows({t: g * times for t, g in single.items()})).at(1).excluded for times in (1, 2))
    assert (one.low, one.high) == (two.low, two.high)


def test_outcomes_truncation_flags_and_tokens_are_counted() -> None:
    rows = [
        make_row("a", 0, 1.0, flags=(BAR, HINT)),
        make_row("a", 1, 0.0, flags=(HINT,), finish=FinishReason.LENGTH),
        make_row("b", 0, None, completion_tokens=None, prompt_tokens=None),
        make_row("b", 1, 1.0),
    ]
    summary = summarise(rows)
    assert summary.outcomes == {"correct": 2, "partial": 0, "incorrect": 1, "unparseable": 0, "invalid": 1}
    assert summary.truncation_rate == 0.25
    assert summary.flagged_rate == 0.5
    assert summary.flags == {"hint": 2, "no_visible_work": 1}
    assert summary.suspected_hacks == 1
    assert (summary.prompt_tokens, summary.completion_tokens, summary.tokens_known) == (10.5, 4.5, 3)
    assert summary.verify_seconds == 0.5


def test_difficulty_slices_hold_their_tasks_only() -> None:
    rows = make_rows({"a": [1, 1], "b": [0, 1], "c": [0, 0]})
    summary = summarise(rows, difficulty={"a": "easy", "b": "hard", "c": "", "elsewhere": "hard"})
    assert {label: part.tasks for label, part in summary.by_difficulty.items()} == {"easy": 1, "hard": 1}
    assert summary.by_difficulty["hard"].pass_at[0].excluded.value == 0.5


@given(st.lists(scores, min_size=1, max_size=8))
def test_group_counts_agree_with_the_reward_modules_own(groups: list[list[float | None]]) -> None:
    rows = make_rows({str(index): group for index, group in enumerate(groups)})
    counts = summarise(rows, draws=2_000).groups
    by_task = [[row for row in rows if row.rollout.task == str(index)] for index in range(len(groups))]
    kinds = [signal(row.record.verdict for row in members) for members in by_task]
    assert [counts.mixed, counts.all_correct, counts.all_wrong, counts.invalid] == [
        kinds.count(kind) for kind in ("mixed", "all_correct", "all_wrong", "invalid")
    ]
    rewards = [[row.record.reward for row in members] for members in by_task]
    assert counts.frac_reward_zero_std == frac_reward_zero_std(rewards)


@given(st.lists(scores, min_size=1, max_size=8), st.randoms())
def test_the_order_of_rows_changes_nothing(groups: list[list[float | None]], random) -> None:
    rows = make_rows({str(index): group for index, group in enumerate(groups)})
    mixed = list(rows)
    random.shuffle(mixed)
    assert summarise(rows, draws=2_000) == summarise(mixed, draws=2_000)


def test_groups_of_different_phases_are_different_groups() -> None:
    rows = make_rows({"a": [0, 0]}, phase="before") + make_rows({"a": [1, 1]}, phase="after")
    counts = tally(rows)
    assert len(counts.groups) == 2
    assert len(counts.tasks) == 1
