"""Words of attempts and tasks, read from run folders by where their lines lie, and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lydite.codec import sha256
from lydite.errors import InputError
from lydite.ledger import Record, Row
from lydite.ledger.contents import LEDGER, ROLLOUTS
from lydite.ledger.reading import read_record, read_rollout, read_task
from lydite.ledger.taskfile import FILE as TASKS
from lydite.server.index import reading
from lydite.task import Task

_CHANGED = "does not hold any more what was indexed"


def rows(folder: Path, found: Iterable[Mapping[Any, Any]]) -> list[Row]:
    """Attempts with their words and records.

    Args:
        folder: of the run.
        found: rows of the table ``rollouts``.

    Raises:
        InputError: the folder does not hold any more what was indexed.
    """
    ledger, rollouts = folder / LEDGER, folder / ROLLOUTS
    with ExitStack() as stack:
        judged, _ = stack.enter_context(reading.opened(ledger))
        said, _ = stack.enter_context(reading.opened(rollouts))
        return [_row(row, judged, ledger, said, rollouts) for row in found]


def _row(row: Mapping[Any, Any], judged: int, ledger: Path, said: int, rollouts: Path) -> Row:
    record = _record(row, judged, ledger)
    sample = reading.piece(said, row["rollout_offset"], row["rollout_length"], rollouts)
    if sha256(sample) != record.sample:
        raise InputError(_CHANGED, path=rollouts)
    return Row(read_rollout(sample, rollouts, 0), record, row["seq"])


def records(folder: Path, found: Iterable[Mapping[Any, Any]]) -> list[Record]:
    """Records alone. Errors as of ``rows``."""
    ledger = folder / LEDGER
    with reading.opened(ledger) as (descriptor, _):
        return [_record(row, descriptor, ledger) for row in found]


def _record(row: Mapping[Any, Any], descriptor: int, path: Path) -> Record:
    line = reading.piece(descriptor, row["ledger_offset"], row["ledger_length"], path)
    record = read_record(line, path, row["seq"])
    if reading.without_nul(record.rollout) != row["id"]:
        raise InputError(_CHANGED, path=path)
    return record


def task(folder: Path, row: Mapping[Any, Any]) -> Task:
    """The task of a row of the table ``tasks``. Errors as of ``rows``."""
    path = folder / TASKS
    with reading.opened(path) as (descriptor, _):
        line = reading.piece(descriptor, row["offset"], row["length"], path)
    found = read_task(line, path, row["line"])
    if reading.without_nul(found.id) != row["id"]:
        raise InputError(_CHANGED, path=path)
    return found
