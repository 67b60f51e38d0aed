"""Flags from sampling to export: made, reviewed, heeded, shown."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sampling_making import run_sample

from lydite.cli import main
from lydite.ledger import RunFolder
from lydite.policies.protocol import Prompt
from lydite.policies.scripted import ScriptedPolicy
from lydite.rollout import Message
from lydite.task import Checker, Task

WORK = "Seven and eight make fifteen, since 7 + 8 = 15, which is what one gets by counting on from seven to it too. "
HOSTILE = "\x1b[2J\x1b[31m\u202e\\boxed{15}"


def leaky(prompt: Prompt, seed: int, index: int) -> str:
    """One attempt that is wrong, one that steers terminals; the others give the answer away at once."""
    return {0: f"{WORK}\\boxed{{16}}", 1: HOSTILE}.get(index, "\\boxed{15}")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    task = Task(
        id="t",
        prompt=(Message(role="user", content="7 + 8?"),),
        checker=Checker(type="math", config={"answer": "15"}),
    )
    run_sample(tmp_path / "run", [task], ScriptedPolicy(leaky), n=5)
    return tmp_path / "run"


def call(*words: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return int(left.value.code or 0)


def documents(capsys: pytest.CaptureFixture[str]) -> Iterator[dict]:
    return map(json.loads, capsys.readouterr().out.splitlines())


def export(run: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict:
    assert call("export", "preferences", run, "-o", run / "p.jsonl", "--json", *more) == 0
    return next(documents(capsys))


def test_what_only_the_group_shows_is_recorded_with_each_attempt(run: Path) -> None:
    flags = {row.rollout.index: {flag.detector for flag in row.record.flags} for row in RunFolder.open(run).rows()}
    both = {"no_visible_work", "same_answer_no_work"}
    assert flags == {0: set(), 1: both, 2: both, 3: both, 4: both}


def test_a_dismissed_flag_bars_no_more_and_the_ledger_stays_as_it_was(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (run / "ledger.jsonl").read_bytes()
    assert export(run, capsys)["rows"] == 0
    names = ["sample/t/3:no_visible_work", "sample/t/3:same_answer_no_work"]
    assert call("flags", "review", run, "--dismiss", names[0], "--dismiss", names[1], "--note", "known by heart") == 0
    capsys.readouterr()
    assert export(run, capsys)["rows"] == 1
    assert export(run, capsys, "--no-reviews")["rows"] == 0
    assert (run / "ledger.jsonl").read_bytes() == before
    assert call("ledger", "verify", run) == 0
    capsys.readouterr()
    assert call("show", run, "sample/t/3") == 0
    shown = capsys.readouterr().out
    assert "dismissed by a person" in shown
    assert "known by heart" in shown
    assert "barred" not in shown


def test_flags_are_listed_and_summed_up_with_their_precision(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call("flags", "review", run, "--confirm", "sample/t/2:no_visible_work", "--dismiss", "sample/t/3:no_visible_work")
    capsys.readouterr()
    assert call("flags", "review", run, "--json") == 0
    listed = list(documents(capsys))
    assert len(listed) == 8
    assert {item["id"]: item["review"] for item in listed if item["detector"] == "no_visible_work"} == {
        "sample/t/1": None,
        "sample/t/2": "confirmed",
        "sample/t/3": "dismissed",
        "sample/t/4": None,
    }
    assert call("flags", "summary", run, "--json") == 0
    (summed,) = (one for one in next(documents(capsys)) if one["detector"] == "no_visible_work")
    assert (summed["flags"], summed["correct"], summed["confirmed"], summed["dismissed"]) == (4, 4, 1, 1)
    assert (summed["precision"], summed["open"], summed["bars"]) == (0.5, 2, 3)
    assert 0 < summed["low"] < 0.1 < 0.9 < summed["high"] < 1
    assert call("report", run) == 0
    assert "50.0 %" in (run / "report.md").read_text()


@pytest.mark.parametrize("name", ["sample/t/0:no_visible_work", "sample/t/9:no_visible_work", "no_visible_work"])
def test_a_flag_that_is_not_there_cannot_be_decided_on(
    name: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("flags", "review", run, "--confirm", "sample/t/2:no_visible_work", "--confirm", name) == 2
    assert "has no flag" in capsys.readouterr().err
    assert not (run / "flags-review.jsonl").exists()


def test_one_goes_through_the_flags_by_keys_and_on_from_there(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("c\nwhat\nd\nt\ns\nq\n"))
    assert call("flags", "review", run, "--detector", "no_visible_work") == 0
    said = capsys.readouterr().err
    assert "[1 of 4]" in said
    assert "2 decided" in said
    decisions = [json.loads(line)["decision"] for line in (run / "flags-review.jsonl").read_text().splitlines()]
    assert decisions == ["confirmed", "dismissed"]
    monkeypatch.setattr("sys.stdin", io.StringIO("c\nc\n"))
    assert call("flags", "review", run, "--detector", "no_visible_work") == 0
    assert "[1 of 2]" in capsys.readouterr().err


def test_what_a_model_wrote_does_not_steer_the_terminal(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("t\ns\n" * 8))
    assert call("flags", "review", run) == 0
    said = capsys.readouterr().err
    assert "\\x1b[2J" in said
    assert not {"\x1b", "\u202e"} & set(said)


def test_detectors_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("flags", "list", "--json") == 0
    listed = {one["name"]: one for one in next(documents(capsys))}
    assert listed["no_visible_work"]["bars"] is True
    assert listed["answer_first"]["bars"] is False
    assert listed["reward_without_truth"]["looks_at"] == "runs"


def test_a_run_without_training_has_no_curves(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("flags", "curves", run, "--json") == 0
    assert next(documents(capsys))["stages"] == []


def test_second_verdicts_that_cannot_be_read_are_named(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "second.jsonl").write_text('{"id": "sample/t/0", "score": 1}\nnonsense\n')
    assert call("flags", "curves", run, "--second", tmp_path / "second.jsonl") == 2
    assert "second.jsonl:2" in capsys.readouterr().err
