"""Rescoring: judge the samples of a run another time, by other checkers or newer verifiers, and keep both verdicts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lydite.codec import canonical, digest
from lydite.errors import InputError
from lydite.ledger import Graded, RunFolder, State
from lydite.ledger import rescorings as files
from lydite.ledger.chain import hash_in
from lydite.ledger.record import Ref, Rescored, Rescoring, Row
from lydite.ledger.rescorings import Standing
from lydite.ledger.writing import WAS_COMPLETE
from lydite.reward import Flagged, Preset, RewardScheme
from lydite.sampling.judge import Judge
from lydite.task import Task
from lydite.verifiers import build, checker_of

if TYPE_CHECKING:
    from lydite.ledger.changes import Change

_BATCH = 64
_COMMIT_SIZE, _COMMIT_SECONDS = 1024, 0.5
_THREADS = 2 * (os.cpu_count() or 1)

Progress = Callable[[int, int], None]
"""Called after each commit with: verdicts that are done, how many there will be."""


class Rescore(msgspec.Struct, frozen=True, kw_only=True):
    """What a rescoring came to. ``judged`` counts the verdicts of this call; those of earlier ones were there."""

    name: str
    covers: int
    judged: int
    head: str


class _Plan(msgspec.Struct, frozen=True):
    """What is judged, and by what.

    Attributes:
        tasks: digest of a task as attempted, to the task as it is judged now.
        changed: the lines of those that are not in ``tasks.jsonl``.
        verifiers: id to source hash.
        settings: the rescoring's own words, and a digest of the tasks as they are judged.
        phase, ids: which attempts; all phases where there is none, all attempts where there are no ids.
        count: how many records are judged again.
        last: line number of the run's last verdict.
    """

    tasks: dict[str, Task]
    changed: bytes
    verifiers: dict[str, str]
    settings: dict[str, Any]
    phase: str | None
    ids: Collection[str]
    count: int = 0
    last: int = 0

    @property
    def identity(self) -> str:
        return digest([self.settings, self.verifiers, files.mark_of(self.changed)])

    def concerns(self, row: Row) -> bool:
        """Whether a recorded sample is judged again."""
        if self.ids and row.rollout.id not in self.ids:
            return False
        return row.record.task_digest in self.tasks


def rescore(
    path: str | Path,
    change: Change,
    settings: dict[str, Any],
    *,
    name: str | None = None,
    phase: str | None = None,
    ids: Collection[str] = (),
    progress: Progress | None = None,
) -> Rescore:
    """Judge recorded samples again and append the new verdicts to the ledger, beside the old ones.

    Each new record points to the old one; nothing that is there is changed. A rescoring that was stopped goes on; one
    that is complete is left as it is.

    Args:
        path: the run folder.
        change: how each task is judged now (see ``ledger.changes``).
        settings: the same in plain JSON; kept in the ledger, and the same when the rescoring goes on.
        name: of the rescoring. Where not given, one of the same content is gone on with, else one is made up.
        phase: only attempts of this phase.
        ids: only these attempts; all when empty.
        progress: told after each commit.

    Raises:
        InputError: the run is damaged or in use, a checker cannot be used, nothing is to be judged, or ``name`` is
            that of another rescoring.
        StorageError: the run cannot be written. What was acknowledged is safe; the same call goes on.
    """
    if name is not None:
        files.check_name(name)
    with RunFolder.reopen(path) as run:
        before, was_complete = run.info.state, WAS_COMPLETE in run.info.notes
        plan = _planned(run, change, {**settings, "phase": phase, "ids": sorted(ids)}, phase, ids)
        name, standing = _standing(run, plan, name)
        if standing is None:
            header = Rescoring(
                name=name,
                settings=plan.settings,
                verifiers=plan.verifiers,
                tasks=files.mark_of(plan.changed),
                covers=plan.count,
                time=time.time(),
            )
            standing = Standing(header, run.begin_rescoring(header, plan.changed))
        done = standing.done
        if not standing.complete:
            with ThreadPoolExecutor(_THREADS, thread_name_prefix="lydite-judge") as threads:
                for records in _commits(_judged(run, plan, standing, threads)):
                    run.rescore(records)
                    done += len(records)
                    if progress is not None:
                        progress(done, standing.header.covers)
        # A run that was complete is so again, unless it has grown since.
        complete = before is State.COMPLETE or (was_complete and plan.last < standing.seq)
        state = State.COMPLETE if complete else State.INTERRUPTED
        if run.info.state is not state:
            run.finish(state)
        return Rescore(name=name, covers=done, judged=done - standing.done, head=run.info.head)


def _planned(
    run: RunFolder, change: Change, settings: dict[str, Any], phase: str | None, ids: Collection[str]
) -> _Plan:
    judge, tasks, changed, verifiers = Judge(), {}, bytearray(), {}
    for task in run.tasks():
        try:
            now = change(task)
        except RecursionError:
            raise InputError(f"task {task.id}: nested too deeply", field="checker") from None
        if now is None:
            continue
        judge.prepare(now)
        check = build(checker_of(now))
        verifiers[check.id] = check.source
        tasks[task.digest] = now
        if now is not task:
            changed += canonical(now) + b"\n"
    judged = digest(sorted(task.digest for task in tasks.values()))
    plain = msgspec.json.decode(canonical({**settings, "judged": judged}))
    plan = _Plan(tasks, bytes(changed), dict(sorted(verifiers.items())), plain, phase, frozenset(ids))
    count, last, missing = 0, 0, set(ids)
    for row in run.recorded():
        last = row.seq
        if phase is None or row.rollout.phase == phase:
            missing.discard(row.rollout.id)
            count += plan.concerns(row)
    if missing:
        raise InputError(f"no rollout {min(missing)!r} in {run.path}", field="--id")
    if not count:
        raise InputError("no recorded sample is to be judged again", path=run.path, remedy="see `lydite ledger show`")
    return msgspec.structs.replace(plan, count=count, last=last)


def _standing(run: RunFolder, plan: _Plan, name: str | None) -> tuple[str, Standing | None]:
    """The name of the rescoring, and how far it is where it has begun."""
    found = run.rescorings()
    same = {known: item for known, item in found.items() if _identity(item.header) == plan.identity}
    if name is None:
        for known, item in reversed(same.items()):
            if not item.complete or item.header.covers == plan.count:
                return known, item
        made = name = f"r-{plan.identity[:8]}"
        count = 1
        while name in found:
            count += 1
            name = f"{made}-{count}"
        return name, None
    if name in found and name not in same:
        raise InputError(
            f"{name!r} is another rescoring of this run: other checkers, verifiers or samples",
            field="--name",
            remedy="give it another name",
        )
    return name, found.get(name)


def _identity(header: Rescoring) -> str:
    return digest([header.settings, header.verifiers, header.tasks])


def _judged(run: RunFolder, plan: _Plan, standing: Standing, threads: ThreadPoolExecutor) -> Iterator[list[Rescored]]:
    """New records of what is left, in batches."""
    judges: dict[str, Judge] = {}
    begun = takewhile(lambda pair: pair[0].seq < standing.seq, run.lines(plan.phase))
    lines = ((row, hash_in(line)) for row, line in begun if row.seq > standing.last and plan.concerns(row))

    def judged(row: Row) -> Graded:
        task = plan.tasks[row.record.task_digest]
        return judges[row.record.scheme].judge(row.rollout, task, run.state(row.rollout.workspace))

    for batch in _batches(lines):
        rows = [row for row, _ in batch]
        tasks = [plan.tasks[row.record.task_digest] for row in rows]
        for row in rows:
            if row.record.scheme not in judges:
                judges[row.record.scheme] = Judge(scheme_of(row.record.scheme))
        judge = judges[rows[0].record.scheme]
        waiting = any(judge.waits(task) for task in tasks)
        graded = judge.regard(list(threads.map(judged, rows) if waiting else map(judged, rows)), tasks)
        yield [
            _record(row, name, task, item, standing.header.name)
            for (row, name), task, item in zip(batch, tasks, graded, strict=True)
        ]


def _batches(lines: Iterator[tuple[Row, str]]) -> Iterator[list[tuple[Row, str]]]:
    """Batches that end with a group of attempts, as detectors compare these, and with a reward scheme."""
    batch: list[tuple[Row, str]] = []
    for row, name in lines:
        if batch:
            last = batch[-1][0]
            same = (last.rollout.phase, last.rollout.task) == (row.rollout.phase, row.rollout.task)
            large = len(batch) >= (_COMMIT_SIZE if same else _BATCH)
            if large or last.record.scheme != row.record.scheme:
                yield batch
                batch = []
        batch.append((row, name))
    if batch:
        yield batch


def _record(row: Row, name: str, task: Task, graded: Graded, rescoring: str) -> Rescored:
    old = row.record
    return Rescored(
        sample=old.sample,
        task_digest=task.digest,
        kind="rescore",
        rollout=old.rollout,
        task=old.task,
        policy=old.policy,
        verdict=graded.verdict,
        flags=graded.flags,
        reward=graded.reward,
        scheme=graded.scheme,
        verifier_source=graded.verifier_source,
        seconds=graded.seconds,
        time=time.time(),
        rescoring=rescoring,
        of=Ref(row.seq, name),
    )


def _commits(batches: Iterator[Sequence[Rescored]]) -> Iterator[list[Rescored]]:
    """Batches gathered into commits: of a size, or of a time."""
    gathered: list[Rescored] = []
    deadline = time.monotonic() + _COMMIT_SECONDS
    for batch in batches:
        gathered += batch
        if len(gathered) >= _COMMIT_SIZE or time.monotonic() >= deadline:
            yield gathered
            gathered, deadline = [], time.monotonic() + _COMMIT_SECONDS
    if gathered:
        yield gathered


def scheme_of(name: str) -> RewardScheme:
    """The reward scheme that a record names; the default one for names that no scheme has. What a trainer added to it
    (a control, a penalty for length) is left out: a rescoring's reward is that of the verdict."""
    preset, _, rest = name.partition("+")
    words = dict(word.partition("=")[::2] for word in rest.split("+"))
    try:
        return RewardScheme(
            preset=Preset(preset), format_weight=float(words.get("format", 0)), flagged=Flagged(words["flagged"])
        )
    except (ValueError, KeyError):
        return RewardScheme()
