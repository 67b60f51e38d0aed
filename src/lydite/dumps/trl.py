"""TRL's tables of completions: ``completions/completions_00012.parquet`` (``log_completions=True``).

Columns: ``step``, ``prompt``, ``completion`` (text or messages), one for each reward function, those of ``log_extra``,
``advantage`` (TRL 1.16, ``GRPOTrainer.log``). A trainer that resumes writes the files of the steps that it repeats
again, under the same names. A whole file is held in memory, one at a time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lydite.dumps.attempts import Attempt, whole
from lydite.dumps.numbered import by_step, numbered
from lydite.errors import InputError, MissingExtraError
from lydite.exports.chat import read_messages

_FILE = re.compile(r"completions_(\d+)\.parquet")
_STATE = re.compile(r"checkpoint-(\d+)")
_OWN = ("step", "prompt", "completion", "advantage", "image", "images")


class _State(msgspec.Struct):
    """What is read of ``trainer_state.json``."""

    log_history: list[dict[str, Any]] = []


class TrlDump:
    """Files of TRL's, or folders that hold them: the output folder of a training, or its ``completions``.

    Args:
        paths: files and folders.
        gold: column to compare with.
    """

    trainer = "trl"
    repeats = True

    def __init__(self, paths: Sequence[Path], gold: str | None = None) -> None:
        self._paths, self._gold = paths, gold

    def files(self) -> list[Path]:
        """The files, in the order of their numbers within a folder.

        Raises:
            InputError: there are none.
        """
        return numbered(self._paths, _inner, _number_of, "completions_*.parquet", "train with log_completions: true")

    def steps(self) -> Iterator[tuple[int, list[Attempt]]]:
        """The attempts of each step; see ``Dump.steps``."""
        return by_step(self.files(), _steps, self._read)

    def metrics(self) -> dict[int, dict[str, float]]:
        """The log history of the latest checkpoint below the folders given."""
        found: dict[int, dict[str, float]] = {}
        for path in self._paths:
            folder = path if path.is_dir() else path.parent
            for place in (folder, folder.parent) if folder.name == "completions" else (folder,):
                states = [(int(match[1]), one) for one in place.iterdir() if (match := _STATE.fullmatch(one.name))]
                if states:
                    found.update(_history(max(states)[1] / "trainer_state.json"))
        return found

    def _read(self, path: Path) -> Iterator[Attempt]:
        table = _table(path)
        names = [name for name in table.column_names if name not in _OWN]
        numeric = {name for name in names if _is_number(table.schema.field(name).type)}
        if self._gold is not None and self._gold not in table.column_names:
            raise InputError("has no such column", path=path, field=self._gold, remedy=", ".join(names))
        row = 0
        for batch in table.to_batches(max_chunksize=1024):
            for item in batch.to_pylist():
                row += 1
                prompt, completion = (
                    _messages(item[name], role, path, row, name)
                    for name, role in (("prompt", "user"), ("completion", "assistant"))
                )
                yield Attempt(
                    path=path,
                    row=row,
                    step=_step(item["step"], path, row),
                    prompt=prompt,
                    completion=completion,
                    numbers={name: _number(item[name]) for name in names if name in numeric},
                    gold=item[self._gold] if self._gold is not None else None,
                    advantage=_number(item.get("advantage")),
                )


def _inner(folder: Path) -> Path:
    tables = folder / "completions"
    return tables if tables.is_dir() else folder


def _number_of(name: str) -> int | None:
    match = _FILE.fullmatch(name)
    return int(match[1]) if match else None


def _steps(path: Path) -> Iterator[int]:
    return (_step(step, path, row) for row, step in enumerate(_column(path, "step"), 1))


def _table(path: Path, columns: Sequence[str] | None = None) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("reading parquet files", "server") from None
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            missing = [name for name in _OWN[:3] if name not in file.schema_arrow.names]
            if missing:
                raise InputError(
                    "has no such column", path=path, field=missing[0], remedy="is it a table of TRL's completions?"
                )
            return file.read(columns=None if columns is None else list(columns))
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise InputError(f"is no parquet file that can be read: {str(error)[:200]}", path=path) from None


def _column(path: Path, name: str) -> list[Any]:
    column: list[Any] = _table(path, [name]).column(name).to_pylist()
    return column


def _is_number(kind: Any) -> bool:
    import pyarrow.types

    return bool(pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind) or pyarrow.types.is_boolean(kind))


def _number(value: Any) -> float | None:
    """A number; ``None`` where it was left empty, which TRL writes as NaN."""
    if not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(value)


def _step(given: Any, path: Path, row: int) -> int:
    value = whole(given)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or value != value
        or value < 0
        or value != int(value)
    ):
        raise InputError(f"is no number of a step: {given!r:.40}", path=path, line=row, field="step")
    return int(value)


def _messages(value: Any, role: str, path: Path, row: int, field: str) -> Any:
    found = read_messages(value, role)
    if found is None or (field == "prompt" and not found):
        raise InputError("is neither text nor messages", path=path, line=row, field=field)
    return found


def _history(path: Path) -> dict[int, dict[str, float]]:
    try:
        state = msgspec.json.decode(path.read_bytes().replace(b"NaN", b"null"), type=_State)
    except (OSError, msgspec.DecodeError):
        return {}
    found: dict[int, dict[str, float]] = {}
    for entry in state.log_history:
        step = entry.pop("step", None)
        if isinstance(step, int):
            numbers = {name: value for name, value in entry.items() if isinstance(value, int | float)}
            found.setdefault(step, {}).update(numbers)
    return found
