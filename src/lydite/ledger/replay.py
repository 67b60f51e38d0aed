"""Replay: derive recorded verdicts again and compare. They depend on rollout, checker and verifier version alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum

import msgspec

from lydite.codec import canonical
from lydite.errors import InputError
from lydite.ledger.derive import derive, policy_fault
from lydite.ledger.folder import RunFolder
from lydite.ledger.record import Row
from lydite.task import Task
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import build, checker_of


class Match(StrEnum):
    """How a derived verdict compares with the recorded one."""

    SAME = "same"
    DIFFERS = "differs"
    NOT_REPLAYABLE = "not_replayable"


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """One record, derived again.

    Attributes:
        id: of the rollout.
        seq: the record's line in the ledger.
        match: how it compares.
        why: why it cannot be replayed; empty otherwise.
        recorded: the verdict in the ledger.
        derived: the verdict now, where there is one.
    """

    id: str
    seq: int
    match: Match
    why: str = ""
    recorded: Verdict
    derived: Verdict | None = None


def replay(run: RunFolder, ids: Collection[str] | None = None) -> Iterator[Replayed]:
    """Derive verdicts again with the verifiers of this installation, in the order of the ledger.

    A verdict is compared when the verifier's version and source hash are those of the record; otherwise it may differ
    rightly and is ``not_replayable``. So is a verdict that was ``invalid`` by the verifier's own fault. One whose
    evidence is gone or damaged (what the episode left behind) differs, and has no derived verdict.

    Args:
        run: the run.
        ids: rollouts to replay; all when not given.

    Raises:
        InputError: an id is not in the run, or a line is damaged.
    """
    tasks = {task.digest: task for task in run.tasks()}
    missing = set(ids) if ids is not None else None
    for row in run.rows():
        if missing is not None:
            if row.rollout.id not in missing:
                continue
            missing.remove(row.rollout.id)
        yield _replayed(run, row, tasks.get(row.record.task_digest))
        if missing is not None and not missing:
            return
    if missing:
        raise InputError(
            f"no rollout {min(missing)!r} in {run.path}", field="--id", remedy="`lydite show RUN` lists the ids"
        )


def _replayed(run: RunFolder, row: Row, task: Task | None) -> Replayed:
    record, rollout = row.record, row.rollout

    def answer(match: Match, why: str = "", derived: Verdict | None = None) -> Replayed:
        return Replayed(
            id=rollout.id, seq=row.seq, match=match, why=why, recorded=record.verdict, derived=derived
        )  # fmt: skip

    if rollout.error is not None:
        derived = policy_fault(rollout.error)
    elif task is None:
        return answer(Match.NOT_REPLAYABLE, "its task is not in tasks.jsonl as it was")
    else:
        try:
            check = build(checker_of(task))
        except InputError as error:
            return answer(Match.NOT_REPLAYABLE, f"its checker cannot be built here: {error}")
        if record.verdict.verifier != check.id:
            return answer(Match.NOT_REPLAYABLE, f"judged by {record.verdict.verifier}, here is {check.id}")
        if record.verifier_source != check.source:
            return answer(Match.NOT_REPLAYABLE, f"the source of {check.id} is not the one that judged")
        if record.verdict.outcome is Outcome.INVALID:
            return answer(Match.NOT_REPLAYABLE, f"the verifier had failed: {record.verdict.reason}")
        try:
            state = run.state(rollout.workspace)
        except InputError as error:
            return answer(Match.DIFFERS, f"what its episode left behind {error.message}")
        derived = derive(rollout, check, state)
    same = canonical(derived) == canonical(record.verdict)
    return answer(Match.SAME if same else Match.DIFFERS, derived=derived)
