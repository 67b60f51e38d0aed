"""The run folder: the only place where a run's truth lives, and the only code that writes it.

``rollouts.jsonl`` (what a policy said) is written and synced first, then ``ledger.jsonl`` (what was said of it), then,
at most about once a second, the head in ``run.json``. Killed anywhere between, a run loses nothing that was
acknowledged: a torn last line is cut off on resume, and samples that have no record yet are given back by
``unrecorded`` to be judged.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from lydite.codec import canonical
from lydite.errors import InputError, LyditeError, StorageError
from lydite.ledger import states, taskfile
from lydite.ledger.audit import LEDGER, ROLLOUTS, Audit, audit
from lydite.ledger.chain import link
from lydite.ledger.files import Lines, Lock, storage, sync_folder
from lydite.ledger.info import FILE as INFO
from lydite.ledger.info import RunInfo, State, new_info, read_info, write_info
from lydite.ledger.reading import UNREADABLE, damaged, read_record, read_rollout
from lydite.ledger.record import Graded, Row, record_of
from lydite.ledger.vacancy import is_new_task, require_same, require_vacant, unmake
from lydite.ledger.writer import Writer
from lydite.rollout import Rollout
from lydite.task import Task

if TYPE_CHECKING:
    from lydite.sandbox import Snapshot

NOTE_SECONDS = 1.0
"""How often the head in ``run.json`` is renewed while records are appended."""


class _Name(msgspec.Struct):
    """What a sample is called: all that counting needs of it."""

    id: str
    phase: str = "sample"


class RunFolder:
    """A run folder, opened to read (``open``) or to write (``create``). A context manager; safe to use from threads.

    Attributes:
        path: the folder.
        resumed: whether ``create`` found a run to go on with.
    """

    def __init__(self, path: Path, info: RunInfo, writer: Writer | None = None, *, resumed: bool = False) -> None:
        self.path, self.resumed = path, resumed
        self._info, self._writer = info, writer

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """Open a run to read it. Nothing is locked, so a run that is still going on can be read too.

        Raises:
            InputError: there is no run, or its ``run.json`` cannot be read.
        """
        folder = Path(path)
        return cls(folder, read_info(folder))

    @classmethod
    def create(
        cls, path: str | Path, *, kind: str, settings: dict[str, Any], tasks: Iterable[Task] | None = None
    ) -> RunFolder:
        """Make a run, or go on with the one that is there when kind, settings and tasks are the same.

        Args:
            path: the folder; its parents are made.
            kind: what makes the run: ``sample``, ``train`` ...
            settings: everything that results depend on, as plain JSON. No secrets: it is written to ``run.json``.
            tasks: the tasks to begin with, consumed one by one. ``None`` on resume accepts those that are there.

        Raises:
            InputError: the folder holds something else or is in use; nothing was touched.
            StorageError: it cannot be written.
        """
        folder = Path(path)
        if (folder / INFO).exists():
            return cls._resume(folder, kind, settings, tasks)
        require_vacant(folder)
        made = not folder.exists()
        with storage(folder):
            folder.mkdir(parents=True, exist_ok=True)
        lock = Lock(folder)
        if (folder / INFO).exists():  # another process made it between the look and the lock
            lock.release()
            return cls._resume(folder, kind, settings, tasks)
        writer = None
        try:
            for name in (taskfile.FILE, ROLLOUTS, LEDGER):
                (folder / name).unlink(missing_ok=True)
            writer = Writer(folder, lock)
            if tasks is not None:
                taskfile.write_tasks(writer.tasks, tasks)
            info = new_info(kind, settings, taskfile.mark_of_file(folder / taskfile.FILE))
            write_info(folder, info)
        except BaseException:
            unmake(folder, made)
            _let_go(writer, lock)
            raise
        if made:
            sync_folder(folder.parent)
        return cls(folder, info, writer)

    @classmethod
    def _resume(cls, folder: Path, kind: str, settings: dict[str, Any], tasks: Iterable[Task] | None) -> RunFolder:
        require_same(folder, read_info(folder), kind, settings)
        lock = Lock(folder)
        writer = None
        try:
            info = read_info(folder)
            require_same(folder, info, kind, settings, tasks)
            found = audit(folder, info)
            if found.problem is not None:
                raise InputError(
                    f"the run is damaged and cannot be resumed: {found.problem}",
                    path=folder,
                    remedy="give another folder",
                )
            writer = Writer(folder, lock)
            run = cls(folder, info, writer, resumed=True)
            run._recover(found)
        except BaseException:
            _let_go(writer, lock)
            raise
        return run

    def _recover(self, found: Audit) -> None:
        """Cut torn last lines, and take up counting where the files end."""
        writer = self._require_writer()
        for file, size in ((writer.rollouts, found.unrecorded_size), (writer.ledger, found.ledger_size)):
            if file.size > size:
                file.cut(size)
        path = self.path / taskfile.FILE
        lines = Lines(path)
        whole = sum(len(line) + 1 for line in lines)
        if writer.tasks.size > whole:
            writer.tasks.cut(whole)
        writer.waiting, writer.sealed_size = found.unrecorded, found.samples_size
        writer.phases.update(rollout.phase for rollout in self._rollouts(found.samples_size))
        changes: dict[str, Any] = {}
        if (found.records, found.head) != (self._info.records, self._info.head):
            changes |= {"records": found.records, "head": found.head}
        if whole != self._info.tasks.size:
            changes["tasks"] = taskfile.mark_of_file(path)
        if changes:
            self._change(**changes)

    # ------------------------------------------------------------------ reading

    @property
    def info(self) -> RunInfo:
        """What ``run.json`` says; while writing, including records that are not noted there yet."""
        return self._info

    def tasks(self) -> Iterator[Task]:
        """The tasks of the run, in the order in which they were added."""
        return taskfile.read_tasks(self.path / taskfile.FILE)

    def rows(self, phase: str | None = None) -> Iterator[Row]:
        """Samples with their records, in order, streaming. Other kinds of records than verdicts are left out.

        Raises:
            InputError: a line is damaged, or a record is not about the sample beside it; see ``lydite ledger verify``.
        """
        ledger, rollouts = self.path / LEDGER, self.path / ROLLOUTS
        samples = enumerate(Lines(rollouts), 1)
        for seq, line in enumerate(Lines(ledger), 1):
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
                    yield Row(rollout, record, seq)

    def state(self, digest: str | None) -> Snapshot | None:
        """What an episode left behind, by ``Rollout.workspace``; ``None`` where there was none.

        Raises:
            InputError: it is missing or damaged.
        """
        return None if digest is None else states.read(self.path, digest)

    def done(self, phase: str) -> Collection[str]:
        """Ids of the rollouts of a phase that have a record. Sixteen bytes each in memory, for runs of any size."""
        from lydite.ledger.done import Done

        writer = self._writer
        if writer is not None and not writer.phases[phase]:
            return frozenset()
        size = writer.sealed_size if writer is not None else audit(self.path, self._info).samples_size
        return Done(lambda: (rollout.id for rollout in self._rollouts(size) if rollout.phase == phase))

    def unrecorded(self) -> Iterator[Rollout]:
        """Samples without a record: the run was killed between. Judge them in order and ``seal`` them."""
        writer = self._require_writer()
        path = self.path / ROLLOUTS
        for number, line in enumerate(Lines(path, start=writer.sealed_size), 1):
            yield read_rollout(line, path, number)

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

    # ------------------------------------------------------------------ writing

    def keep(self, state: Snapshot) -> str:
        """Write what an episode left behind, once; its digest. Before ``append`` of the sample that names it.

        Raises:
            StorageError: it cannot be written.
        """
        self._require_writer()
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
        writer = self._require_writer()
        seq, head, now = self._info.records, self._info.head, time.time()
        sealed: list[bytes] = []
        for item, line in zip(graded, lines, strict=True):
            seq += 1
            data, head = link(record_of(item, hashlib.sha256(line).hexdigest(), now), seq, head)
            sealed.append(data)
        with writer.failing():
            if written is not None:
                written.result()
            writer.ledger.append(b"".join(sealed))
        writer.sealed_size += sum(map(len, lines)) + len(lines)
        writer.phases.update(item.rollout.phase for item in graded)
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
            self._change(state=State(state))

    def close(self) -> None:
        """Note the head and let go of the files. A run that was not finished is noted as interrupted."""
        writer, self._writer = self._writer, None
        if writer is None:
            return
        with writer.mutex:
            try:
                if not writer.failed and self._info.state is State.RUNNING:
                    self._info = msgspec.structs.replace(self._info, state=State.INTERRUPTED)
                    write_info(self.path, self._info)
            finally:
                writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _reopen(self) -> None:
        """A finished run that is written again is running again, before the first byte is added to it."""
        if self._info.state is not State.RUNNING:
            self._change(state=State.RUNNING)

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


def _let_go(writer: Writer | None, lock: Lock) -> None:
    if writer is not None:
        writer.close()
    lock.release()
