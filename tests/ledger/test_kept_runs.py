"""Runs that earlier versions wrote are read, verified, proved and continued: the layout is a promise.

``kept/without-roots`` was written before heads committed to a Merkle tree, ``kept/rescored`` when rescorings began. A
change that makes these fail needs a new version of the layout and a function that upgrades the old one.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from ledger_making import TASKS, grades

from lydite.ledger import RunFolder, verify_run
from lydite.ledger.flips import count, flips
from lydite.ledger.proof import prove
from lydite.ledger.proof_check import check_proof
from lydite.ledger.replay import Match, replay

KEPT = Path(__file__).parent / "kept"
HEADS = {
    "without-roots": "000870eba9b86a629c60000e0295a03f0364fd0d4a8d158006d6ee512a75110a",
    "rescored": "ad29c25e76ff1ffdc356ef722e1ebe0f0ea16920a380a02d90936d3ed78852ba",
}


@pytest.mark.parametrize("name", HEADS)
def test_a_kept_run_is_in_order_and_read(name: str) -> None:
    found = verify_run(KEPT / name, head=HEADS[name])
    assert (found.problem, found.state) == (None, "complete")
    run = RunFolder.open(KEPT / name)
    assert len(list(run.rows())) == found.samples
    assert len(list(run.tasks())) == run.info.tasks.count
    assert {item.match for item in replay(run)} <= {Match.SAME, Match.NOT_REPLAYABLE}


@pytest.mark.parametrize("name", HEADS)
def test_a_kept_run_is_proved_and_continued(tmp_path: Path, name: str) -> None:
    run = tmp_path / name
    shutil.copytree(KEPT / name, run)
    first = next(RunFolder.open(run).rows()).rollout.id
    root = verify_run(run).root
    assert check_proof(prove(RunFolder.open(run), first), root=root).problem is None
    with RunFolder.reopen(run) as folder:
        folder.add_tasks(TASKS[:1])
        folder.append(grades(TASKS[:1], phase="more"))
        folder.finish()
    found = verify_run(run, extends=HEADS[name])
    assert found.problem is None
    assert check_proof(prove(RunFolder.open(run), first), head=found.head).problem is None


def test_a_kept_rescoring_can_be_taken() -> None:
    run = RunFolder.open(KEPT / "rescored", verdicts="strict")
    assert [row.record.verdict.correct for row in run.rows()] == [False, True, False, True]
    assert count(flips(run, "strict")).ways["lost"] == 2
