"""``/diff?a=RUN:SEQ&b=RUN:SEQ``: two attempts beside each other, of one run or of two."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from fastapi import Query, Request
from fastapi.responses import Response

from lydite.ledger import Row
from lydite.server.deps import Given
from lydite.server.errors import RefusedError
from lydite.server.index.rows import RolloutRow
from lydite.server.page import reasons
from lydite.server.page.filled import Filled
from lydite.server.page.render import page_router, show
from lydite.server.page.textdiff import diff
from lydite.server.page.transcript import flat
from lydite.server.rlvr.filters import GREATEST
from lydite.server.service import Service

router = page_router()

MOST_PARTS = 300
Name = Annotated[str | None, Query(max_length=700)]


class Side(NamedTuple):
    """One of the two."""

    run: str
    seq: int
    brief: RolloutRow
    row: Row


@router.get("/diff")
def view(request: Request, service: Given, _: Filled, a: Name = None, b: Name = None) -> Response:
    """Two attempts; a form that asks for them where they are not named."""
    if a is None or b is None:
        return show(request, "diff_form.html", a=a, b=b)
    one, other = _side(service, a, "a"), _side(service, b, "b")
    asked, asked_too = flat(one.row.rollout.prompt), flat(other.row.rollout.prompt)
    same_prompt = one.row.rollout.prompt == other.row.rollout.prompt
    return show(
        request,
        "diff.html",
        sides=(one, other),
        same_run=one.run == other.run,
        prompt=asked if same_prompt else None,
        prompts=None if same_prompt else diff(asked, asked_too),
        answers=diff(flat(one.row.rollout.completion), flat(other.row.rollout.completion)),
        parts=_parts(one.row, other.row),
        told=reasons.told,
    )


def _side(service: Service, name: str, field: str) -> Side:
    """An attempt by ``RUN:SEQ``.

    Raises:
        RefusedError: it is written in another way.
    """
    run, colon, number = name.rpartition(":")
    if not colon or not run or not (number.isascii() and number.isdigit()) or not 0 < int(number[:17]) <= GREATEST:
        raise RefusedError(f"{field}: name an attempt as RUN:SEQ, such as sampled:3", param=field)
    seq = int(number[:17])
    return Side(run, seq, service.index.rollout(run, seq), service.index.row(run, seq))


def _parts(one: Row, other: Row) -> tuple[list[tuple[str, Any, Any]], int]:
    """Parts of both verdicts by name, those that differ first, and how many are left out."""
    first = {part.name: part for part in one.record.verdict.parts}
    second = {part.name: part for part in other.record.verdict.parts}
    rows = [(name, first.get(name), second.get(name)) for name in {**first, **second}]
    rows.sort(key=lambda row: _same(row[1], row[2]))
    return rows[:MOST_PARTS], len(rows) - len(rows[:MOST_PARTS])


def _same(one: Any, other: Any) -> bool:
    return one is not None and other is not None and (one.score, one.reason) == (other.score, other.reason)
