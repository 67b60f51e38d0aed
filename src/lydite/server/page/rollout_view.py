"""``/runs/{run}/rollouts``: the table of attempts, and one attempt: what was said, why it earned what it earned."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import Form, Path, Query, Request
from fastapi.responses import Response

from lydite.codec import well_formed
from lydite.errors import InputError, MissingExtraError, UnavailableError
from lydite.ledger import Row
from lydite.ledger.reviews import Reviews
from lydite.rollout import Calls, FinishReason
from lydite.server.deps import Given
from lydite.server.errors import ApiError, NotFoundError, refused
from lydite.server.index.rows import FlagRow, RolloutRow
from lydite.server.page import links, reasons
from lydite.server.page.filled import Filled
from lydite.server.page.flags_view import about, pattern
from lydite.server.page.quotes import hits_in, quotes_of, told
from lydite.server.page.render import fragment, page_router, show
from lydite.server.page.reverify import MOST, explained, judge_again
from lydite.server.page.telling import duration
from lydite.server.page.transcript import argument, messages_of, plain, turns
from lydite.server.page.transcript import show as shown
from lydite.server.page.why import placeless, why
from lydite.server.rlvr.filters import GREATEST, After, Rollouts, Run, Seq
from lydite.server.service import Service
from lydite.task import Checker, Task
from lydite.verdict import Outcome
from lydite.verifiers.registry import RECORDED

router = page_router()

WHOLE = 500_000
"""Characters of a text that are shown in place when all of it is asked for; beyond, it is a download."""
_TEXT = "text/plain; charset=utf-8"
Number = Annotated[int, Path(ge=1, le=GREATEST)]


@router.get("/runs/{run}/rollouts")
def table(request: Request, service: Given, run: Run, _: Filled, which: Rollouts, after: After = None) -> Response:
    """Attempts, by filter."""
    row = service.index.run(run)
    page = service.index.rollouts(run, which, limit=50, after=after)
    if fragment(request):
        return show(request, "_counted.html", run=run, row=row, page=page)
    return show(
        request,
        "rollouts.html",
        run=run,
        row=row,
        which=which,
        page=page,
        phases=[phase.phase for phase in service.index.phases(run)],
        detectors=sorted({one.detector for one in service.index.detectors(run)}),
        outcomes=list(Outcome),
        finishes=list(FinishReason),
        sorts=_SORTS,
        told=reasons.told,
    )


_SORTS = [
    ("-seq", "newest first"),
    ("-reward", "highest reward"),
    ("reward", "lowest reward"),
    ("-tokens", "longest"),
    ("tokens", "shortest"),
    ("-seconds", "slowest to judge"),
    ("seconds", "quickest to judge"),
]


@router.get("/runs/{run}/rollouts/{seq}")
def attempt(request: Request, service: Given, run: Run, seq: Seq, raw: bool = False) -> Response:
    """One attempt."""
    return show(request, "rollout.html", **_seen(service, run, seq, raw=raw), back=links.rollout(run, seq))


@router.get("/runs/{run}/rollouts/{seq}/turns/{number}")
def turn(
    request: Request,
    service: Given,
    run: Run,
    seq: Seq,
    number: Number,
    call: Annotated[int | None, Query(ge=1, le=GREATEST)] = None,
    name: Annotated[str | None, Query(max_length=1000)] = None,
    inline: bool = False,
    raw: bool = False,
) -> Response:
    """All of a turn's text as a file, or of one argument of a call in it. ``inline``: as a part of the page."""
    row = service.index.row(run, seq)
    every = messages_of(row.rollout)
    if number > len(every):
        raise NotFoundError("turn", str(number))
    message = every[number - 1]
    text, file = message.content, f"{run}-{seq}-turn-{number}"
    if call is not None:
        before = sum(len(one.tool_calls) for one in every[: number - 1])
        if not before < call <= before + len(message.tool_calls):
            raise NotFoundError("call", str(call))
        arguments = message.tool_calls[call - before - 1].arguments
        if name is not None and name not in arguments:
            raise NotFoundError("argument", name)
        text = argument(arguments if name is None else arguments[name])
        file += f"-call-{call}"
    elif message.tool_calls and not inline:
        text = plain(message)
    if inline:  # put into a page as markup, so it is never the text itself, however long that is
        quotes = quotes_of(row.record.flags) if number > len(row.rollout.prompt) else []
        found = shown(text, hits_in(text, quotes, call=call), limit=WHOLE, raw=raw)
        return show(request, "_text.html", shown=found, href=links.here(request, inline=None))
    headers = {
        "Content-Disposition": f'attachment; filename="{_plain_name(file)}.txt"',
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-cache",
    }
    return Response(well_formed(text).encode(), media_type=_TEXT, headers=headers)


@router.get("/runs/{run}/rollouts/{seq}/explain")
def explain(request: Request, service: Given, run: Run, seq: Seq) -> Response:
    """The steps of the verdict, where its verifier tells them."""
    row = service.index.row(run, seq)
    task, no_task = _task(service, run, row)
    if task is None:
        raise ApiError(404, no_task, code="task_not_found")
    template = "_steps.html" if fragment(request) else "rollout_steps.html"
    return show(request, template, run=run, seq=seq, steps=explained(task, row))


