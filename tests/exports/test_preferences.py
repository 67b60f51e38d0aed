import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.exports import preference_pairs
from lydite.rollout import Message, ToolCall
from memory_rows import BAR, HINT, MemoryRun, make_row, make_rows, make_run

scores = st.lists(st.sampled_from([None, 0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=10)


def said(messages: list[dict]) -> str:
    return messages[-1]["content"]


def pairs_of(run: MemoryRun, **options) -> tuple[list[tuple[str, str]], object]:
    rows, counts = preference_pairs(run, **options)
    return [(said(row["chosen"]), said(row["rejected"])) for row in rows], counts


def test_pairs_are_the_cross_product_of_right_and_wrong_within_a_group() -> None:
    pairs, counts = pairs_of(make_run({"a": [1, 0, 1, 0], "b": [0, 0], "c": [1, 1]}))
    names = {f"sample a attempt {index}" for index in range(4)}
    assert len(set(pairs)) == 4
    assert {name for pair in pairs for name in pair} == names
    assert (counts.groups, counts.contrast, counts.no_chosen, counts.no_rejected, counts.pairs) == (3, 1, 1, 1, 4)


def test_trl_row_is_conversational() -> None:
    rows, _ = preference_pairs(make_run({"a": [1, 0]}))
    assert list(rows) == [
        {
            "prompt": [{"role": "user", "content": "Do a."}],
            "chosen": [{"role": "assistant", "content": "sample a attempt 0"}],
            "rejected": [{"role": "assistant", "content": "sample a attempt 1"}],
        }
    ]


def test_openai_row_has_input_and_two_outputs() -> None:
    rows, _ = preference_pairs(make_run({"a": [1, 0]}), format="openai")
    assert list(rows) == [
        {
            "input": {"messages": [{"role": "user", "content": "Do a."}]},
            "preferred_output": [{"role": "assistant", "content": "sample a attempt 0"}],
            "non_preferred_output": [{"role": "assistant", "content": "sample a attempt 1"}],
        }
    ]


def test_a_barred_sample_is_on_neither_side() -> None:
    run = MemoryRun((make_row("a", 0, 1, flags=(BAR,)), make_row("a", 1, 0), make_row("a", 2, 1)))
    pairs, counts = pairs_of(run)
    assert pairs == [("sample a attempt 2", "sample a attempt 1")]
    assert counts.barred == 1


def test_a_flag_that_does_not_bar_leaves_the_sample_in() -> None:
    pairs, _ = pairs_of(MemoryRun((make_row("a", 0, 1, flags=(HINT,)), make_row("a", 1, 0))))
    assert len(pairs) == 1


def test_invalid_attempts_are_never_rejected() -> None:
    pairs, counts = pairs_of(make_run({"a": [1, None, None]}))
    assert pairs == []
    assert (counts.invalid, counts.no_rejected) == (2, 1)


@pytest.mark.parametrize(("score", "number"), [(0.5, 1), (0.25, 1), (0.51, 0), (0.9, 0)])
def test_partial_is_rejected_only_well_below_the_chosen(score: float, number: int) -> None:
    pairs, counts = pairs_of(make_run({"a": [1, score]}))
    assert len(pairs) == number
    assert counts.near == 1 - number


def test_partial_is_never_chosen() -> None:
    assert pairs_of(make_run({"a": [0.9, 0]}))[0] == []


def test_identical_texts_are_skipped_and_counted() -> None:
    run = MemoryRun((make_row("a", 0, 1, text="same"), make_row("a", 1, 0, text="same"), make_row("a", 2, 0)))
    pairs, counts = pairs_of(run)
    assert pairs == [("same", "sample a attempt 2")]
    assert counts.identical == 1


def test_a_group_whose_only_contrast_is_identical_text_counts_as_without() -> None:
    run = MemoryRun((make_row("a", 0, 1, text="same"), make_row("a", 1, 0, text="same")))
    _, counts = pairs_of(run)
    assert (counts.contrast, counts.no_rejected) == (0, 1)


def test_the_cap_uses_different_attempts_on_both_sides() -> None:
    pairs, counts = pairs_of(make_run({"a": [1] * 6 + [0] * 6}), cap=6)
    assert len({good for good, _ in pairs}) == len({bad for _, bad in pairs}) == 6
    assert (counts.pairs, counts.capped) == (6, 30)


def test_the_cap_does_not_take_only_the_first_attempts() -> None:
    tasks = {f"t{index}": [1] * 8 + [0] * 8 for index in range(30)}
    rows, _ = preference_pairs(make_run(tasks), cap=1)
    chosen = Counter(int(said(row["chosen"]).split()[-1]) for row in rows)
    assert len(chosen) >= 6


def test_the_cap_prefers_texts_not_yet_used() -> None:
    rows = [make_row("a", index, 1, text="42") for index in range(5)]
    rows += [make_row("a", 5, 1, text="other"), make_row("a", 6, 0), make_row("a", 7, 0)]
    pairs, _ = pairs_of(MemoryRun(tuple(rows)), cap=2)
    assert {good for good, _ in pairs} == {"42", "other"}


def test_a_cap_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="cap"):
        preference_pairs(make_run({"a": [1, 0]}), cap=0)


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="trl, openai"):
        preference_pairs(make_run({"a": [1, 0]}), format="alpaca")


