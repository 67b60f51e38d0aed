"""The views of groups: which there are, and one of them with its attempts beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from fastapi import Path, Query, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import func, select

from lydite.ledger import Row
from lydite.reward import Signal, advantages
from lydite.server.database.tables import groups as group_table
from lydite.server.database.tables import runs as run_table
from lydite.server.deps import Given
from lydite.server.errors import RefusedError
from lydite.server.index.rows import GroupFilter, GroupRow, RolloutFilter, RolloutRow, RunRow
from lydite.server.page import links
from lydite.server.page.filled import Filled
from lydite.server.page.measured import measured
from lydite.server.page.render import page_router, show
from lydite.server.rlvr.filters import GREATEST, After, Groups
from lydite.server.service import Service
from lydite.training.presets import PRESETS

router = page_router()

LIMIT = 50
TEXT = 1500
"""Characters of an attempt that are shown at first."""
TEXT_ALL = 200_000
"""Characters that are opened in place; what is longer has a page of its own."""
PROMPT = 4000
BATCH = 5000
"""Attempts of a step that its standard deviation is taken of, at most."""

Scale = Literal["group", "batch", "none"]
Number = Annotated[int, Path(ge=1, le=GREATEST)]
SCALES: dict[Scale, str] = {
    "group": "(reward − group mean) / standard deviation of the group",
    "batch": "(reward − group mean) / standard deviation of the step",
    "none": "reward − group mean, not divided",
}


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt as a column: its row, what it said, and what stands beside."""

    row: RolloutRow
    advantage: float | None
    detail: str | None
    flags: tuple[tuple[str, bool], ...]
    turns: int
    calls: int
    said: str
    error: str | None


@router.get("/runs/{run}/groups")
def groups(request: Request, service: Given, run: str, _: Filled, which: Groups, after: After = None) -> Response:
    """Groups in a table, by filter."""
    row = service.index.run(run)
    page = service.index.groups(run, which, limit=LIMIT, after=after)
    parts = measured(service).parts(row)
    return show(
        request,
        "groups.html",
        run=row,
        page=page,
        which=which,
        phases=[part.phase for part in parts if part.phase is not None],
        stages=[(str(part.stage), f"stage {part.stage}") for part in parts if part.stage is not None],
        step=_step(service, run, which),
        signal_names=[str(one) for one in Signal],
        nav="runs",
    )


@router.get("/runs/{run}/groups/{number}")
def group(
    request: Request,
    service: Given,
    run: str,
    number: Number,
    sort: Literal["index", "best", "worst"] = "index",
) -> Response:
    """A task's prompt once, and every attempt at it."""
    row = service.index.run(run)
    found, rollouts = service.index.group(run, number)
    before, after = service.index.beside(run, number)
    held = service.index.rows(run, [one.seq for one in rollouts])
    scale = scale_of(row, found.stage)
    shares = _advantages(service, row, found, rollouts, scale)
    attempts = [_attempt(one, words, share) for one, words, share in zip(rollouts, held, shares, strict=True)]
    if sort != "index":
        attempts.sort(key=lambda one: _order(one.row, best=sort == "best"))
    return show(
        request,
        "group.html",
        run=row,
        group=found,
        attempts=attempts,
        prompt=held[0].rollout.prompt if held else (),
        before=before,
        after=after,
        sort=sort,
        scale=SCALES[scale],
        limits={"text": TEXT, "prompt": PROMPT},
        nav="runs",
    )


@router.get("/runs/{run}/pick")
def pick(run: str, seq: Annotated[tuple[int, ...], Query()] = ()) -> Response:
    """From two ticked attempts to their difference."""
    if len(seq) != 2:
        raise RefusedError(f"tick two attempts to compare them, not {len(seq)}", param="seq")
    return RedirectResponse(links.diff(run, seq[0], run, seq[1]), 303)


@router.get("/runs/{run}/said/{seq}")
def said(request: Request, service: Given, run: str, seq: Number) -> Response:
    """All that an attempt said, to be opened in place."""
    text = _said(service.index.row(run, seq))
    return show(request, "_said.html", text=text, limit=TEXT_ALL, href=links.rollout(run, seq))


def _attempt(row: RolloutRow, held: Row, advantage: float | None) -> Attempt:
    rollout = held.rollout
    return Attempt(
        row=row,
        advantage=advantage,
        detail=held.record.verdict.detail,
        flags=tuple((flag.detector, flag.bars) for flag in held.record.flags),
        turns=sum(message.role == "assistant" for message in rollout.completion),
        calls=sum(len(message.tool_calls) for message in rollout.completion),
        said=_said(held),
        error=rollout.error,
    )


def _said(held: Row) -> str:
    """What came back, as one text: calls and answers of tools between the words, each under its name."""
    messages = held.rollout.completion
    if len(messages) == 1 and not messages[0].tool_calls:
        return messages[0].content
    pieces = []
    for message in messages:
        pieces.append(f"── {message.name or message.role} ──")
        if message.content:
            pieces.append(message.content)
        for call in message.tool_calls:
            told = msgspec.json.encode(call.arguments).decode("utf-8", "replace")
            pieces.append(f"→ {call.name} {told}")
    return "\n".join(pieces)


def _order(row: RolloutRow, *, best: bool) -> tuple[bool, float, int]:
    """By reward; those without one at the end."""
    value = row.reward if row.reward is not None else 0.0
    return row.reward is None, -value if best else value, row.index


def scale_of(run: RunRow, stage: int | None) -> Scale:
    """What the run divides its advantages by, as its recipe says; the group's standard deviation where it says
    nothing."""
    stages = run.settings.get("stages")
    if not isinstance(stages, list) or stage is None or not 0 <= stage < len(stages):
        return "group"
    given: Any = stages[stage]
    if not isinstance(given, Mapping):
        return "group"
    scale = given.get("scale_rewards")
    if scale is None:
        preset = PRESETS.get(given.get("loss_type", ""))
        scale = preset.flags.get("scale_rewards") if preset else None
    return scale if scale in SCALES else "group"


def _advantages(
    service: Service, run: RunRow, group: GroupRow, rollouts: Sequence[RolloutRow], scale: Scale
) -> list[float | None]:
    """Of each attempt; ``None`` where there is no reward. For ``batch`` the step's other groups are looked at too."""
    rewards = [one.reward for one in rollouts]
    every = {group.number: rewards}
    if scale == "batch":
        for other in service.index.rollouts(run.id, RolloutFilter(phase=group.phase), limit=BATCH).items:
            if other.group != group.number:
                every.setdefault(other.group, []).append(other.reward)
    shares = advantages(list(every.values()), scale=scale)[0]
    return [None if reward is None else share for reward, share in zip(rewards, shares, strict=True)]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """The one step that is shown, and its neighbours."""

    stage: int | None
    step: int
    before: int | None
    after: int | None


def _step(service: Service, run: str, which: GroupFilter) -> Step | None:
    low, high = which.steps
    if low is None or low != high:
        return None
    table = group_table.c
    number = select(run_table.c.number).where(run_table.c.id == run).scalar_subquery()
    here = [table.run == number, table.step.is_not(None)]
    if which.stage is not None:
        here.append(table.stage == which.stage)
    with service.engine.connect() as connection:
        before = connection.execute(select(func.max(table.step)).where(*here, table.step < low)).scalar()
        after = connection.execute(select(func.min(table.step)).where(*here, table.step > low)).scalar()
    return Step(stage=which.stage, step=low, before=before, after=after)
