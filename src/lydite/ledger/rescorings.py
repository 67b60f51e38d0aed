"""Rescorings: other verdicts on samples that have one, beside the old ones and in the same chain.

A rescoring begins with a record of its own (``Rescoring``), which names it, says how it judges and holds the digest of
``rescorings/NAME.jsonl``: the tasks whose checker it changes, as they are now. Its verdicts (``Rescored``) follow in
the order of the records that they point to. It covers what was recorded before it began, so how much is left of it is
always known, and one that was stopped goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from lydite.errors import InputError
from lydite.ledger import taskfile
from lydite.ledger.chain import RESCORE, RESCORING, kind_of
from lydite.ledger.files import Lines, replace, storage, sync_folder
from lydite.ledger.reading import UNREADABLE, damaged, read_rescored, read_rescoring
from lydite.ledger.record import Mark, Rescored, Rescoring
from lydite.task import Task

LEDGER = "ledger.jsonl"
FOLDER = "rescorings"
OLD, LATEST = "old", "rescored"
"""Words for verdicts in place of a rescoring's name: those recorded first, and those of the latest rescoring."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Standing(msgspec.Struct, frozen=True):
    """How far a rescoring is.

    Attributes:
        header: its beginning.
        seq: the line of that record.
        done: verdicts that it has.
        last: the line of the record that the last of them points to.
    """

    header: Rescoring
    seq: int
    done: int = 0
    last: int = 0

    @property
    def complete(self) -> bool:
        return self.done == self.header.covers


def check_name(name: str) -> None:
    """Refuse what cannot name a rescoring.

    Raises:
        InputError: it is not a word that can be the name of a file, or it has another meaning.
    """
    if _NAME.fullmatch(name) is None or name in (OLD, LATEST, "all"):
        raise InputError(
            f"{name[:80]!r} cannot name a rescoring",
            field="--name",
            remedy="letters, digits, '.', '_' and '-', at most 64, and not old, rescored or all",
        )


def file_of(run: Path, name: str) -> Path:
    """Where the changed tasks of a rescoring are."""
    return run / FOLDER / f"{name}.jsonl"


def write(run: Path, name: str, tasks: bytes) -> None:
    """Put the file of a rescoring in its place, durably; before the record that holds its digest."""
    folder = run / FOLDER
    with storage(folder):
        if not folder.is_dir():
            folder.mkdir(exist_ok=True)
            sync_folder(run)
    replace(file_of(run, name), tasks)


def tasks_of(run: Path, header: Rescoring) -> Iterator[Task]:
    """The tasks whose checker a rescoring changes.

    Raises:
        InputError: the file is not the one that the ledger speaks of.
    """
    path = file_of(run, header.name)
    if not path.is_file() or taskfile.mark_of_file(path) != header.tasks:
        raise InputError("is missing, or not the file of that rescoring", path=path)
    return taskfile.read_tasks(path)


class _Of(msgspec.Struct):
    seq: int


class _Peek(msgspec.Struct):
    """What counting needs of a record."""

    rescoring: str
    of: _Of


def standings(run: Path) -> dict[str, Standing]:
    """The rescorings of a run by name, in their order.

    Raises:
        InputError: a line is damaged.
    """
    found: dict[str, Standing] = {}
    decode = msgspec.json.Decoder(_Peek).decode
    path = run / LEDGER
    for seq, line in enumerate(Lines(path), 1):
        kind = kind_of(line)
        if kind == RESCORING:
            header = read_rescoring(line, path, seq)
            found[header.name] = Standing(header, seq)
        elif kind == RESCORE:
            try:
                said = decode(line)
                standing = found[said.rescoring]
            except (*UNREADABLE, KeyError) as error:
                raise damaged(path, seq, error) from None
            found[said.rescoring] = Standing(standing.header, standing.seq, standing.done + 1, said.of.seq)
    return found


def chosen(run: Path, verdicts: str | None) -> str | None:
    """The name of the rescoring that is meant; ``None`` for the verdicts that were recorded first.

    Raises:
        InputError: there is no such rescoring, or it is not complete.
    """
    if verdicts is None or verdicts == OLD:
        return None
    found = standings(run)
    name = next(reversed(found), "") if verdicts == LATEST else verdicts
    if name not in found:
        known = ", ".join([OLD, *found])
        message = "the run was never rescored" if not found else f"no rescoring is called {verdicts[:80]!r}"
        raise InputError(message, path=run, field="--verdicts", remedy=f"lydite ledger rescore; there are: {known}")
    if not (standing := found[name]).complete:
        raise InputError(
            f"the rescoring {name} is not complete: {standing.done} of {standing.header.covers}",
            path=run,
            field="--verdicts",
            remedy="the same `lydite ledger rescore` again goes on with it",
        )
    return name


def records(run: Path, name: str) -> Iterator[tuple[Rescored, int]]:
    """The records of a rescoring with their lines, in the order of those that they point to.

    Raises:
        InputError: a line is damaged.
    """
    path, inside = run / LEDGER, b'"rescoring":"%b"' % name.encode()
    for seq, line in enumerate(Lines(path), 1):
        if kind_of(line) == RESCORE and inside in line:
            record = read_rescored(line, path, seq)
            if record.rescoring == name:
                yield record, seq


def mark_of(tasks: bytes) -> Mark:
    """The mark of a file of these bytes."""
    import hashlib

    return Mark(tasks.count(b"\n"), len(tasks), hashlib.sha256(tasks).hexdigest())