def test_measurements_on_held_out_tasks_are_not_training_data_unless_asked_for() -> None:
    rows = [row for phase in ("before", "train-0-1", "after") for row in make_rows({"a": [1, 0]}, phase=phase)]
    run = MemoryRun(tuple(rows))
    assert pairs_of(run)[0] == [("train-0-1 a attempt 0", "train-0-1 a attempt 1")]
    assert pairs_of(run, phase="train") == pairs_of(run)
    assert pairs_of(run, phase="before")[0] == [("before a attempt 0", "before a attempt 1")]


def test_attempts_of_different_phases_are_never_paired() -> None:
    rows = make_rows({"a": [1]}, phase="train-0-1") + make_rows({"a": [0]}, phase="train-0-2")
    assert pairs_of(MemoryRun(tuple(rows)))[0] == []


def test_a_group_written_in_two_places_comes_out_whole() -> None:
    rows = [make_row("a", 0, 1), make_row("b", 0, 0), make_row("b", 1, 1), make_row("a", 1, 0)]
    pairs, counts = pairs_of(MemoryRun(tuple(rows)))
    assert (len(pairs), counts.groups) == (2, 2)


def test_nothing_is_read_before_the_first_row_is_asked_for() -> None:
    class Unread:
        def rows(self):
            raise AssertionError

    preference_pairs(Unread())


def test_an_attempt_without_any_message_is_on_no_side() -> None:
    run = MemoryRun((make_row("a", 0, 1), make_row("a", 1, 0, completion=())))
    assert pairs_of(run)[0] == []


@pytest.mark.parametrize(("style", "arguments"), [("trl", {"x": 1}), ("openai", '{"x":1}')])
def test_tool_calls_keep_their_turns(style: str, arguments: object) -> None:
    call = Message(role="assistant", tool_calls=(ToolCall(id="1", name="add", arguments={"x": 1}),))
    result = Message(role="tool", content="3", tool_call_id="1", name="add")
    run = MemoryRun(
        (
            make_row("a", 0, 1, completion=(call, result, Message(role="assistant", content="3"))),
            make_row("a", 1, 0),
        )
    )
    row = next(preference_pairs(run, format=style)[0])
    chosen = row["chosen" if style == "trl" else "preferred_output"]
    assert [message["role"] for message in chosen] == ["assistant", "tool", "assistant"]
    assert chosen[0]["tool_calls"] == [
        {"id": "1", "type": "function", "function": {"name": "add", "arguments": arguments}}
    ]
    assert chosen[1] == {"role": "tool", "content": "3", "tool_call_id": "1", "name": "add"}


@given(st.lists(scores, max_size=5))
def test_without_a_cap_every_contrast_appears_exactly_once(groups: list[list[float | None]]) -> None:
    pairs, counts = pairs_of(make_run({str(index): group for index, group in enumerate(groups)}), cap=None)
    expected = {
        (f"sample {task} attempt {good}", f"sample {task} attempt {bad}")
        for task, group in enumerate(groups)
        for good, score in enumerate(group)
        for bad, other in enumerate(group)
        if score == 1 and other is not None and other <= 0.5
    }
    assert sorted(pairs) == sorted(expected)
    assert counts.pairs == len(expected)
    assert counts.groups == counts.contrast + counts.no_chosen + counts.no_rejected == len(groups)


@given(scores, st.integers(1, 12), st.randoms())
def test_a_capped_export_is_a_balanced_subset_and_independent_of_row_order(group, cap, random) -> None:
    run = make_run({"a": group})
    pairs, counts = pairs_of(run, cap=cap)
    full, _ = pairs_of(run, cap=None)
    assert set(pairs) <= set(full)
    assert len(pairs) == min(cap, len(full)) == len(full) - counts.capped
    for side in (0, 1):
        uses = Counter(pair[side] for pair in pairs)
        available = len({pair[side] for pair in full})
        if uses:
            assert max(uses.values()) <= math.ceil(len(pairs) / available)
    mixed = list(run.content)
    random.shuffle(mixed)
    assert pairs_of(MemoryRun(tuple(mixed)), cap=cap)[0] == pairs


def test_memory_does_not_grow_with_the_run() -> None:
    import tracemalloc

    class Generated:
        def rows(self):
            for task in range(400):
                for index in range(4):
                    yield make_row(f"t{task}", index, index % 2, text=f"{task} {index} " + "x" * 10_000)

    rows, _ = preference_pairs(Generated())
    tracemalloc.start()
    number = sum(1 for _ in rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert number == 1_600
    assert peak < 2_000_000
