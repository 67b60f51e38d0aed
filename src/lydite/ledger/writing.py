"""What is written into a run folder that this process holds: samples, records, tasks, notes."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lydite.codec import canonical
from lydite.errors import LyditeError, StorageError
from lydite.ledger import rescorings, states, taskfile
from lydite.ledger.chain import link
from lydite.ledger.contents import ROLLOUTS, Contents
from lydite.ledger.info import RunInfo, State, write_info
from lydite.ledger.record import Graded, Rescored, Rescoring, record_of
from lydite.ledger.vacancy import is_new_task
from lydite.ledger.writer import Writer
from lydite.task import Task

if TYPE_CHECKING:
    from lydite.sandbox import Snapshot

NOTE_SECONDS = 1.0
"""How often the head in ``run.json`` is renewed while records are appended."""


WAS_COMPLETE = "complete_before_rescoring"
"""A note in ``run.json`` while a run that was complete is judged again: it gets no new samples, and is complete again
afterwards, also when the process is killed in between."""


class Writing(Contents):
    """The writing side of a run folder."""

    def __init__(self, path: Path, info: RunInfo, writer: Writer | None) -> None:
        super().__init__(path, info)
        self._writer = writer

    def keep(self, state: Snapshot) -> str:
        """Write what an episode left behind, once; its digest. Before ``append`` of the sample that names it.

        Raises:
            StorageError: it cannot be written.
        """
        with self._require_writer().mutex:
            return states.keep(self.path, state)

    def append(self, graded: Sequence[Graded]) -> None:
        """Write samples and their records: one group commit. When it returns, they are on disk.

        Raises:
            StorageError: they could not be written. Nothing that was acknowledged is lost; a rerun resumes.
        """
        writer = self._require_writer()
        with writer.mutex:
            if writer.waiting:
                raise LyditeError("samples of an earlier session wait to be judged: seal() those of unrecorded() first")
            if not graded:
                return
            self._reopen()
            lines = [canonical(item.rollout) for item in graded]
            data = b"\n".join([*lines, b""])
            # The disk takes the samples while the records are made; none is written before the samples are synced.
            with writer.failing():
                written = writer.beside.submit(writer.rollouts.append, data)
                self._seal(graded, lines, written)

    def seal(self, graded: Sequence[Graded]) -> None:
        """Write the records of samples that ``unrecorded`` gave, in its order."""
        writer = self._require_writer()
        with writer.mutex:
            lines = [canonical(item.rollout) for item in graded]
            size = sum(map(len, lines)) + len(lines)
            with open(self.path / ROLLOUTS, "rb") as file:
                file.seek(writer.sealed_size)
                if len(lines) > writer.waiting or file.read(size) != b"\n".join([*lines, b""]):
                    raise LyditeError("these are not the samples that wait for a record, in their order")
            self._reopen()
            self._seal(graded, lines)
            writer.waiting -= len(lines)

    def _seal(self, graded: Sequence[Graded], lines: Sequence[bytes], written: Future[None] | None = None) -> None:
        writer, now = self._require_writer(), time.time()
        pairs = zip(graded, lines, strict=True)
        self._write([record_of(item, hashlib.sha256(line).hexdigest(), now) for item, line in pairs], written)
        writer.sealed_size += sum(map(len, lines)) + len(lines)
        writer.phases.update(item.rollout.phase for item in graded)

    def begin_rescoring(self, header: Rescoring, tasks: bytes) -> int:
        """Write the beginning of a rescoring, and first its file; the line number of the record.

        Args:
            header: the beginning; its ``tasks`` are the mark of ``tasks``.
            tasks: the lines of ``rescorings/NAME.jsonl``.
        """
        writer = self._require_writer()
        with writer.mutex:
            self._reopen(rescoring=True)
            with writer.failing():
                rescorings.write(self.path, header.name, tasks)
            self._write([header])
            return self._info.records

    def rescore(self, records: Sequence[Rescored]) -> None:
        """Write other verdicts on samples that have one: one group commit. When it returns, they are on disk."""
        writer = self._require_writer()
        with writer.mutex:
            if records:
                self._reopen(rescoring=True)
                self._write(records)

    def _write(self, records: Sequence[msgspec.Struct], written: Future[None] | None = None) -> None:
        """One group commit of records, at least one. The last commits to the tree over all before it.

        Args:
            records: in order.
            written: the writing of what they are about, which has to come first.
        """
        writer = self._require_writer()
        seq, head, tree = self._info.records, self._info.head, writer.tree
        lines: list[bytes] = []
        end = seq + len(records)
        with writer.failing():
            for record in records:
                seq += 1
                line, head = link(record, seq, head, tree.root if seq == end else None)
                tree.add(bytes.fromhex(head))
                lines.append(line)
            if written is not None:
                written.result()
            writer.ledger.append(b"".join(lines))
        self._info = msgspec.structs.replace(self._info, records=seq, head=head)
        if time.monotonic() - writer.noted >= NOTE_SECONDS:
            self._change()

    def add_tasks(self, tasks: Iterable[Task]) -> None:
        """Append tasks whose ids are not there yet.

        Raises:
            InputError: a task has the id of one that is there and another content.
        """
        writer = self._require_writer()
        with writer.mutex:
            known = {task.id: task.digest for task in self.tasks()}
            fresh = [task for task in tasks if is_new_task(task, known)]
            if not fresh:
                return
            self._reopen()
            with writer.failing():
                taskfile.write_tasks(writer.tasks, fresh)
            self._change(tasks=taskfile.mark_of_file(self.path / taskfile.FILE))

    def metric(self, values: dict[str, Any]) -> None:
        """One line in ``metrics.jsonl``, handed to the system at once. NaN becomes null, as JSON has none."""
        writer = self._require_writer()
        with writer.mutex:
            writer.metrics.append(canonical(values) + b"\n", sync=False)

    def note(self, **fields: Any) -> None:
        """Keep small JSON state under ``notes`` in ``run.json``, durably and at once; ``None`` removes a field."""
        writer = self._require_writer()
        with writer.mutex:
            plain = msgspec.json.decode(canonical(fields))
            notes = {name: value for name, value in {**self._info.notes, **plain}.items() if value is not None}
            self._change(notes=notes)

    def finish(self, state: str | State = State.COMPLETE) -> None:
        """Note how the run ended, with the head of its ledger: ``complete`` or ``interrupted``."""
        writer = self._require_writer()
        with writer.mutex:
            if writer.waiting and state == State.COMPLETE:
                raise LyditeError("samples wait to be judged: this run is not complete")
            notes = {name: value for name, value in self._info.notes.items() if name != WAS_COMPLETE}
            self._change(state=State(state), notes=notes)

    def _reopen(self, *, rescoring: bool = False) -> None:
        """A finished run that is written again is running again, before the first byte is added to it."""
        if self._info.state is State.RUNNING:
            return
        changes: dict[str, Any] = {"state": State.RUNNING}
        if rescoring and self._info.state is State.COMPLETE:
            changes["notes"] = {**self._info.notes, WAS_COMPLETE: True}
        self._change(**changes)

    def _change(self, **changes: Any) -> None:
        writer = self._require_writer()
        changed = msgspec.structs.replace(self._info, **changes)
        with writer.failing():
            write_info(self.path, changed)
        self._info = changed
        writer.noted = time.monotonic()

    def _require_writer(self) -> Writer:
        if self._writer is None:
            raise LyditeError(f"{self.path} is open to read only, or closed")
        if self._writer.failed:
            raise StorageError(f"writing to {self.path} failed before; run the same command again: it resumes")
        return self._writer
