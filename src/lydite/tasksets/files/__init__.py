"""Generated family ``files``: work on a few files in a workspace, in five levels, each with a reference solution.

| level | work | example |
|---|---|---|
| 1 | one short tool call | Write red to a.txt. |
| 2 | two or three calls | Count the lines of a.txt. Write the number to b.txt. |
| 3 | lines, JSON and tables, one file | In a.csv set the count of cat to 120. |
| 4 | several files, sums, filters, small programs | Which files below box hold red? ... |
| 5 | programs on inputs not seen, joins, hidden tests | Mend a.py. It should print ... |

Contents are compared, never only names; what was to be left alone must be as it was; programs are run on inputs that
stand nowhere in the workspace. So neither the untouched workspace nor empty files or garbage score anything, but for
the part of several results that is right.

Everything follows from (levels, n, seed): the same call gives the same tasks on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from lydite.errors import InputError
from lydite.task import Task
from lydite.tasksets.files import data, programs, small
from lydite.tasksets.files.draft import Maker, task_of

MAKERS: dict[int, tuple[Maker, ...]] = {
    1: small.LEVEL_1,
    2: small.LEVEL_2,
    3: data.LEVEL_3,
    4: (*data.LEVEL_4, *programs.LEVEL_4),
    5: programs.LEVEL_5,
}
LEVELS = tuple(MAKERS)
_TRIES = 500  # draws in a row without a new prompt, after which a kind is exhausted


def generate(levels: Sequence[int], n: int, seed: int) -> list[Task]:
    """``n`` tasks with different prompts, dealt over the levels in turn, and over the kinds of each level.

    Raises:
        InputError: for a level outside 1 to 5, or where a level does not have that many different prompts.
    """
    for level in levels:
        if level not in LEVELS:
            raise InputError(f"files has levels 1 to 5, not {level}", field="levels")
    if not levels or n < 1:
        raise InputError("at least one level and n >= 1 are needed", field="levels" if not levels else "n")
    streams = {level: _distinct(level, seed) for level in levels}
    return [next(streams[levels[index % len(levels)]]) for index in range(n)]


def _distinct(level: int, seed: int) -> Iterator[Task]:
    """The kinds of a level in turn, each with prompts that did not come before, until it has no more of them."""
    rng = random.Random(f"lydite-files-{level}-{seed}")
    makers = list(MAKERS[level])
    seen: set[str] = set()
    while makers:
        for maker in tuple(makers):
            draft = next((draft for draft in (maker(rng) for _ in range(_TRIES)) if draft.prompt not in seen), None)
            if draft is None:
                makers.remove(maker)
                continue
            seen.add(draft.prompt)
            yield task_of(level, draft)
    message = f"level {level} has only {len(seen)} different prompts within reach"
    raise InputError(message, field="n", remedy="ask for fewer")
