"""Reading lines back, whichever version of the layout they were written in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from lydite.errors import InputError
from lydite.ledger.record import Record, Rescored, Rescoring
from lydite.rollout import Rollout
from lydite.task import Task

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]
"""Turns a document of version v into one of version v + 1."""


class _Versioned(Protocol):
    @property
    def schema(self) -> int: ...


T = TypeVar("T", bound=_Versioned)

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises for bytes that Lydite did not write."""


def reason(error: Exception) -> str:
    """What is wrong with such bytes, in words."""
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


class Reader(Generic[T]):
    """Decodes lines of one kind. A line without ``schema`` is version 1.

    Args:
        kind: the struct.
        version: the layout that this Lydite writes.
        upgrades: version to the function that leads to the next one. Older lines go through all that apply, so each
            change of the layout needs one function, written once.
    """

    def __init__(self, kind: type[T], *, version: int = 1, upgrades: Mapping[int, Upgrade] | None = None) -> None:
        self._kind, self._version, self._upgrades = kind, version, dict(upgrades or {})
        self._decode = msgspec.json.Decoder(kind).decode

    def __call__(self, line: bytes, path: Path, number: int) -> T:
        """Decode one line.

        Raises:
            InputError: names the file and the line; it is not what Lydite wrote, or a newer Lydite wrote it.
        """
        try:
            value = self._decode(line)
            if value.schema == self._version:
                return value
        except msgspec.ValidationError:
            pass  # an older layout, perhaps
        except UNREADABLE as error:
            raise damaged(path, number, error) from None
        return self._older(line, path, number)

    def _older(self, line: bytes, path: Path, number: int) -> T:
        try:
            document = msgspec.json.decode(line, type=dict[str, Any])
            version = document.get("schema", 1)
            if isinstance(version, int) and version > self._version:
                raise InputError(
                    f"written by a newer Lydite (layout {version}, this one reads up to {self._version})",
                    path=path,
                    line=number,
                    field="schema",
                    remedy="update Lydite",
                )
            while version != self._version and version in self._upgrades:
                document = self._upgrades[version](document)
                version += 1
            return msgspec.convert({**document, "schema": version}, self._kind)
        except (*UNREADABLE, KeyError, TypeError) as error:
            raise damaged(path, number, error) from None


def damaged(path: Path, number: int, error: Exception) -> InputError:
    """The error for a line that cannot be decoded."""
    return InputError(
        f"not what Lydite wrote: {reason(error)}",
        path=path,
        line=number,
        remedy=f"see `lydite ledger verify {path.parent}`",
    )


read_record = Reader(Record)
read_rescored = Reader(Rescored)
read_rescoring = Reader(Rescoring)
read_rollout = Reader(Rollout)
read_task = Reader(Task)
