"""The checker card of a task set: what was tried, what got through, and how to mend it; as JSON and as Markdown."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from lydite._version import __version__
from lydite.codec import digest
from lydite.probes.attempt import Probed
from lydite.probes.protocol import PROMISES, Finding, Level
from lydite.task import Task
from lydite.tasksets.checkers import nested

NAMED = 20
"""Ids of tasks that a row names; their number is told beside them."""
COSTLY = "bombs and other costly attacks are made once for each kind and shape of checker, not for every task"


class AttackRow(msgspec.Struct, kw_only=True):
    """One kind of attack over all tasks.

    Attributes:
        check, kind, what: as the attack has them.
        made: how often; got_through, warned: how many of them.
        best_share, mean_share: of the score that it obtained; ``None`` where no verdict gave one.
        tasks: ids of tasks where it got through, the first ``NAMED``.
        mend: what to do where it gets through.
        told, shown: the first time that it got through, or was worth a look: why, and the submission.
    """

    check: str
    kind: str
    what: str = ""
    made: int = 0
    got_through: int = 0
    warned: int = 0
    best_share: float | None = None
    mean_share: float | None = None
    tasks: list[str] = []
    warned_tasks: list[str] = []
    mend: str = ""
    told: str = ""
    shown: str = ""


class CheckRow(msgspec.Struct, kw_only=True):
    """One check over all tasks. ``level``: the worst that was found."""

    check: str
    promise: str
    level: Level
    made: int = 0
    got_through: int = 0
    warned: int = 0
    not_made: int = 0


class NotMade(msgspec.Struct, kw_only=True):
    """A check that was not made, and on which tasks."""

    check: str
    why: str
    count: int = 0
    tasks: list[str] = []


class Card(msgspec.Struct, kw_only=True):
    """All that is said of the checkers of a task set.

    Attributes:
        digest: of the tasks, in order: whether a card speaks of these very tasks.
        kinds: how many tasks have a checker of this type, parts of composites included.
        verifiers: ``name@version`` of each.
        without_solution: how many tasks have no reference; checks that need one were not made there.
        only: what was asked for, where not everything was.
        complete: whether every task was probed to the end.
        began: UTC, ISO 8601.
        seconds: wall clock.
        attacks: submissions that were judged.
        got_through: how many of them did, references that do not score 1 included.
        gameable: tasks with at least one of these.
    """

    schema: int = 1
    lydite: str = __version__
    tasks: int = 0
    probed: int = 0
    digest: str = ""
    files: list[str] = []
    kinds: dict[str, int] = {}
    verifiers: list[str] = []
    without_solution: int = 0
    only: list[str] = []
    complete: bool = False
    began: str = ""
    seconds: float = 0.0
    attacks: int = 0
    got_through: int = 0
    warned: int = 0
    gameable: int = 0
    checks: list[CheckRow] = []
    rows: list[AttackRow] = []
    not_made: list[NotMade] = []
    notes: list[str] = []

    @property
    def holds(self) -> bool:
        """Whether everything was tried, and nothing got through."""
        return self.complete and self.got_through == 0


class Tally:
    """Gathers results; a card can be made at any time."""

    def __init__(self, tasks: Sequence[Task], files: Sequence[str] = (), only: Sequence[str] = ()) -> None:
        self.tasks, self.files, self.only = tasks, list(files), list(only)
        self.began, self._clock = time.time(), time.perf_counter()
        self.findings: list[Finding] = []
        self.got_through = 0
        self._probed: dict[str, bool] = {}
        self._verifiers: set[str] = set()

    @property
    def probed(self) -> int:
        """Tasks that were looked at."""
        return len(self._probed)

    def add(self, done: Probed) -> None:
        """Take what was found."""
        self.take(done.findings)
        if done.verifier:
            self._probed[done.task.id] = done.complete
            self._verifiers.add(done.verifier)

    def take(self, findings: Sequence[Finding]) -> None:
        """Take findings that belong to no task of the set in particular, such as those of kept probes."""
        self.findings += findings
        self.got_through += sum(finding.got_through for finding in findings)

    def card(self) -> Card:
        """What is known so far."""
        kinds = Counter(kind for task in self.tasks for kind in {part.type for part in nested(task.checker)})
        rows, not_made = _rows(self.findings)
        failing = {finding.task for finding in self.findings if finding.got_through}
        complete = len(self._probed) == len(self.tasks) and all(self._probed.values())
        return Card(
            tasks=len(self.tasks),
            probed=sum(self._probed.values()),
            digest=digest([task.digest for task in self.tasks]),
            files=self.files,
            kinds=dict(sorted(kinds.items())),
            verifiers=sorted(self._verifiers),
            without_solution=sum(task.solution is None for task in self.tasks),
            only=self.only,
            complete=complete,
            began=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.began)),
            seconds=round(time.perf_counter() - self._clock, 2),
            attacks=sum(row.made for row in rows),
            got_through=self.got_through,
            warned=sum(row.warned for row in rows),
            gameable=len(failing),
            checks=_checks(rows, not_made),
            rows=rows,
            not_made=not_made,
            notes=[COSTLY],
        )


def _rows(findings: Sequence[Finding]) -> tuple[list[AttackRow], list[NotMade]]:
    rows: dict[tuple[str, str], AttackRow] = {}
    shares: dict[tuple[str, str], list[float]] = {}
    missing: dict[tuple[str, str], NotMade] = {}
    for found in findings:
        key = found.check, found.kind
        if found.level is Level.NOT_MADE:
            gap = missing.setdefault((found.check, found.told), NotMade(check=found.check, why=found.told, tasks=[]))
            gap.count += 1
            _name(gap.tasks, found.task)
            continue
        row = rows.get(key)
        if row is None:
            row = rows[key] = AttackRow(check=found.check, kind=found.kind, tasks=[], warned_tasks=[])
        row.made += 1
        row.what = row.what or found.what
        if found.share is not None:
            shares.setdefault(key, []).append(found.share)
        if found.level is Level.PASSED:
            row.mend = row.mend or found.mend
            continue
        worse = found.got_through and not row.got_through
        if worse or not (row.got_through or row.warned):
            row.what, row.mend, row.told, row.shown = found.what, found.mend, found.told, found.shown
        row.got_through += found.got_through
        row.warned += not found.got_through
        _name(row.tasks if found.got_through else row.warned_tasks, found.task)
    for key, got in shares.items():
        rows[key].best_share, rows[key].mean_share = max(got), round(sum(got) / len(got), 4)
    order = {name: index for index, name in enumerate(PROMISES)}
    ordered = sorted(rows.values(), key=lambda row: (-min(row.got_through, 1), order.get(row.check, len(order))))
    return ordered, list(missing.values())


def _name(names: list[str], task: str) -> None:
    if task not in names and len(names) < NAMED:
        names.append(task)


def _checks(rows: Sequence[AttackRow], not_made: Sequence[NotMade]) -> list[CheckRow]:
    found: list[CheckRow] = []
    for name in dict.fromkeys([*PROMISES, *(row.check for row in rows)]):
        mine = [row for row in rows if row.check == name]
        missing = sum(gap.count for gap in not_made if gap.check in (name, "all"))
        through, warned = sum(row.got_through for row in mine), sum(row.warned for row in mine)
        if not mine and not missing:
            continue
        level = Level.FAILED if through else Level.WARNING if warned else Level.PASSED if mine else Level.NOT_MADE
        found.append(
            CheckRow(
                check=name,
                promise=PROMISES.get(name, ""),
                level=level,
                made=sum(row.made for row in mine),
                got_through=through,
                warned=warned,
                not_made=missing,
            )
        )
    return found


def to_json(card: Card) -> dict[str, Any]:
    """The card as plain values."""
    return {**msgspec.to_builtins(card), "holds": card.holds}
