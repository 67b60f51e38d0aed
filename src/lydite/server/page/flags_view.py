"""``/flags``: the inbox of suspicions, one after another before a person, and how often each detector is right."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import parse_qs, urlsplit

from fastapi import Form, Path, Query, Request
from fastapi.responses import RedirectResponse, Response

from lydite.errors import InputError
from lydite.flag import Flag
from lydite.ledger import Row
from lydite.ledger.reviews import MAX_NOTE, Decision
from lydite.server.deps import Given
from lydite.server.errors import ApiError, NotFoundError
from lydite.server.index.rows import FlagFilter, FlagRow, RolloutRow
from lydite.server.page import links
from lydite.server.page.filled import Filled
from lydite.server.page.quotes import hits_in, quotes_of, told
from lydite.server.page.render import fragment, page_router, show
from lydite.server.page.transcript import Shown, argument
from lydite.server.page.transcript import show as shown
from lydite.server.rlvr.filters import GREATEST, After, Run, Seq
from lydite.server.service import Service

router = page_router()

PAGE = 20
EXCERPT = 2400
"""Characters of an attempt that a card shows."""
MANY_RUNS = 200
STEPS = 5
"""The same pattern is looked for so many training steps before and behind."""


class Excerpt(NamedTuple):
    """The words of an attempt that a flag speaks of."""

    label: str
    shown: Shown


@router.get("/flags")
def inbox(
    request: Request,
    service: Given,
    _: Filled,
    run: Annotated[str | None, Query(max_length=640)] = None,
    detector: Annotated[str | None, Query(max_length=100)] = None,
    decision: Literal["open", "confirmed", "dismissed", "all"] = "open",
    correct: bool | None = None,
    after: After = None,
) -> Response:
    """Flags in the order whose beginning is a fair sample; the open ones where nothing else is asked for."""
    which = FlagFilter(run=run, detector=detector, decision=None if decision == "all" else decision, correct=correct)
    detectors = service.index.detectors(run)
    if fragment(request):
        return show(request, "_detectors.html", which=which, detectors=detectors, about=about(), oob=False)
    page = service.index.flags(which, limit=PAGE, after=after)
    found = service.index.runs(limit=MANY_RUNS)
    return show(
        request,
        "flags.html",
        which=which,
        decision="" if decision == "open" else decision,
        page=page,
        cards_=[(flag, excerpt_of(flag, row)) for flag, row in _with_rows(service, page.items)],
        detectors=detectors,
        names=sorted({one.detector for one in detectors} | ({detector} if detector else set())),
        runs=[one.id for one in found.items if one.flagged or one.id == run],
        many_runs=found.next is not None,
        oob=False,
        **common(request),
    )


@router.post("/flags/{run}/{seq}/{detector}/{version}")
def decide(
    request: Request,
    service: Given,
    run: Run,
    seq: Seq,
    detector: Annotated[str, Path(max_length=100)],
    version: Annotated[int, Path(ge=0, le=GREATEST)],
    decision: Annotated[Decision, Form()],
    note: Annotated[str, Form(max_length=MAX_NOTE)] = "",
    back: Annotated[str, Form(max_length=4000)] = "",
) -> Response:
    """What a person says of a flag; the card and the precision as they are then, or back to where it was said."""
    row = service.index.row(run, seq)
    if not any((flag.detector, flag.version) == (detector, version) for flag in row.record.flags):
        raise NotFoundError("flag", f"{detector}@{version}")
    flag = service.index.decide(run, seq, detector, version, decision, note)
    to = back if _inside(back) else links.flags(run=run)
    if not fragment(request):
        return RedirectResponse(f"{to.partition('#')[0]}#{anchor(run, seq, detector)}", 303)
    inbox_asks = urlsplit(to).path == "/flags"
    return show(
        request,
        "_decided.html",
        flag=flag,
        excerpt=excerpt_of(flag, row) if inbox_asks else None,
        detectors=service.index.detectors(_run_in(to)) if inbox_asks else None,
        which=FlagFilter(run=_run_in(to)),
        oob=True,
        **{**common(request), "back": to},
    )


def common(request: Request) -> dict[str, Any]:
    """What the card of a flag needs beside the flag."""
    address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return {"tell": told, "about": about(), "pattern": pattern, "back": address}


@cache
def about() -> dict[str, str]:
    """What each detector looks for."""
    from lydite.detectors import listed

    return {one.name: one.about for one in listed()}


def anchor(run: str, seq: int, detector: str) -> str:
    """Where the card of a flag stands in a page."""
    return f"flag-{run}-{seq}-{detector}"


def pattern(rollout: RolloutRow, detector: str) -> str:
    """Attempts of the same run, flagged by the same detector at about the same time."""
    which: dict[str, links.Value] = {"flag": detector}
    if rollout.step is None:
        which["phase"] = rollout.phase
    else:
        which |= {"stage": rollout.stage, "step": f"{max(0, rollout.step - STEPS)}..{rollout.step + STEPS}"}
    return links.run(rollout.run, "rollouts", **which)


def excerpt_of(flag: FlagRow, row: Row | None) -> Excerpt | None:
    """The words that a flag speaks of: a message, or an argument of a call, in which its evidence stands; else the
    policy's last words."""
    if row is None:
        return None
    quotes = quotes_of([Flag(detector=flag.detector, version=flag.version, bars=flag.bars, evidence=flag.evidence)])
    call = 0
    for message in row.rollout.completion:
        if message.role == "assistant" and (hits := hits_in(message.content, quotes)):
            return Excerpt("It said", shown(message.content, hits, limit=EXCERPT))
        for one in message.tool_calls:
            call += 1
            for name, value in one.arguments.items():
                text = argument(value)
                if hits := hits_in(text, quotes, call=call):
                    return Excerpt(f"Call {call}, {one.name[:60]}, {name[:60]}", shown(text, hits, limit=EXCERPT))
    return Excerpt("It said", shown(row.rollout.text, limit=EXCERPT))


def _with_rows(service: Service, flags: tuple[FlagRow, ...]) -> list[tuple[FlagRow, Row | None]]:
    """Flags with the attempts that they stand at; without where a run's folder has changed meanwhile."""
    wanted: dict[str, list[int]] = {}
    for flag in flags:
        wanted.setdefault(flag.run, []).append(flag.seq)
    rows: dict[tuple[str, int], Row] = {}
    for run, seqs in wanted.items():
        try:
            rows |= {(run, row.seq): row for row in service.index.rows(run, sorted(set(seqs)))}
        except (InputError, ApiError):
            continue
    return [(flag, rows.get((flag.run, flag.seq))) for flag in flags]


def _inside(address: str) -> bool:
    """Whether an address is one of the page's own views of flags."""
    if not address.isascii() or not address.isprintable() or "\\" in address:
        return False
    parts = urlsplit(address)
    return not parts.scheme and not parts.netloc and (parts.path == "/flags" or parts.path.startswith("/runs/"))


def _run_in(address: str) -> str | None:
    """The run that an inbox is about."""
    return next(iter(parse_qs(urlsplit(address).query).get("run", ())), None)
