"""Recorded verdicts are derived again with the verifiers at hand."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from ledger_making import SETTINGS, TASKS, grade

from lydite.cli import main
from lydite.errors import InputError
from lydite.ledger import Graded, RunFolder
from lydite.ledger.derive import derive, policy_fault
from lydite.ledger.replay import Match, replay
from lydite.verdict import Verdict
from lydite.verifiers import build


def judged(number: int, index: int) -> Graded:
    """A record whose verdict the real verifier gave."""
    item, check = grade(TASKS[number], index), build(TASKS[number].checker)
    return msgspec.structs.replace(item, verdict=derive(item.rollout, check), verifier_source=check.source)


def replayed(path: Path, *items: Graded, ids: list[str] | None = None) -> list[Match]:
    with RunFolder.create(path / "run", kind="sample", settings=SETTINGS, tasks=TASKS) as run:
        run.append(items)
    return [item.match for item in replay(RunFolder.open(path / "run"), ids)]


def test_a_verdict_that_can_be_derived_is_the_same(tmp_path: Path) -> None:
    assert replayed(tmp_path, judged(0, 0), judged(1, 1)) == [Match.SAME, Match.SAME]


def test_a_verdict_that_the_verifier_does_not_give_differs(tmp_path: Path) -> None:
    real = judged(0, 1)
    lie = msgspec.structs.replace(real, verdict=Verdict.of(1.0, "correct", real.verdict.verifier))
    assert replayed(tmp_path, judged(0, 0), lie) == [Match.SAME, Match.DIFFERS]


def test_another_version_or_source_is_not_replayable(tmp_path: Path) -> None:
    real = judged(0, 0)
    older = msgspec.structs.replace(real, verdict=msgspec.structs.replace(real.verdict, verifier="exact@0"))
    edited = msgspec.structs.replace(judged(1, 0), verifier_source="f" * 64)
    assert replayed(tmp_path, older, edited) == [Match.NOT_REPLAYABLE] * 2


def test_the_verifiers_own_failure_is_not_replayable(tmp_path: Path) -> None:
    real = judged(0, 0)
    failed = msgspec.structs.replace(real, verdict=Verdict.invalid("verifier_error", real.verdict.verifier))
    assert replayed(tmp_path, failed) == [Match.NOT_REPLAYABLE]


def test_a_policys_failure_is_the_same(tmp_path: Path) -> None:
    real = judged(0, 0)
    failed = msgspec.structs.replace(
        real, rollout=msgspec.structs.replace(real.rollout, error="http_429"), verdict=policy_fault("http_429")
    )
    assert replayed(tmp_path, failed) == [Match.SAME]


def test_single_ids_can_be_asked_for(tmp_path: Path) -> None:
    assert replayed(tmp_path, judged(0, 0), judged(1, 0), ids=["sample/t1/0"]) == [Match.SAME]


def test_an_id_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sample/t3/9"):
        replayed(tmp_path, judged(0, 0), ids=["sample/t0/0", "sample/t3/9"])


def command(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as left:
        main(["ledger", "replay", *map(str, arguments)])
    return int(left.value.code or 0)


def test_the_command_says_no_where_nothing_could_be_derived(tmp_path: Path) -> None:
    edited = msgspec.structs.replace(judged(1, 0), verifier_source="f" * 64)
    replayed(tmp_path / "none", edited)
    replayed(tmp_path / "some", edited, judged(0, 0))
    assert (command(tmp_path / "none" / "run"), command(tmp_path / "some" / "run")) == (1, 0)


def test_the_command_replays_the_verdicts_that_were_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replayed(tmp_path, judged(0, 0))
    assert command(tmp_path / "run", "--verdicts", "old") == 0
    assert "1 same" in capsys.readouterr().err
    assert command(tmp_path / "run", "--verdicts", "strict") == 2
    assert "never rescored" in capsys.readouterr().err
