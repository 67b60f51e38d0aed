"""Filters as query parameters: ranges such as ``40..60``, and which attempts and groups are meant."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

from fastapi import Depends, Path, Query

from lydite.reward import Signal
from lydite.server.errors import RefusedError
from lydite.server.index.rows import FlagFilter, GroupFilter, RolloutFilter, Sort
from lydite.verdict import Outcome

Number = TypeVar("Number", int, float)

GREATEST = 2**53
"""Whole numbers that JSON keeps exactly, and that a database can hold."""

Run = Annotated[str, Path(max_length=640, description="The run's slug: its path below `runs/` with `~` for `/`.")]
Seq = Annotated[int, Path(ge=1, le=GREATEST, description="Line of the ledger that speaks of the attempt.")]
Limit = Annotated[int, Query(ge=1, le=500)]
After = Annotated[str | None, Query(max_length=2000, description="`next` of the page before.")]
Word = Annotated[str | None, Query(max_length=1000)]


def parse_range(text: str | None, kind: Callable[[str], Number], name: str) -> tuple[Number | None, Number | None]:
    """``40..60``, ``40..``, ``..60`` or ``40``, both ends included.

    Raises:
        RefusedError: it is none; names ``name``.
    """
    if text is None or not text.strip():
        return None, None
    if ".." in text:
        low, _, high = text.partition("..")
    else:
        low = high = text
    try:
        ends = (kind(low) if low.strip() else None, kind(high) if high.strip() else None)
    except ValueError:
        ends = (None, None)
        text = ""
    if not text or any(end is not None and not (math.isfinite(end) and abs(end) <= GREATEST) for end in ends):
        raise RefusedError(f"{name}: is no range: write 40..60, 40.., ..60 or 40", param=name)
    return ends


def rollout_filter(
    phase: Word = None,
    stage: Annotated[int | None, Query(ge=0, le=GREATEST)] = None,
    step: Annotated[str | None, Query(max_length=60, description="`40..60`, `40..`, `..60` or `40`.")] = None,
    task: Word = None,
    outcome: Annotated[tuple[Outcome, ...], Query(description="Repeat it for any of several.")] = (),
    flag: Annotated[str | None, Query(max_length=100, description="A detector's name, `any` or `none`.")] = None,
    reward: Annotated[str | None, Query(max_length=60, description="As `step`.")] = None,
    reason: Word = None,
    finish: Word = None,
    q: Annotated[str | None, Query(max_length=400, description="Looked for in ids, tasks and words.")] = None,
    sort: Sort = "seq",
) -> RolloutFilter:
    """Which attempts a request means."""
    return RolloutFilter(
        phase=phase,
        stage=stage,
        steps=parse_range(step, int, "step"),
        task=task,
        outcomes=tuple(dict.fromkeys(str(one) for one in outcome)),
        flag=flag,
        rewards=parse_range(reward, float, "reward"),
        reason=reason,
        finish=finish,
        q=q,
        sort=sort,
    )


def group_filter(
    phase: Word = None,
    stage: Annotated[int | None, Query(ge=0, le=GREATEST)] = None,
    step: Annotated[str | None, Query(max_length=60, description="`40..60`, `40..`, `..60` or `40`.")] = None,
    task: Word = None,
    signal: Annotated[tuple[Signal, ...], Query(description="Repeat it for any of several.")] = (),
    flagged: bool | None = None,
    sort: Literal["number", "-number", "mean", "-mean", "std", "-std"] = "number",
) -> GroupFilter:
    """Which groups a request means."""
    return GroupFilter(
        phase=phase,
        stage=stage,
        steps=parse_range(step, int, "step"),
        task=task,
        signals=tuple(dict.fromkeys(str(one) for one in signal)),
        flagged=flagged,
        sort=sort,
    )


def flag_filter(
    run: Annotated[str | None, Query(max_length=640, description="A run's slug.")] = None,
    detector: Annotated[str | None, Query(max_length=100)] = None,
    decision: Literal["confirmed", "dismissed", "open"] | None = None,
    correct: bool | None = None,
) -> FlagFilter:
    """Which flags a request means."""
    return FlagFilter(run=run, detector=detector, decision=decision, correct=correct)


Rollouts = Annotated[RolloutFilter, Depends(rollout_filter)]
Groups = Annotated[GroupFilter, Depends(group_filter)]
Flags = Annotated[FlagFilter, Depends(flag_filter)]
