import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.exports import kto_rows, sft_rows
from memory_rows import BAR, MemoryRun, make_row, make_run

run = MemoryRun(
    (
        make_row("a", 0, 1),
        make_row("a", 1, 1, flags=(BAR,)),
        make_row("a", 2, 0),
        make_row("a", 3, None),
        make_row("a", 4, 0.75),
    )
)


def test_sft_rows_are_the_verified_and_unbarred_attempts() -> None:
    rows, counts = sft_rows(run)
    assert list(rows) == [
        {
            "prompt": [{"role": "user", "content": "Do a."}],
            "completion": [{"role": "assistant", "content": "sample a attempt 0"}],
        }
    ]
    assert (counts.good, counts.barred, counts.invalid) == (1, 1, 1)


def test_openai_sft_rows_are_whole_conversations() -> None:
    rows, _ = sft_rows(run, format="openai")
    assert list(rows) == [
        {
            "messages": [
                {"role": "user", "content": "Do a."},
                {"role": "assistant", "content": "sample a attempt 0"},
            ]
        }
    ]


def test_kto_labels_right_and_wrong_and_leaves_out_what_is_neither() -> None:
    rows, counts = kto_rows(run)
    assert [(row["completion"][0]["content"], row["label"]) for row in rows] == [
        ("sample a attempt 0", True),
        ("sample a attempt 2", False),
    ]
    assert (counts.good, counts.bad, counts.barred, counts.invalid, counts.near) == (1, 1, 1, 1, 1)


def test_kto_in_a_format_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="unpaired"):
        kto_rows(run, format="openai")


def test_cap_counts_rows_of_a_label_in_a_group() -> None:
    rows, counts = kto_rows(make_run({"a": [1, 1, 1, 0, 0], "b": [0, 0, 0]}), cap=2)
    labels = [row["label"] for row in rows]
    assert (labels.count(True), labels.count(False), counts.capped) == (2, 4, 2)


@given(st.lists(st.lists(st.sampled_from([None, 0.0, 0.5, 1.0]), min_size=1, max_size=6), max_size=4))
def test_sft_has_one_row_for_each_correct_attempt(groups: list[list[float | None]]) -> None:
    rows, counts = sft_rows(make_run({str(index): group for index, group in enumerate(groups)}))
    assert len(list(rows)) == counts.good == sum(group.count(1.0) for group in groups)
