from pathlib import Path

from lydite.evaluation.collect import collect, read_metrics
from memory_rows import make_row, make_rows


def test_steps_of_a_stage_are_one_part() -> None:
    rows = [
        row for phase in ("before", "train-0-1", "train-0-2", "train-1-1") for row in make_rows({"a": [1]}, phase=phase)
    ]
    found = collect(rows)
    assert list(found.parts) == ["before", "train-0", "train-1"]
    assert found.measured == ["before"]
    assert {part: list(steps) for part, steps in found.steps.items()} == {"train-0": [1, 2], "train-1": [1]}


def test_a_repeated_step_counts_as_it_came_out_last() -> None:
    rows = [make_row("a", 0, 0, phase="train-0-1"), make_row("a", 0, 1, phase="train-0-1.2")]
    found = collect(rows)
    assert found.steps["train-0"][1].outcomes == {"correct": 1}
    assert found.parts["train-0"].attempts == 2


def test_a_torn_line_of_metrics_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"step":1}\n[1]\n{"step":2}\n{"ste')
    assert list(read_metrics(path)) == [{"step": 1}, {"step": 2}]
    assert list(read_metrics(tmp_path / "none")) == []
