"""What a run folder holds, read back: tasks, samples with what was said of them, states."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lydite.errors import InputError
from lydite.ledger import rescorings, states, taskfile
from lydite.ledger.chain import RESCORE, RESCORING, kind_of
from lydite.ledger.files import Lines
from lydite.ledger.info import RunInfo
from lydite.ledger.reading import UNREADABLE, damaged, read_record, read_rollout
from lydite.ledger.record import Row
from lydite.ledger.rescorings import LEDGER, Standing
from lydite.task import Task

if TYPE_CHECKING:
    from lydite.sandbox import Snapshot

ROLLOUTS = "rollouts.jsonl"

__all__ = ["LEDGER", "ROLLOUTS", "Contents"]


class _Name(msgspec.Struct):
    """What a sample is called: all that counting needs of it."""

    id: str
    phase: str = "sample"


class Contents:
    """The reading side of a run folder.

    Attributes:
        path: the folder.
        verdicts: the rescoring whose verdicts ``rows`` gives; ``None`` for those recorded first.
    """

    def __init__(self, path: Path, info: RunInfo) -> None:
        self.path = path
        self.verdicts: str | None = None
        self._info = info

    @property
    def info(self) -> RunInfo:
        """What ``run.json`` says; while writing, including records that are not noted there yet."""
        return self._info

    def tasks(self) -> Iterator[Task]:
        """The tasks of the run, in the order in which they were added."""
        return taskfile.read_tasks(self.path / taskfile.FILE)

    def rescorings(self) -> dict[str, Standing]:
        """The rescorings of the run by name, in their order, and how far each is."""
        return rescorings.standings(self.path)

    def choose(self, verdicts: str | None) -> None:
        """Whose verdicts ``rows`` gives from now on: ``old``, ``rescored`` (the latest) or a rescoring's name.

        Raises:
            InputError: there is no such rescoring, or it is not complete.
        """
        self.verdicts = rescorings.chosen(self.path, verdicts)

    @property
    def choice(self) -> tuple[str, ...]:
        """What a reader must know of chosen verdicts, a sentence each; nothing for those recorded first."""
        if self.verdicts is None:
            return ()
        header = self.rescorings()[self.verdicts].header
        total = sum(1 for _ in self.recorded())
        told = [f"verdicts of the rescoring {self.verdicts}, by {', '.join(header.verifiers)}"]
        if header.covers < total:
            told.append(f"it judged {header.covers} of {total} attempts; the others keep the verdict recorded first")
        return tuple(told)

    def rows(self, phase: str | None = None) -> Iterator[Row]:
        """Samples with their records, in order, streaming.

        Where a rescoring was chosen, the records are its own; samples that it did not judge keep the one that they had.

        Raises:
            InputError: a line is damaged, or a record is not about the sample beside it; see ``lydite ledger verify``.
        """
        if self.verdicts is None:
            yield from self.recorded(phase)
            return
        others = self.rescored(self.verdicts)
        other = next(others, None)
        for row in self.recorded(phase):
            while other is not None and other[0].seq < row.seq:
                other = next(others, None)
            yield other[1] if other is not None and other[0].seq == row.seq else row

    def rescored(self, name: str) -> Iterator[tuple[Row, Row]]:
        """Each sample that a rescoring judged, with its old record and with the new one. Errors as of ``rows``."""
        rows = self.recorded()
        for record, seq in rescorings.records(self.path, name):
            for row in rows:
                if row.seq == record.of.seq:
                    yield row, Row(row.rollout, record, seq)
                    break

    def recorded(self, phase: str | None = None) -> Iterator[Row]:
        """Samples with the records that were made first, whatever was chosen. Errors as of ``rows``."""
        return (row for row, _ in self.lines(phase))

    def lines(self, phase: str | None = None) -> Iterator[tuple[Row, bytes]]:
        """As ``recorded``, each with its line of the ledger."""
        ledger, rollouts = self.path / LEDGER, self.path / ROLLOUTS
        samples = enumerate(Lines(rollouts), 1)
        for seq, line in enumerate(Lines(ledger), 1):
            if kind_of(line) in (RESCORE, RESCORING):
                continue
            record = read_record(line, ledger, seq)
            if record.kind != "verdict":
                continue
            number, sample = next(samples, (0, b""))
            if hashlib.sha256(sample).hexdigest() != record.sample:
                raise InputError(
                    f"not the sample that was judged ({record.rollout})",
                    path=rollouts,
                    line=number or None,
                    remedy=f"see `lydite ledger verify {self.path}`",
                )
            if phase is None or record.rollout.startswith(f"{phase}/"):
                rollout = read_rollout(sample, rollouts, number)
                if phase is None or rollout.phase == phase:
                    yield Row(rollout, record, seq), line

    def state(self, digest: str | None) -> Snapshot | None:
        """What an episode left behind, by ``Rollout.workspace``; ``None`` where there was none.

        Raises:
            InputError: it is missing or damaged.
        """
        return None if digest is None else states.read(self.path, digest)

    def _rollouts(self, size: int) -> Iterator[_Name]:
        """Names of the samples in the first ``size`` bytes."""
        decode = msgspec.json.Decoder(_Name).decode
        at, path = 0, self.path / ROLLOUTS
        for number, line in enumerate(Lines(path), 1):
            at += len(line) + 1
            if at > size:
                return
            try:
                name = decode(line)
            except UNREADABLE as error:
                raise damaged(path, number, error) from None
            yield name
