"""An attempt as another trainer dumped it, and what every dump gives."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec

from lydite.codec import canonical
from lydite.errors import InputError
from lydite.rollout import Message


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a dump.

    Attributes:
        path, row: where it stands; rows count from 1.
        step: the trainer's step.
        prompt: what was asked.
        completion: what came back.
        numbers: every number of the row that may be a reward; ``None`` where it was left empty.
        gold: what the dump holds to compare with; ``None`` where it holds nothing.
        advantage: as recorded.
    """

    path: Path
    row: int
    step: int
    prompt: tuple[Message, ...]
    completion: tuple[Message, ...]
    numbers: Mapping[str, float | None]
    gold: Any = None
    advantage: float | None = None

    def wrong(self, message: str, field: str, remedy: str | None = None) -> InputError:
        """An error about this row."""
        return InputError(message, path=self.path, line=self.row, field=field, remedy=remedy)


class Dump(Protocol):
    """The files of one training."""

    trainer: str
    """``trl`` or ``verl``."""
    repeats: bool
    """Whether the trainer notes the table of a step again under a later one; else steps that say the same are two."""

    def files(self) -> list[Path]:
        """The files, in their order."""
        ...

    def steps(self) -> Iterator[tuple[int, list[Attempt]]]:
        """The attempts of each step, in the order of steps. Where a step stands in several files, the last one counts.

        Raises:
            InputError: names file, row and field.
        """
        ...

    def metrics(self) -> dict[int, dict[str, float]]:
        """What the trainer logged of its steps, where that lies beside the dump."""
        ...


def content(attempts: list[Attempt]) -> str:
    """A hash of what attempts say, whatever step they are noted under."""
    sha = hashlib.sha256()
    for one in attempts:
        sha.update(canonical([one.prompt, one.completion, dict(one.numbers), one.advantage]))
    return sha.hexdigest()


def whole(value: Any) -> Any:
    """A step that was written as text, as a number; anything else as it is."""
    short = isinstance(value, str) and len(value) <= 16 and value.isascii()
    return int(value) if short and value.isdecimal() else value
