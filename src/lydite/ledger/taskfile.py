"""``tasks.jsonl``: the tasks of a run, one canonical line each, so that a run explains itself without its sources."""

from __future__ import annotations

import hashlib
import itertools
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

from lydite.codec import canonical
from lydite.errors import InputError
from lydite.ledger.files import BLOCK, Appender, Lines, open_regular
from lydite.ledger.reading import read_task
from lydite.ledger.record import Mark
from lydite.task import Task

FILE = "tasks.jsonl"


def write_tasks(file: Appender, tasks: Iterable[Task], known: set[str] | None = None) -> None:
    """Append tasks that are not in ``known``. The tasks are consumed one by one and never held together.

    Raises:
        InputError: two tasks have the same id.
    """
    names = array("q")  # eight bytes a task: enough to see that there may be a duplicate
    buffer = bytearray()
    for task in tasks:
        if known is not None and task.id in known:
            continue
        names.append(hash(task.id))
        buffer += canonical(task) + b"\n"
        if len(buffer) >= BLOCK:
            file.append(bytes(buffer), sync=False)
            buffer.clear()
    file.append(bytes(buffer))
    ordered = sorted(names)
    if any(first == second for first, second in itertools.pairwise(ordered)):
        _name_duplicate(file.path)


def read_tasks(path: Path, *, size: int | None = None) -> Iterator[Task]:
    """The tasks of a file, in its order; only those in the first ``size`` bytes where given."""
    at = 0
    for number, line in enumerate(Lines(path), 1):
        at += len(line) + 1
        if size is not None and at > size:
            return
        yield read_task(line, path, number)


def mark_of_file(path: Path, size: int | None = None) -> Mark:
    """How far a file goes, or its first ``size`` bytes; a shorter file gives a shorter mark."""
    hasher, count, read = hashlib.sha256(), 0, 0
    with open_regular(path) as file:
        while data := file.read(BLOCK if size is None else min(BLOCK, size - read)):
            hasher.update(data)
            count += data.count(b"\n")
            read += len(data)
    return Mark(count, read, hasher.hexdigest())


def mark_of_tasks(tasks: Iterable[Task]) -> Mark:
    """The mark that a file of these tasks would have."""
    hasher, count, size = hashlib.sha256(), 0, 0
    for task in tasks:
        line = canonical(task) + b"\n"
        hasher.update(line)
        count += 1
        size += len(line)
    return Mark(count, size, hasher.hexdigest())


def _name_duplicate(path: Path) -> None:
    seen: dict[str, int] = {}
    for number, task in enumerate(read_tasks(path), 1):
        if task.id in seen:
            raise InputError(
                f"two tasks have the id {task.id!r} (the {seen[task.id]}. and the {number}.)",
                field="id",
                remedy="give each task an id of its own",
            )
        seen[task.id] = number
