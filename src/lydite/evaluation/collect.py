"""A whole run in one pass: counts per part of the run, and per training step."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lydite.evaluation.tally import Tally

if TYPE_CHECKING:
    from lydite.ledger import Row

_STEP = re.compile(r"(train-\d+)-(\d+)(?:\.\d+)?")


class Collected:
    """Counts of a run.

    Attributes:
        parts: per part of the run (``before``, ``sample``, ``train-0`` ...), in order of appearance. All steps of a
            training stage are one part.
        steps: per training stage and step. A step that a resumed session repeated counts as its last session did it.
    """

    def __init__(self) -> None:
        self.parts: dict[str, Tally] = {}
        self.steps: dict[str, dict[int, Tally]] = {}
        self._phase_of_step: dict[tuple[str, int], str] = {}

    def add(self, row: Row) -> None:
        """Count one attempt."""
        phase = row.rollout.phase
        match = _STEP.fullmatch(phase)
        part = match[1] if match else phase
        self.parts.setdefault(part, Tally()).add(row)
        if match:
            step = int(match[2])
            steps = self.steps.setdefault(part, {})
            if self._phase_of_step.get((part, step)) != phase:
                self._phase_of_step[part, step] = phase
                steps[step] = Tally()
            steps[step].add(row)

    @property
    def measured(self) -> list[str]:
        """Parts that measure a policy, as against those that train one."""
        return [part for part in self.parts if part not in self.steps]


def collect(rows: Iterable[Row]) -> Collected:
    """Count a run's rows in one pass."""
    found = Collected()
    for row in rows:
        found.add(row)
    return found


def read_metrics(path: Path) -> Iterator[dict[str, Any]]:
    """Lines of a ``metrics.jsonl``, nothing where there is none. A torn line (the run was killed) is left out."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                values = msgspec.json.decode(line)
            except msgspec.DecodeError:
                continue
            if isinstance(values, dict):
                yield values
