"""Replay: derive recorded verdicts again and compare. They depend on rollout, checker and verifier version alone."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from lydite.codec import canonical
from lydite.errors import InputError, LyditeError
from lydite.ledger.derive import derive, policy_fault
from lydite.ledger.folder import RunFolder
from lydite.ledger.record import Record, Row
from lydite.ledger.rescorings import chosen, tasks_of
from lydite.rollout import Rollout
from lydite.task import Task
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import CompiledChecker, build, checker_of
from lydite.verifiers.registry import JUDGE, NOT_JUDGED, RECORDED

if TYPE_CHECKING:
    from lydite.sandbox import Snapshot

ALL = "all"
_BATCH = 64
_KEPT = 256
_THREADS = 2 * (os.cpu_count() or 1)


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


def replay(run: RunFolder, ids: Collection[str] | None = None, *, verdicts: str = ALL) -> Iterator[Replayed]:
    """Derive verdicts again with the verifiers of this installation: those recorded first, in the order of the ledger,
    then those of each rescoring.

    A verdict is compared when the verifier's version and source hash are those of the record; otherwise it may differ
    rightly and is ``not_replayable``. So is a verdict that was ``invalid`` by the verifier's own fault. One whose
    evidence is gone or damaged (what the episode left behind) differs, and has no derived verdict. Checks that wait for
    other processes run several at once.

    Args:
        run: the run.
        ids: rollouts to replay; all when not given.
        verdicts: ``all``, ``old`` (those recorded first), ``rescored`` (the latest rescoring's) or a rescoring's name.

    Raises:
        InputError: an id is not in the run, there is no such rescoring, or a line is damaged.
    """
    names = [None, *run.rescorings()] if verdicts == ALL else [chosen(run.path, verdicts)]
    judges = _Judges(run)
    missing = set(ids) if ids is not None else set()
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="lydite-judge") as threads:
        for name in names:
            rows = run.recorded() if name is None else (new for _, new in run.rescored(name))
            wanted = rows if ids is None else (row for row in rows if row.rollout.id in ids)
            while batch := list(islice(wanted, _BATCH)):
                items = [(row, judges.find(row)) for row in batch]
                missing.difference_update(row.rollout.id for row in batch)
                if any(isinstance(check, CompiledChecker) and check.waits for _, check in items):
                    yield from threads.map(judges.replayed, items)
                else:
                    yield from map(judges.replayed, items)
    if missing:
        raise InputError(
            f"no rollout {min(missing)!r} in {run.path}", field="--id", remedy="`lydite show RUN` lists the ids"
        )


class _Judges:
    """The checks of a run's tasks, also of those that rescorings changed, compiled when they are needed."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._tasks = {task.digest: task for task in run.tasks()}
        for standing in run.rescorings().values():
            with contextlib.suppress(InputError):  # told of each record that needs one of them
                self._tasks.update({task.digest: task for task in tasks_of(run.path, standing.header)})
        self._checks: dict[str, CompiledChecker | str] = {}

    def find(self, row: Row) -> CompiledChecker | str:
        """The check of a record's task, or why there is none."""
        digest = row.record.task_digest
        found = self._checks.get(digest)
        if found is None:
            if len(self._checks) >= _KEPT:
                self._checks.clear()
            found = self._checks[digest] = _built(self._tasks.get(digest))
        return found

    def replayed(self, item: tuple[Row, CompiledChecker | str]) -> Replayed:
        """One record, derived again."""
        row, check = item
        try:
            state = self._run.state(row.rollout.workspace)
        except InputError as error:
            return _compared(row.record, row.rollout, check, None, row.seq, lost=error.message)
        return _compared(row.record, row.rollout, check, state, row.seq)


def judged_again(record: Record, rollout: Rollout, task: Task | None, state: Snapshot | None, seq: int) -> Replayed:
    """One record, derived again from what was judged."""
    return _compared(record, rollout, _built(task), state, seq)


def _built(task: Task | None) -> CompiledChecker | str:
    if task is None:
        return "its task is not there as it was judged"
    if task.checker.type == RECORDED:
        return f"{NOT_JUDGED}; {JUDGE}"
    try:
        return build(checker_of(task))
    except LyditeError as error:
        return f"its checker cannot be built here: {error}"


def _compared(
    record: Record,
    rollout: Rollout,
    check: CompiledChecker | str,
    state: Snapshot | None,
    seq: int,
    *,
    lost: str | None = None,
) -> Replayed:
    def answer(match: Match, why: str = "", derived: Verdict | None = None) -> Replayed:
        return Replayed(id=rollout.id, seq=seq, match=match, why=why, recorded=record.verdict, derived=derived)

    if rollout.error is not None:
        derived = policy_fault(rollout.error)
    elif isinstance(check, str):
        return answer(Match.NOT_REPLAYABLE, check)
    else:
        if record.verdict.verifier != check.id:
            gone = f"judged by {record.verdict.verifier}, which is not there any more: here is {check.id}"
            return answer(Match.NOT_REPLAYABLE, gone)
        if record.verifier_source != check.source:
            return answer(Match.NOT_REPLAYABLE, f"the source of {check.id} is not the one that judged")
        if record.verdict.outcome is Outcome.INVALID:
            return answer(Match.NOT_REPLAYABLE, f"the verifier had failed: {record.verdict.reason}")
        if lost is not None:
            return answer(Match.DIFFERS, f"what its episode left behind {lost}")
        derived = derive(rollout, check, state)
    same = canonical(derived) == canonical(record.verdict)
    return answer(Match.SAME if same else Match.DIFFERS, derived=derived)
