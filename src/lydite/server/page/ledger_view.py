"""The view of a run's ledger: its head, an audit, proofs for people without the run, what trainers may take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
from fastapi import Form, Query, Request
from fastapi.responses import Response

from lydite.errors import InputError
from lydite.ledger import RunFolder
from lydite.ledger.chain import hash_in
from lydite.ledger.contents import LEDGER
from lydite.ledger.proof import prove, prove_extension
from lydite.ledger.verify import hash_given
from lydite.server.deps import Given
from lydite.server.errors import RefusedError
from lydite.server.page.render import page_router, show
from lydite.server.rlvr.audits import AUDITS, AuditAnswer, reading
from lydite.server.rlvr.filters import GREATEST, Run
from lydite.server.service import Service

router = page_router()

SHOWN = 15
"""Records that are listed: the newest."""
_TAIL = 256 << 10
"""Bytes of the ledger's end in which they are looked for."""

Hash = Annotated[str, Form(max_length=80)]


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A record as a link of the chain: its place, what it speaks of, its hash."""

    seq: int
    kind: str = "verdict"
    rollout: str = ""
    outcome: str = ""
    name: str = ""
    of: int | None = None
    hash: str


class _Said(msgspec.Struct):
    outcome: str


class _Of(msgspec.Struct):
    seq: int


class _Peek(msgspec.Struct):
    """What is read of a record."""

    seq: int
    kind: str = "verdict"
    rollout: str = ""
    verdict: _Said | None = None
    rescoring: str = ""
    name: str = ""
    of: _Of | None = None


@router.get("/runs/{run}/ledger")
def ledger(request: Request, service: Given, run: Run) -> Response:
    """Where the chain stands."""
    return _page(request, service, run)


@router.post("/runs/{run}/ledger/verify")
def verify(request: Request, service: Given, run: Run, head: Hash = "", extends: Hash = "") -> Response:
    """Check every byte; the result in its place, or the page with it."""
    folder, problem, found = service.home.run_folder(run), "", None
    try:
        found = AUDITS.verify(run, folder, head=head.strip() or None, extends=extends.strip() or None)
    except InputError as error:
        problem = f"{error.message} ({error.remedy})" if error.remedy else error.message
    given = {"head": head.strip(), "extends": extends.strip()}
    if request.headers.get("HX-Request") == "true":
        return show(request, "_audit.html", audit=found, problem=problem, given=given)
    return _page(request, service, run, audit=found, problem=problem, given=given)


@router.get("/runs/{run}/ledger/proof")
def proof(
    service: Given,
    run: Run,
    of: Annotated[str, Query(max_length=1000)],
    sample: bool = False,
    verdicts: Annotated[str, Query(max_length=64)] = "old",
) -> Response:
    """The proof of a record, by its line or by the attempt's id."""
    asked = of.strip()
    if asked.isascii() and asked.isdecimal() and len(asked) < 16 and 1 <= int(asked) <= GREATEST:
        row = service.index.rollout(run, int(asked))
    else:
        row = service.index.find(run, asked)
    folder = RunFolder.open(service.home.run_folder(run), verdicts=verdicts)
    with reading():
        data = prove(folder, row.id, with_sample=sample)
    return _file(data, f"{run}-{row.seq}.proof.json")


@router.get("/runs/{run}/ledger/continuation")
def continuation(service: Given, run: Run, extends: Annotated[str, Query(max_length=80)]) -> Response:
    """The proof that the ledger was only continued since an earlier head."""
    earlier = hash_given(extends, "extends")
    if not earlier:
        raise RefusedError("give an earlier head of this ledger: 64 hex digits", param="extends")
    with reading():
        data = prove_extension(RunFolder.open(service.home.run_folder(run)), earlier)
    return _file(data, f"{run}-extends-{earlier[:12]}.proof.json")


def _page(
    request: Request,
    service: Service,
    run: str,
    *,
    audit: AuditAnswer | None = None,
    problem: str = "",
    given: dict[str, str] | None = None,
) -> Response:
    row, folder = service.index.run(run), service.home.run_folder(run)
    told: Any = None
    damage = ""
    try:
        told = AUDITS.ledger(run, folder)
    except InputError as error:
        damage = error.message
    return show(
        request,
        "ledger.html",
        run=row,
        ledger=told,
        damage=damage,
        audit=audit or AUDITS.known(run, folder),
        problem=problem,
        given=given or {"head": "", "extends": ""},
        records=list(_newest(folder)),
        path="runs/" + run.replace("~", "/"),
        nav="runs",
    )


def _newest(folder: Path) -> Iterator[Link]:
    """The last records, the newest first; lines that cannot be read are left out (the audit tells of them)."""
    try:
        with (folder / LEDGER).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            data = file.read(_TAIL)
    except OSError:
        return
    lines = data.split(b"\n")[:-1]
    if size > len(data):
        lines = lines[1:]
    decode = msgspec.json.Decoder(_Peek).decode
    for line in lines[: -SHOWN - 1 : -1]:
        try:
            said = decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        yield Link(
            seq=said.seq,
            kind=said.kind,
            rollout=said.rollout,
            outcome=said.verdict.outcome if said.verdict is not None else "",
            name=said.rescoring or said.name,
            of=said.of.seq if said.of is not None else None,
            hash=hash_in(line),
        )


def _file(data: bytes, name: str) -> Response:
    return Response(
        data, media_type="application/json", headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
