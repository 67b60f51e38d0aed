"""A piece of a run, on its way from the folder into the tables."""

from __future__ import annotations

from typing import Any

from lydite.ledger.reviews import Key, Review
from lydite.server.index.gathered import Gathered

ROWS = 5000
"""Lines of a file that one slice takes in at most ..."""
BYTES = 64 << 20
"""... and bytes."""
GROUP = 3
"""Place of the group's number in a row of attempts."""


class ReplacedError(Exception):
    """What was indexed is not there any more: the folder holds another run, or an earlier state of this one."""


class Slice:
    """What is new.

    Attributes:
        values: columns of the run's row that change.
        tasks, rollouts, rescored, flags, steps: rows, in the order of the columns of their tables.
        groups: by phase and task, what the attempts of this slice say of them.
        decisions: of every flag of the run that people reviewed; loaded only where they are needed.
        decided: those that are new.
        more: whether there is more to take in at once.
        records: that the ledger has at least, as ``run.json`` notes it.
        error: why the rest cannot be read.
    """

    __slots__ = (
        "decided", "decisions", "error", "flags", "groups", "more", "records", "rescored", "rollouts", "steps", "tasks",
        "values",
    )  # fmt: skip

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.tasks: list[tuple[Any, ...]] = []
        self.rollouts: list[tuple[Any, ...]] = []
        self.rescored: list[tuple[Any, ...]] = []
        self.flags: list[tuple[Any, ...]] = []
        self.steps: list[tuple[Any, ...]] = []
        self.groups: dict[tuple[str, str], Gathered] = {}
        self.decisions: dict[Key, Review] = {}
        self.decided: dict[Key, Review] = {}
        self.more = False
        self.records = 0
        self.error: str | None = None
