import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lydite.errors import InputError
from lydite.evaluation import write_report
from lydite.evaluation.markdown import cell, table
from lydite.ledger import Graded, RunFolder
from lydite.rollout import Message
from lydite.task import Checker, Task
from memory_rows import BAR, make_row


def tasks(number: int) -> list[Task]:
    return [
        Task(
            id=f"t{index}",
            prompt=(Message(role="user", content=f"Do t{index}."),),
            checker=Checker(type="math", config={"answer": str(index)}),
            difficulty=f"level-{index % 2}",
        )
        for index in range(number)
    ]


def graded(row) -> Graded:
    return Graded(
        rollout=row.rollout,
        verdict=row.record.verdict,
        flags=row.record.flags,
        reward=row.record.reward,
        scheme=row.record.scheme,
        verifier_source=row.record.verifier_source,
        seconds=row.record.seconds,
    )


def fill(run: RunFolder, phase: str, scores: list[float | None], n: int = 2, **fields) -> None:
    """Attempts at the tasks in turn, n each; every score is used for one attempt."""
    attempts = [
        make_row(f"t{position // n}", position % n, score, phase=phase, **fields)
        for position, score in enumerate(scores)
    ]
    run.append([graded(row) for row in attempts])


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    path = tmp_path / "trained"
    with RunFolder.create(path, kind="train", settings={"seed": 7, "note": "``` | <b>"}, tasks=tasks(20)) as run:
        fill(run, "before", [0, 0, 0, 1] * 10)
        for step in range(1, 6):
            fill(run, f"train-0-{step}", [0, 1, 1, None, 1, 1], step=step)
            run.metric({"stage": 0, "kind": "grpo", "step": step, "loss": 0.1 * step})
        fill(run, "after", [1, 1, 0, 1] * 10, flags=(BAR,))
        run.finish()
    return path


def test_the_report_of_a_training_run_compares_before_and_after(trained: Path) -> None:
    text = write_report(trained).read_text()
    assert "pass@1 went from 25.0 % to 75.0 % over the same 20 tasks: +50.0 points" in text
    assert "The interval excludes zero." in text
    assert "| pass@2 | +50.0 (" in text
    assert "| level-0 | 10 |" in text


def test_it_names_head_seed_and_how_to_check(trained: Path) -> None:
    head = RunFolder.open(trained).info.head
    text = write_report(trained).read_text()
    assert f"--head {head}" in text
    assert '"seed": 7' in text


def test_groups_outcomes_flags_and_pairs_are_counted(trained: Path) -> None:
    text = write_report(trained).read_text()
    assert "| train-0 | 15 | 5 | 10 | 0 | 0 |" in text
    assert "| train-0 | 30 | 20 | 0 | 5 | 0 | 5 |" in text
    assert "Suspected hacks (correct attempts that a detector flagged): 30." in text
    assert "None exported so far." in text
    (trained / "preferences.jsonl").write_text("{}\n{}\n")
    assert "2 in `preferences.jsonl`." in write_report(trained).read_text()


def test_every_curve_that_is_shown_is_there_and_well_formed(trained: Path) -> None:
    text = write_report(trained).read_text()
    files = sorted(path.name for path in (trained / "curves").iterdir())
    assert {"pass_at_k.svg", "success.svg", "reward.svg", "frac_reward_zero_std.svg", "loss.svg"} <= set(files)
    for name in files:
        ElementTree.parse(trained / "curves" / name)
        assert f"(curves/{name})" in text


def test_it_depends_on_the_folder_alone_and_can_be_written_again(trained: Path, tmp_path: Path) -> None:
    first = write_report(trained).read_text()
    assert write_report(trained).read_text() == first
    shutil.copytree(trained, tmp_path / "copy" / "trained")
    assert write_report(tmp_path / "copy" / "trained").read_text().replace(f"{tmp_path}/copy", str(tmp_path)) == first


def test_a_run_that_is_not_complete_says_so(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "r", kind="sample", settings={"n": 2, "seed": 1}, tasks=tasks(5)) as run:
        fill(run, "sample", [1, 0, 1])
        text = write_report(tmp_path / "r").read_text()
    assert "This run is not complete" in text
    assert "sample pass@1" in text
    assert "sample pass@2" not in text
    assert f"lydite sample {tmp_path}/r/tasks.jsonl --policy SPEC -n 2 --seed 1" in text


def test_a_run_without_attempts_has_a_report_too(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "r", kind="demo", settings={}, tasks=tasks(1)):
        pass
    assert "## Success" not in write_report(tmp_path / "r").read_text()


def test_nothing_valid_is_said_and_not_a_rate_of_zero(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "r", kind="eval", settings={}, tasks=tasks(2)) as run:
        fill(run, "eval", [None, None, None, None])
        run.finish()
    assert "| eval pass@1 | none valid | 0.0 % (0.0 to 65.8) | 2 | 2 |" in write_report(tmp_path / "r").read_text()


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a run folder"):
        write_report(tmp_path)


def test_text_of_others_cannot_break_a_table_or_a_code_block(trained: Path) -> None:
    assert cell("a|b\n<script> `x` \ud800") == "a\\|b \\<script\\> \\`x\\` �"
    assert table(("", "n"), [("a\n|", 1)]).count("\n") == 3
    assert "````json" in write_report(trained).read_text()
