"""The run folder: the only place where a run's truth lives, and the only code that writes it.

``rollouts.jsonl`` (what a policy said) is written and synced first, then ``ledger.jsonl`` (what was said of it), then,
at most about once a second, the head in ``run.json``. Killed anywhere between, a run loses nothing that was
acknowledged: a torn last line is cut off on resume, and samples that have no record yet are given back by
``unrecorded`` to be judged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from lydite.errors import InputError
from lydite.ledger import states, taskfile
from lydite.ledger.audit import Audit, audit
from lydite.ledger.contents import LEDGER, ROLLOUTS
from lydite.ledger.files import Lines, Lock, storage, sync_folder
from lydite.ledger.info import FILE as INFO
from lydite.ledger.info import RunInfo, State, new_info, read_info, write_info
from lydite.ledger.reading import read_rollout
from lydite.ledger.vacancy import require_same, require_vacant, unmake
from lydite.ledger.writer import Writer
from lydite.ledger.writing import Writing
from lydite.rollout import Rollout
from lydite.task import Task


class RunFolder(Writing):
    """A run folder, opened to read (``open``) or to write (``create``). A context manager; safe to use from threads.

    Attributes:
        resumed: whether ``create`` found a run to go on with.
    """

    def __init__(self, path: Path, info: RunInfo, writer: Writer | None = None, *, resumed: bool = False) -> None:
        super().__init__(path, info, writer)
        self.resumed = resumed

    @classmethod
    def open(cls, path: str | Path, *, verdicts: str | None = None) -> RunFolder:
        """Open a run to read it. Nothing is locked, so a run that is still going on can be read too.

        Args:
            path: the folder.
            verdicts: whose verdicts its rows have: those recorded first (``None`` or ``old``), those of the latest
                rescoring (``rescored``), or those of the rescoring of this name.

        Raises:
            InputError: there is no run, its ``run.json`` cannot be read, or there is no such rescoring.
        """
        folder = Path(path)
        run = cls(folder, read_info(folder))
        run.choose(verdicts)
        return run

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
    def reopen(cls, path: str | Path) -> RunFolder:
        """Open the run that is there to write more about its samples.

        Raises:
            InputError: there is no run, it is damaged, or in use.
            StorageError: it cannot be written.
        """
        folder = Path(path)
        info = read_info(folder)
        return cls._resume(folder, info.kind, info.settings, None)

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
        states.sweep(self.path, found.states)
        path = self.path / taskfile.FILE
        lines = Lines(path)
        whole = sum(len(line) + 1 for line in lines)
        if writer.tasks.size > whole:
            writer.tasks.cut(whole)
        writer.waiting, writer.sealed_size, writer.tree = found.unrecorded, found.samples_size, found.tree
        writer.phases.update(rollout.phase for rollout in self._rollouts(found.samples_size))
        changes: dict[str, Any] = {}
        if (found.records, found.head) != (self._info.records, self._info.head):
            changes |= {"records": found.records, "head": found.head}
        if whole != self._info.tasks.size:
            changes["tasks"] = taskfile.mark_of_file(path)
        if changes:
            self._change(**changes)

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


def _let_go(writer: Writer | None, lock: Lock) -> None:
    if writer is not None:
        writer.close()
    lock.release()