@router.post("/runs/{run}/rollouts/{seq}/verify")
def verify(
    request: Request,
    service: Given,
    run: Run,
    seq: Seq,
    checker: Annotated[str, Form(max_length=2 * MOST)] = "",
) -> Response:
    """The attempt judged once more; the ledger stays as it is."""
    row = service.index.row(run, seq)
    task, no_task = _task(service, run, row)
    again, problem, status, parts = None, "", 400, []
    if task is None:
        problem = no_task
    else:
        try:
            again = judge_again(service, run, row, task, checker)
            parts = _beside(row, again.graded.verdict.parts)
            status = 200
        except InputError as error:
            problem = refused(error).message
        except ApiError as error:
            problem, status = error.message, error.status
        except (UnavailableError, MissingExtraError) as error:
            problem = str(error)
    said: dict[str, Any] = {"again": again, "problem": problem, "asked": checker, "again_parts": parts}
    said["placeless"] = placeless
    if fragment(request):
        return show(request, "_again.html", run=run, seq=seq, row=row, **said)
    back = links.rollout(run, seq)
    return show(request, "rollout.html", status=status, **{**_seen(service, run, seq), **said, "back": back})


def _seen(service: Service, run: str, seq: int, *, raw: bool = False) -> dict[str, Any]:
    """Everything that the view of an attempt shows."""
    index = service.index
    brief = index.rollout(run, seq)
    row = index.row(run, seq)
    group, attempts = index.group(run, brief.group)
    task, no_task = _task(service, run, row)
    quotes = quotes_of(row.record.flags)
    shown_turns, left_out = turns(row.rollout, quotes, answer=row.record.verdict.extracted, raw=raw)
    return {
        "run": run,
        "seq": seq,
        "brief": brief,
        "row": row,
        "group": group,
        "attempts": attempts,
        "place": next((n for n, one in enumerate(attempts, 1) if one.seq == seq), 0),
        "task": task,
        "turns": shown_turns,
        "left_out": left_out,
        "raw": raw,
        "why": why(service, run, seq, row.record, task, no_task),
        "others": index.others(run, seq),
        "flags": flag_rows(service, run, brief, row),
        "document": _document(task),
        "calls_told": _calls_told(row.rollout.calls),
        "tell": told,
        "about": about(),
        "pattern": pattern,
        "again": None,
        "problem": "",
        "asked": "",
        "again_parts": [],
        "placeless": placeless,
    }


def flag_rows(service: Service, run: str, brief: RolloutRow, row: Row) -> list[FlagRow]:
    """The flags of an attempt and what people said of them."""
    reviews = Reviews(service.home.run_folder(run)) if row.record.flags else None
    found = []
    for flag in row.record.flags:
        said = reviews.of(row.rollout.id, flag) if reviews is not None else None
        found.append(
            FlagRow(
                run=run,
                seq=row.seq,
                detector=flag.detector,
                version=flag.version,
                bars=flag.bars,
                rollout=brief,
                evidence=flag.evidence,
                decision=said.decision if said is not None else None,
                note=said.note if said is not None else None,
                decided=said.time if said is not None else None,
            )
        )
    return found


def _task(service: Service, run: str, row: Row) -> tuple[Task | None, str]:
    """The task as attempted, or why it cannot be shown."""
    try:
        task = service.index.task(run, row.rollout.task)
    except ApiError as error:
        return None, error.message
    except InputError as error:
        return None, error.message
    if task.digest != row.rollout.task_digest:
        return None, "the task of this name is not the one that was attempted"
    return task, ""


def _calls_told(calls: Calls | None) -> str:
    """What became of an episode's calls, in few words."""
    if calls is None:
        return ""
    counts = ((calls.failed, "refused"), (calls.malformed, "unreadable"), (calls.left, "beyond the limit"))
    return ", ".join([duration(sum(calls.seconds)), *(f"{count} {word}" for count, word in counts if count)])


def _document(task: Task | None) -> str:
    """A task's checker as somebody would write it."""
    if task is None:
        return ""
    checker = task.checker
    if checker.type == RECORDED:  # judged nothing: a beginning of one that does
        checker = Checker(type="math", config={"answer": str(task.metadata.get("gold", ""))})
    text = msgspec.json.format(msgspec.json.encode(checker), indent=2).decode()
    return text if len(text) <= MOST else ""


def _beside(row: Row, parts: tuple[Any, ...]) -> list[tuple[str, Any, Any]]:
    """Parts of the recorded and of the new verdict by name, those that differ first; 100 at most."""
    old = {part.name: part for part in row.record.verdict.parts}
    new = {part.name: part for part in parts}
    rows = [(name, old.get(name), new.get(name)) for name in {**old, **new}]
    return sorted(rows, key=lambda one: one[1] == one[2])[:100]


def _plain_name(text: str) -> str:
    return "".join(char if char.isascii() and (char.isalnum() or char in "-_.") else "_" for char in text)[:150]
