"""verl's dumps: ``STEP.jsonl`` in ``trainer.rollout_data_dir`` (or ``validation_data_dir``).

A line has ``input``, ``output``, ``gts``, ``score``, ``step`` and whatever else the reward function told
(verl 0.9, ``_dump_generations``). ``input`` is the prompt as the chat template made it, special tokens left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lydite.codec import well_formed
from lydite.dumps.attempts import Attempt, whole
from lydite.dumps.numbered import by_step, numbered
from lydite.errors import InputError
from lydite.rollout import Message

_OWN = ("input", "output", "gts", "step")


class VerlDump:
    """Files of verl's, or folders that hold them.

    Args:
        paths: files and folders.
        gold: key to compare with.
    """

    trainer = "verl"
    repeats = False

    def __init__(self, paths: Sequence[Path], gold: str | None = None) -> None:
        self._paths, self._gold = paths, gold or "gts"

    def files(self) -> list[Path]:
        """The files, in the order of their numbers within a folder.

        Raises:
            InputError: there are none.
        """
        return numbered(self._paths, lambda folder: folder, _number_of, "STEP.jsonl", "set trainer.rollout_data_dir")

    def steps(self) -> Iterator[tuple[int, list[Attempt]]]:
        """The attempts of each step; see ``Dump.steps``."""
        return by_step(self.files(), _steps, self._read)

    def metrics(self) -> dict[int, dict[str, float]]:
        """verl keeps none beside its dumps."""
        return {}

    def _read(self, path: Path) -> Iterator[Attempt]:
        return (self._attempt(item, path, row) for row, item in _lines(path))

    def _attempt(self, item: dict[str, Any], path: Path, row: int) -> Attempt:
        words = []
        for name in ("input", "output"):
            if not isinstance(item.get(name), str):
                raise InputError("must be a text", path=path, line=row, field=name)
            words.append(well_formed(item[name]))
        return Attempt(
            path=path,
            row=row,
            step=_step(item, path, row),
            prompt=(Message(role="user", content=words[0]),),
            completion=(Message(role="assistant", content=words[1]),),
            numbers={
                name: _number(value)
                for name, value in item.items()
                if name not in _OWN and (value is None or isinstance(value, int | float))
            },
            gold=item.get(self._gold),
        )


def _number_of(name: str) -> int | None:
    stem, dot, end = name.rpartition(".")
    return int(stem) if dot and end == "jsonl" and stem.isdecimal() else None


def _steps(path: Path) -> Iterator[int]:
    return (_step(item, path, row) for row, item in _lines(path))


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    import json  # verl writes with it: NaN and Infinity stand bare in a line

    with path.open("rb") as file:
        for row, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                item = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"is no JSON: {str(error)[:200]}", path=path, line=row) from None
            if not isinstance(item, dict):
                raise InputError("is no object", path=path, line=row, remedy='{"input", "output", "score", "step"}')
            yield row, item


def _number(value: float | None) -> float | None:
    try:
        number = math.nan if value is None else float(value)
    except OverflowError:  # a whole number beyond all floats
        return math.inf
    return None if math.isnan(number) else number


def _step(item: dict[str, Any], path: Path, row: int) -> int:
    given = item.get("step")
    value = whole(given)
    if value is None and path.stem.isdecimal():
        return int(path.stem)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise InputError(f"is no number of a step: {given!r:.40}", path=path, line=row, field="step")
    return value
