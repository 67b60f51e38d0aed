"""``/v1/rlvr/runs``: runs, groups, rollouts, series."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from lydite.ledger.info import read_info
from lydite.ledger.record import Record
from lydite.reward import advantages
from lydite.rollout import Rollout
from lydite.server.deps import Given
from lydite.server.index.rows import GroupRow, OtherVerdict, PhaseRow, RolloutRow, RunRow, Series, TaskRow
from lydite.server.rlvr.answers import Listing, answer, listed, tells
from lydite.server.rlvr.filters import GREATEST, After, Groups, Limit, Rollouts, Run, Seq, Word
from lydite.server.rlvr.series import thinned
from lydite.task import Task

router = APIRouter(prefix="/v1/rlvr/runs", tags=["runs"])

Number = Annotated[int, Path(ge=1, le=GREATEST, description="Line of the ledger of the group's first attempt.")]
Line = Annotated[int | None, Query(ge=0, le=GREATEST)]


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """What a run depends on, as its ``run.json`` says."""

    run: str
    kind: str
    created: str
    settings: dict[str, Any]
    settings_digest: str
    notes: dict[str, Any]
    versions: dict[str, str]


class GroupAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A group with its attempts. ``advantages`` are (reward - mean) / (standard deviation + 1e-4) within the group, 0
    where there is no reward. ``before`` and ``after`` are numbers of the groups beside it."""

    group: GroupRow
    rollouts: tuple[RolloutRow, ...]
    advantages: tuple[float, ...]
    before: int | None
    after: int | None


class RolloutAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt: its row, what the ledger says of it, and the sample with all its words (``null`` where they were not
    asked for)."""

    row: RolloutRow
    record: Record
    rollout: Rollout | None


@router.get("", summary="List runs", responses=tells(Listing[RunRow]))
def list_runs(
    service: Given, kind: Word = None, state: Word = None, q: Word = None, limit: Limit = 50, after: After = None
) -> Response:
    """The newest first."""
    return listed(service.index.runs(kind=kind, state=state, q=q, limit=limit, after=after))


@router.get("/{run}", summary="One run", responses=tells(RunRow))
def get_run(service: Given, run: Run) -> Response:
    """A run in one line: state, counts, mean reward."""
    return answer(service.index.run(run))


@router.get("/{run}/config", summary="What a run depends on", responses=tells(Config))
def get_config(service: Given, run: Run) -> Response:
    """Settings, notes and versions, read from the run folder."""
    info = read_info(service.home.run_folder(run))
    return answer(
        Config(
            run=run,
            kind=info.kind,
            created=info.created,
            settings=info.settings,
            settings_digest=info.settings_digest,
            notes=info.notes,
            versions=info.versions,
        )
    )


@router.get("/{run}/phases", summary="Parts of a run", responses=tells(Listing[PhaseRow]))
def list_phases(service: Given, run: Run) -> Response:
    """In the order in which they began."""
    phases = service.index.phases(run)
    return answer(Listing(data=phases, total=len(phases)))


@router.get("/{run}/series", summary="Metrics by step", responses=tells(Series))
def get_series(
    service: Given,
    run: Run,
    keys: Annotated[
        tuple[str, ...],
        Query(max_length=200, description="Names of metrics, repeated or apart by commas. None: all."),
    ] = (),
    start: Annotated[Line, Query(alias="from", description="First line of `metrics.jsonl`, from 1.")] = None,
    end: Annotated[Line, Query(alias="to", description="Last line.")] = None,
    points: Annotated[
        int | None, Query(ge=2, le=100_000, description="At most about so many lines; spikes are kept.")
    ] = None,
) -> Response:
    """Columns of one length, `null` where a step does not have a metric."""
    names = [name for key in keys for name in key.split(",") if name]
    series = service.index.series(run, names or None, start=start, end=end)
    return answer(series if points is None else thinned(series, points))


@router.get("/{run}/groups", summary="List groups", responses=tells(Listing[GroupRow]))
def list_groups(service: Given, run: Run, which: Groups, limit: Limit = 50, after: After = None) -> Response:
    """Groups of attempts at one task, by filter."""
    return listed(service.index.groups(run, which, limit=limit, after=after))


@router.get("/{run}/groups/{number}", summary="One group", responses=tells(GroupAnswer))
def get_group(service: Given, run: Run, number: Number) -> Response:
    """A group and its attempts, by their index."""
    group, rollouts = service.index.group(run, number)
    before, after = service.index.beside(run, number)
    shares = advantages([[one.reward for one in rollouts]])[0]
    return answer(GroupAnswer(group=group, rollouts=rollouts, advantages=tuple(shares), before=before, after=after))


@router.get("/{run}/rollouts", summary="List rollouts", responses=tells(Listing[RolloutRow]))
def list_rollouts(service: Given, run: Run, which: Rollouts, limit: Limit = 50, after: After = None) -> Response:
    """Attempts without their words, by filter."""
    return listed(service.index.rollouts(run, which, limit=limit, after=after))


@router.get("/{run}/rollouts/{seq}", summary="One rollout", responses=tells(RolloutAnswer))
def get_rollout(
    service: Given,
    run: Run,
    seq: Seq,
    words: Annotated[bool, Query(description="Whether what was asked and said is sent too.")] = True,
) -> Response:
    """An attempt with its verdict, its flags and its words, read from the run folder."""
    row = service.index.rollout(run, seq)
    held = service.index.row(run, seq)
    return answer(RolloutAnswer(row=row, record=held.record, rollout=held.rollout if words else None))


@router.get("/{run}/rollouts/{seq}/verdicts", summary="Other verdicts", responses=tells(Listing[OtherVerdict]))
def list_verdicts(service: Given, run: Run, seq: Seq) -> Response:
    """What rescorings said of an attempt."""
    service.index.rollout(run, seq)
    others = service.index.others(run, seq)
    return answer(Listing(data=others, total=len(others)))


@router.get("/{run}/tasks", summary="List a run's tasks", responses=tells(Listing[TaskRow]))
def list_tasks(service: Given, run: Run, q: Word = None, limit: Limit = 50, after: After = None) -> Response:
    """Tasks as attempted, and what came of them."""
    return listed(service.index.tasks(run, q=q, limit=limit, after=after))


@router.get("/{run}/tasks/{task:path}", summary="One task of a run", responses=tells(Task))
def get_task(
    service: Given, run: Run, task: Annotated[str, Path(max_length=1000, description="The task's id.")]
) -> Response:
    """The task document as it was attempted, its reference solution included."""
    return answer(service.index.task(run, task))
