"""The ledger of a run: head, audit, proofs; and what a run gives to trainers, as streams of JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Path, Query
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from lydite.codec import canonical
from lydite.errors import InputError
from lydite.exports import Format, kto_rows, preference_pairs, sft_rows
from lydite.ledger import RunFolder
from lydite.ledger.proof import prove, prove_extension
from lydite.ledger.record import Record
from lydite.ledger.reviews import Reviewed
from lydite.ledger.verify import hash_given
from lydite.rollout import Rollout
from lydite.server.deps import Given
from lydite.server.errors import RefusedError
from lydite.server.index.rows import RolloutFilter
from lydite.server.rlvr.answers import JSON, NOWHERE, answer, tells
from lydite.server.rlvr.audits import AUDITS, AuditAnswer, LedgerAnswer, reading
from lydite.server.rlvr.filters import Rollouts, Run, Seq, Word
from lydite.server.service import Service

router = APIRouter(prefix="/v1/rlvr/runs", tags=["ledger"])

LINES = "application/jsonl"
_EXPORTS = {"preferences": preference_pairs, "sft": sft_rows, "kto": kto_rows}
_CAPS = {"preferences": 4}
_CHUNK = 1 << 16
_PAGE = 500
_HASH = Query(max_length=80, description="A hash of 64 hex digits.")

_FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "A file.", "content": {JSON: {"schema": {"type": "object"}}}},
    **NOWHERE,
}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"description": "JSON, one object a line.", "content": {LINES: {"schema": {"type": "string"}}}},
    **NOWHERE,
}


class Verifying(BaseModel):
    """What a ledger is held against, beside itself."""

    model_config = ConfigDict(extra="forbid")

    head: str | None = Field(None, max_length=80, description="As noted elsewhere; the ledger must end in it.")
    extends: str | None = Field(None, max_length=80, description="A head noted earlier; the ledger must go on from it.")


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """A line of an export of rollouts."""

    seq: int
    rollout: Rollout
    record: Record


@router.get("/{run}/ledger", summary="Head of a ledger", responses=tells(LedgerAnswer))
def get_ledger(service: Given, run: Run) -> Response:
    """Head, records and rescorings. Note the head elsewhere: it proves later that nothing was rewritten."""
    return answer(AUDITS.ledger(run, service.home.run_folder(run)))


@router.post("/{run}/ledger/verify", summary="Verify a ledger", responses=tells(AuditAnswer))
def verify(service: Given, run: Run, body: Verifying | None = None) -> Response:
    """Check every byte of ledger, samples, tasks and states. `ok` is the answer; the result is kept until a file of
    the run changes."""
    return answer(
        AUDITS.verify(
            run,
            service.home.run_folder(run),
            head=body.head if body is not None else None,
            extends=body.extends if body is not None else None,
        )
    )


@router.get("/{run}/proofs", summary="Prove a continuation", responses=_FILE)
def prove_continuation(service: Given, run: Run, extends: Annotated[str, _HASH]) -> Response:
    """A file that shows that the ledger was only continued since an earlier head; `lydite ledger check FILE --head NOW
    --extends EARLIER` reads it, without the run."""
    earlier = hash_given(extends, "extends")
    with reading():
        data = prove_extension(RunFolder.open(service.home.run_folder(run)), earlier or "")
    return _file(data, f"{run}-extends-{(earlier or '')[:12]}.proof.json")


@router.get("/{run}/proofs/{seq}", summary="Prove a record", responses=_FILE)
def prove_record(
    service: Given,
    run: Run,
    seq: Seq,
    verdicts: Annotated[str, Query(max_length=64, description="`old`, `rescored`, or a rescoring's name.")] = "old",
    sample: Annotated[bool, Query(description="Put in what was judged, so that it can be judged again.")] = False,
) -> Response:
    """A file that shows that the record of an attempt stands in the ledger; `lydite ledger check FILE --head HEAD`
    reads it, without the run."""
    row = service.index.rollout(run, seq)
    folder = RunFolder.open(service.home.run_folder(run), verdicts=verdicts)
    with reading():
        data = prove(folder, row.id, with_sample=sample)
    return _file(data, f"{run}-{seq}.proof.json")


@router.get("/{run}/export/rollouts", summary="Export rollouts", responses=_STREAM)
def export_rollouts(service: Given, run: Run, which: Rollouts) -> StreamingResponse:
    """Attempts with their words and their records, by filter: `{"seq", "rollout", "record"}`."""
    service.index.run(run)
    return _lines(_rollouts(service, run, which), f"{run}-rollouts.jsonl")


@router.get("/{run}/export/{kind}", summary="Export training data", responses=_STREAM)
def export(
    service: Given,
    run: Run,
    kind: Annotated[Literal["preferences", "sft", "kto"], Path(description="What the rows are.")],
    format: Format = Format.TRL,
    phase: Word = None,
    cap: Annotated[int | None, Query(ge=1, le=1_000_000, description="At most so many rows of a group.")] = None,
    verdicts: Annotated[str, Query(max_length=64, description="`old`, `rescored`, or a rescoring's name.")] = "old",
    reviews: Annotated[bool, Query(description="Whether flags bar as people decided.")] = True,
) -> StreamingResponse:
    """As `lydite export` writes it. Attempts on held-out tasks (phases before and after) are left out unless named."""
    folder = RunFolder.open(service.home.run_folder(run), verdicts=verdicts)
    rows, _ = _EXPORTS[kind](
        Reviewed(folder) if reviews else folder, phase=phase, cap=cap or _CAPS.get(kind), format=format
    )
    return _lines(rows, f"{run}-{kind}.jsonl")


def _rollouts(service: Service, run: str, which: RolloutFilter) -> Iterator[Exported]:
    after: str | None = None
    while True:
        page = service.index.rollouts(run, which, limit=_PAGE, after=after)
        for row in service.index.rows(run, [one.seq for one in page.items]):
            yield Exported(seq=row.seq, rollout=row.rollout, record=row.record)
        if page.next is None:
            return
        after = page.next


def _file(data: bytes, name: str) -> Response:
    return Response(data, media_type=JSON, headers=_named(name))


def _lines(rows: Iterable[Any], name: str) -> StreamingResponse:
    """Rows as a stream. The first is made before anything is sent: what cannot be read at all is told with a 400."""
    kept = iter(rows)
    try:
        first = list(_first(kept))
    except InputError as error:
        raise RefusedError(f"the run cannot be read: {error.message}", param=error.field) from error
    return StreamingResponse(_chunks(chain(first, kept)), media_type=LINES, headers=_named(name))


def _first(rows: Iterator[Any]) -> Iterator[Any]:
    for row in rows:
        yield row
        return


def _chunks(rows: Iterable[Any]) -> Iterator[bytes]:
    held, size = [], 0
    for row in rows:
        line = canonical(row) + b"\n"
        held.append(line)
        size += len(line)
        if size >= _CHUNK:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


def _named(name: str) -> dict[str, str]:
    """A name for the file; of a run's slug and our words, so nothing in it needs a quote."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}
