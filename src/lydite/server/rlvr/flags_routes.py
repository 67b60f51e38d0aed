"""``/v1/rlvr/flags``: what detectors suspect, what people say of it, how often they are right."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from lydite.evaluation.suspicions import DetectorSummary
from lydite.ledger.reviews import MAX_NOTE, Decision
from lydite.server.deps import Given
from lydite.server.errors import NotFoundError
from lydite.server.index.rows import FlagRow
from lydite.server.rlvr.answers import Listing, answer, listed, tells
from lydite.server.rlvr.filters import GREATEST, After, Flags, Limit, Run, Seq

router = APIRouter(prefix="/v1/rlvr/flags", tags=["flags"])


class DetectorAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one version of a detector. ``precision`` is of the reviewed flags, with its 95 % interval."""

    detector: str
    version: int
    flags: int
    correct: int
    bars: int
    confirmed: int
    dismissed: int
    open: int
    precision: float | None
    low: float | None
    high: float | None


class Deciding(BaseModel):
    """A person's decision on a flag."""

    model_config = ConfigDict(extra="forbid")

    decision: Decision = Field(description="`withdrawn`: no decision after all.")
    note: str = Field("", max_length=MAX_NOTE, description="Why.")
    version: int | None = Field(None, ge=0, le=GREATEST, description="Of the detector; the newest where not given.")


@router.get("", summary="List flags", responses=tells(Listing[FlagRow]))
def list_flags(service: Given, which: Flags, limit: Limit = 50, after: After = None) -> Response:
    """In an order whose beginning is a fair sample, so that precision can be told from the first few."""
    return listed(service.index.flags(which, limit=limit, after=after))


@router.get("/detectors", summary="Precision of detectors", responses=tells(Listing[DetectorAnswer]))
def list_detectors(
    service: Given, run: Annotated[str | None, Query(max_length=640, description="A run's slug; none: of all.")] = None
) -> Response:
    """Counts per detector and version, and how often it was right as people say."""
    found = tuple(_told(one) for one in service.index.detectors(run))
    return answer(Listing(data=found, total=len(found)))


@router.post("/{run}/{seq}/{detector}", summary="Confirm, dismiss or withdraw", responses=tells(FlagRow))
def decide(
    service: Given,
    run: Run,
    seq: Seq,
    detector: Annotated[str, Path(max_length=100, description="Name of the detector.")],
    body: Deciding,
) -> Response:
    """Written to the run's `flags-review.jsonl`. A dismissed flag keeps nothing out of what is exported any more, a
    confirmed one does whatever its detector says."""
    flags = service.index.row(run, seq).record.flags
    versions = [flag.version for flag in flags if flag.detector == detector]
    if not versions or (body.version is not None and body.version not in versions):
        raise NotFoundError("flag", detector if body.version is None else f"{detector}@{body.version}")
    version = max(versions) if body.version is None else body.version
    return answer(service.index.decide(run, seq, detector, version, body.decision, body.note))


def _told(one: DetectorSummary) -> DetectorAnswer:
    return DetectorAnswer(**msgspec.to_builtins(one), open=one.open)
