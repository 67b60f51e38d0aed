"""The part of an audit that is about rescorings: each line is in its place, and points to the record of its sample."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from lydite.errors import InputError
from lydite.ledger import rescorings
from lydite.ledger.chain import RESCORE, RESCORING, VERDICT, hash_in, kind_of, task_and_kind
from lydite.ledger.contents import LEDGER
from lydite.ledger.faults import Problem, peek, spelled
from lydite.ledger.files import Lines
from lydite.ledger.reading import read_rescored, read_rescoring
from lydite.ledger.record import Ref, Rescored
from lydite.ledger.rescorings import Standing


class _Old(msgspec.Struct):
    """What a rescored record has in common with the one that it points to."""

    sample: str
    rollout: str
    task: str
    policy: str


class _Open:
    """A rescoring under way: how far it is, which tasks it may name, and its own walk over the ledger."""

    def __init__(self, path: Path, standing: Standing, tasks: set[str]) -> None:
        self.standing, self.tasks = standing, tasks
        self._lines: Iterator[tuple[int, bytes]] = enumerate(Lines(path), 1)

    def line(self, seq: int) -> bytes | None:
        """The line at ``seq``; each call must ask for a later one."""
        return next((line for number, line in self._lines if number == seq), None)


class Rescorings:
    """Takes the lines of rescorings in their order. Constant memory but for the digests of changed tasks.

    Args:
        run: the run folder.
        tasks: how records of its tasks go on (``chain.task_and_kind``).
    """

    def __init__(self, run: Path, tasks: set[bytes]) -> None:
        self._run, self._tasks = run, tasks
        self._open: dict[str, _Open] = {}

    @property
    def standings(self) -> dict[str, Standing]:
        """How far each is, by name."""
        return {name: item.standing for name, item in self._open.items()}

    def known(self, line: bytes) -> bool:
        """Whether a line is one of theirs."""
        return kind_of(line) in (RESCORING, RESCORE)

    def take(self, line: bytes, seq: int, prev: str) -> Problem | None:
        """What is wrong with a line whose hash and place in the chain are right."""
        try:
            begins = kind_of(line) == RESCORING
            wrong = self._header(line, seq, prev) if begins else self._verdict(line, seq, prev)
        except (InputError, RecursionError) as error:
            wrong = error.message if isinstance(error, InputError) else "nested too deeply"
        return None if wrong is None else Problem(file=LEDGER, line=seq, id=peek(line, "rollout"), message=wrong)

    def _header(self, line: bytes, seq: int, prev: str) -> str | None:
        header = read_rescoring(line, self._run / LEDGER, seq)
        if not spelled(header, line, seq, prev):
            return "is not spelled as Lydite writes it"
        rescorings.check_name(header.name)
        if header.name in self._open:
            return f"a second rescoring is called {header.name}"
        try:
            tasks = {task.digest for task in rescorings.tasks_of(self._run, header)}
        except InputError as error:
            return f"the file of the rescoring {header.name}: {error.message}"
        self._open[header.name] = _Open(self._run / LEDGER, Standing(header, seq), tasks)
        return None

    def _verdict(self, line: bytes, seq: int, prev: str) -> str | None:
        record = read_rescored(line, self._run / LEDGER, seq)
        if not spelled(record, line, seq, prev):
            return "is not spelled as Lydite writes it"
        if (item := self._open.get(record.rescoring)) is None:
            return f"belongs to a rescoring that did not begin: {record.rescoring}"
        standing = item.standing
        if not standing.last < record.of.seq < standing.seq:
            return f"points to record {record.of.seq}, which is not one that follows in this rescoring"
        if standing.complete:
            return f"is one more than the rescoring {record.rescoring} covers"
        old = item.line(record.of.seq)
        if old is None or kind_of(old) != VERDICT or not _agrees(record, old):
            return f"does not speak of the sample of record {record.of.seq}, to which it points"
        if record.task_digest not in item.tasks and task_and_kind(record.task_digest) not in self._tasks:
            return "its task is not there as it was judged"
        item.standing = Standing(standing.header, standing.seq, standing.done + 1, record.of.seq)
        return None


def _agrees(record: Rescored, old: bytes) -> bool:
    said = msgspec.json.decode(old, type=_Old)  # a line that was audited before
    same = (said.sample, said.rollout, said.task, said.policy)
    return record.of == Ref(record.of.seq, hash_in(old)) and same == (
        record.sample,
        record.rollout,
        record.task,
        record.policy,
    )
