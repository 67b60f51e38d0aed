"""Single examples: rows for supervised fine-tuning and for KTO."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from lydite.errors import InputError
from lydite.exports.formats import Document, Format, kto_row, parse_format, sft_row
from lydite.exports.groups import Rows, barred, exemplary, groups, spread, usable
from lydite.exports.preferences import check_cap, is_rejected
from lydite.verdict import Outcome

if TYPE_CHECKING:
    from lydite.ledger import Row


class ExampleCounts(msgspec.Struct, kw_only=True):
    """What happened to the attempts; complete once the iterator is exhausted.

    Attributes:
        groups: groups seen.
        good: rows of correct, unbarred attempts.
        bad: rows of wrong attempts (KTO only).
        capped: attempts left out because their group had reached the cap.
        invalid: attempts that could not be judged.
        barred: correct attempts that a flag bars.
        near: partly right attempts too close to right to be labelled wrong (KTO only).
    """

    groups: int = 0
    good: int = 0
    bad: int = 0
    capped: int = 0
    invalid: int = 0
    barred: int = 0
    near: int = 0


def sft_rows(
    run: Rows, *, phase: str | None = None, cap: int | None = None, format: str = "trl"
) -> tuple[Iterator[Document], ExampleCounts]:
    """Verified and unbarred attempts, streaming. ``cap`` counts rows a group.

    Other arguments and errors as ``preference_pairs``.
    """
    style = parse_format(format)
    check_cap(cap)
    counts = ExampleCounts()

    def rows() -> Iterator[Document]:
        for members in groups(run, phase):
            _count(members, counts)
            good = _capped(_good(members), cap, counts)
            counts.good += len(good)
            for row in good:
                yield sft_row(row.rollout.prompt, row.rollout.completion, style)

    return rows(), counts


def kto_rows(
    run: Rows, *, phase: str | None = None, cap: int | None = None, format: str = "trl"
) -> tuple[Iterator[Document], ExampleCounts]:
    """Right and wrong attempts with a label, streaming. ``cap`` counts rows of each label a group.

    Raises:
        InputError: a format other than ``trl``: OpenAI takes no unpaired preferences.
    """
    if parse_format(format) is not Format.TRL:
        raise InputError(
            f"there is no unpaired preference format {format!r}",
            field="format",
            remedy="use trl, or export preferences",
        )
    check_cap(cap)
    counts = ExampleCounts()

    def rows() -> Iterator[Document]:
        for members in groups(run, phase):
            _count(members, counts)
            wrong = [row for row in members if usable(row) and not row.record.verdict.correct]
            rejected = [row for row in wrong if is_rejected(row)]
            counts.near += len(wrong) - len(rejected)
            good, bad = _capped(_good(members), cap, counts), _capped(rejected, cap, counts)
            counts.good += len(good)
            counts.bad += len(bad)
            for label, side in ((True, good), (False, bad)):
                for row in side:
                    yield kto_row(row.rollout.prompt, row.rollout.completion, label)

    return rows(), counts


def _count(members: list[Row], counts: ExampleCounts) -> None:
    counts.groups += 1
    counts.invalid += sum(row.record.verdict.outcome is Outcome.INVALID for row in members)
    counts.barred += sum(map(barred, members))


def _good(members: list[Row]) -> list[Row]:
    return [row for row in members if usable(row) and exemplary(row)]


def _capped(rows: list[Row], cap: int | None, counts: ExampleCounts) -> list[Row]:
    if cap is None or len(rows) <= cap:
        return rows
    counts.capped += len(rows) - cap
    return spread(rows)[:cap]
