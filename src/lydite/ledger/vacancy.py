"""Whether a folder may become a run, or is the run that was asked for. Looks only; nothing is touched."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lydite.codec import digest
from lydite.errors import InputError
from lydite.ledger import taskfile
from lydite.ledger.contents import LEDGER, ROLLOUTS
from lydite.ledger.info import RunInfo
from lydite.task import Task

_DRAFTS = (".lock", ".run.json.tmp", taskfile.FILE)
_EMPTY_DRAFTS = (ROLLOUTS, LEDGER, "metrics.jsonl")


def require_vacant(folder: Path) -> None:
    """A folder that is not there, is empty, or holds what a run killed while it was being made leaves behind.

    Raises:
        InputError: it holds anything else.
    """
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise InputError("is not a folder", path=folder, remedy="give another folder")
    try:
        entries = sorted(os.listdir(folder))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=folder) from error
    begun = ".lock" in entries
    for name in entries:
        if begun and name in _DRAFTS:
            continue
        if begun and name in _EMPTY_DRAFTS and (folder / name).stat().st_size == 0:
            continue
        raise InputError(
            f"the folder is not empty and not a run ({name} is in it)", path=folder, remedy="give another folder"
        )


def require_same(
    folder: Path, info: RunInfo, kind: str, settings: dict[str, Any], tasks: Iterable[Task] | None = None
) -> None:
    """The run that is there was asked for by the same kind, settings and (where given) tasks.

    Raises:
        InputError: it was not; says what differs.
    """
    difference = None
    if kind != info.kind:
        difference = f"another kind of run ({info.kind})"
    elif digest(settings) != info.settings_digest:
        names = sorted(
            name
            for name in {*settings, *info.settings}
            if name not in settings
            or name not in info.settings
            or digest(settings[name]) != digest(info.settings[name])
        )
        difference = f"a run with other settings ({', '.join(names)})"
    elif tasks is not None and taskfile.mark_of_tasks(tasks) != info.origin:
        difference = "a run with other tasks"
    if difference is not None:
        raise InputError(
            f"holds {difference}", path=folder, remedy="give another folder, or the same settings and tasks to resume"
        )


def is_new_task(task: Task, known: dict[str, str]) -> bool:
    """Whether a task's id is not in ``known`` (id to digest) yet; it is added there.

    Raises:
        InputError: the id is known with another content.
    """
    there = known.get(task.id)
    if there is None:
        known[task.id] = task.digest
        return True
    if there != task.digest:
        raise InputError(
            f"another task with the id {task.id!r} is in the run", field="id", remedy="give each task an id of its own"
        )
    return False


def unmake(folder: Path, made: bool) -> None:
    """Take back what was made of a run that could not be made."""
    for name in (*_DRAFTS, *_EMPTY_DRAFTS):
        with contextlib.suppress(OSError):
            (folder / name).unlink()
    if made:
        with contextlib.suppress(OSError):
            folder.rmdir()
