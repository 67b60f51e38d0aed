"""Rows of a run, group by group, without holding the run in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from lydite.codec import sha256
from lydite.verdict import Outcome

if TYPE_CHECKING:
    from lydite.ledger import Row

HELD_OUT = ("before", "after")
"""Phases that measure a policy on held-out tasks. Training on them would spoil the measurement."""


class Rows(Protocol):
    """Whatever gives rows in order, as often as asked: a run folder."""

    def rows(self) -> Iterator[Row]: ...


def groups(run: Rows, phase: str | None = None) -> Iterator[list[Row]]:
    """Every group of attempts, complete, in the order in which groups complete.

    Two passes: the first counts the attempts of each group, the second holds a group's attempts until all are there. A
    group that a resumed run wrote in two places comes out whole; what is held is the groups under way, not the run.

    Args:
        run: where the rows are.
        phase: one phase, or a family of them (``train`` stands for ``train-0-7`` too). ``None``: all but ``HELD_OUT``.
    """
    sizes: Counter[tuple[str, str]] = Counter(
        (row.rollout.phase, row.rollout.task) for row in run.rows() if _wanted(row.rollout.phase, phase)
    )
    open_groups: dict[tuple[str, str], list[Row]] = {}
    for row in run.rows():
        key = (row.rollout.phase, row.rollout.task)
        if key not in sizes:
            continue
        members = open_groups.setdefault(key, [])
        members.append(row)
        if len(members) == sizes[key]:
            yield open_groups.pop(key)


def _wanted(phase: str, asked: str | None) -> bool:
    if asked is None:
        return phase not in HELD_OUT
    return phase == asked or phase.startswith(f"{asked}-")


def usable(row: Row) -> bool:
    """Whether the attempt was judged and says something: without an assistant message there is nothing to learn."""
    if row.record.verdict.outcome is Outcome.INVALID:
        return False
    return any(message.role == "assistant" for message in row.rollout.completion)


def exemplary(row: Row) -> bool:
    """Correct, and no flag bars it."""
    return row.record.verdict.correct and not any(flag.bars for flag in row.record.flags)


def barred(row: Row) -> bool:
    """Correct, but a flag bars it: neither an example to follow nor one to avoid."""
    return row.record.verdict.correct and any(flag.bars for flag in row.record.flags)


def spread(rows: list[Row]) -> list[Row]:
    """The rows in an order whose beginning is a fair sample: new texts before repeated ones, else by hash of the id.

    Depends on the rows alone, so that the same run gives the same export; hashing keeps the first attempts of a group
    (which may differ, for example in a resumed run) from being preferred.
    """
    seen: Counter[str] = Counter()
    keyed = []
    for row in sorted(rows, key=lambda row: sha256(row.rollout.id.encode("utf-8", "replace"))):
        keyed.append((seen[row.rollout.text], row))
        seen[row.rollout.text] += 1
    return [row for _, row in sorted(keyed, key=lambda pair: pair[0])]
