"""Generated families of tasks, each imported when it is first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Final

from lydite.errors import InputError
from lydite.task import Task
from lydite.tasksets._names import nearest

#: Family to the module whose ``generate(levels, n, seed)`` makes it.
FAMILIES: Final[dict[str, str]] = {"arithmetic": "lydite.tasksets.arithmetic", "files": "lydite.tasksets.files"}


def generate(family: str, *, levels: Sequence[int], n: int, seed: int = 0) -> list[Task]:
    """``n`` tasks of a family. The same arguments give the same tasks on every machine.

    Args:
        family: a name in ``FAMILIES``.
        levels: difficulty levels; the tasks are spread over them.
        n: number of tasks, all levels together.
        seed: any integer.

    Raises:
        InputError: unknown family, no level, a level that the family does not have, or ``n`` below 1.
    """
    if family not in FAMILIES:
        raise InputError(f"unknown family {family!r:.60}", field="family", remedy=nearest(family, FAMILIES))
    if not levels:
        raise InputError("no level was named", field="levels", remedy="give at least one, for example 1,2")
    if n < 1:
        raise InputError(f"must be at least 1, not {n}", field="n", remedy="say how many tasks")
    tasks: list[Task] = importlib.import_module(FAMILIES[family]).generate(levels, n, seed)
    return tasks
