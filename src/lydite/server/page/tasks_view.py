"""The views of task documents: which there are, an editor that says what is wrong as one types, the probe panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from fastapi import Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from lydite.errors import InputError
from lydite.server.deps import Given
from lydite.server.documents import Document
from lydite.server.errors import ApiError, RefusedError
from lydite.server.page import authoring
from lydite.server.page.filled import Filled
from lydite.server.page.render import page_router, show
from lydite.server.rlvr.filters import After
from lydite.server.service import Service
from lydite.server.tasks import Probing, Problem
from lydite.tasksets.starters import HARBOR, KINDS, starter

if TYPE_CHECKING:
    from lydite.probes.card import Card

router = page_router()

LIMIT = 50
WORKSPACE = "default"
"""Where a document goes whose author names no workspace."""
STATUSES = ("draft", "published", "archived")
STARTERS = tuple(kind for kind in KINDS if kind != HARBOR)

Text = Annotated[str, Form(max_length=authoring.MOST)]
Line = Annotated[str, Form(max_length=600)]
Word = Annotated[str | None, Query(max_length=200)]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A document in the list. ``card``: ``holds``, ``open`` (something got through), empty where nobody probed it."""

    document: Document
    checker: str
    prompt: str
    card: str


class Editing(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in the editor."""

    text: str
    title: str = ""
    topics: str = ""
    workspace: str = ""
    status: str = "published"


@router.get("/tasks")
def tasks(
    request: Request,
    service: Given,
    _: Filled,
    workspace: Word = None,
    topic: Word = None,
    status: Literal["draft", "published", "archived"] | None = None,
    q: Annotated[str | None, Query(max_length=500)] = None,
    after: After = None,
) -> Response:
    """Task documents, the newest first."""
    page = service.documents.page(
        workspace=workspace, topics=[topic] if topic else (), status=status, q=q, limit=LIMIT, after=after
    )
    return show(
        request,
        "tasks.html",
        page=page,
        rows=[_row(service, one) for one in page.items],
        workspace_options=[(name, f"{name} ({count})") for name, count in service.documents.workspaces()],
        statuses=STATUSES,
        asked={"workspace": workspace, "topic": topic, "status": status, "q": q},
        starters=STARTERS,
        nav="tasks",
    )


@router.get("/tasks/new")
def new(
    request: Request,
    service: Given,
    kind: Annotated[str, Query(max_length=60)] = "",
    copy: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """An empty editor, a starter of a kind of checker, or a copy of another document."""
    if copy:
        given = _editing(service.documents.get(copy))
        return _editor(request, service, given)
    return _editor(request, service, Editing(text=starter(kind) if kind else ""), kind=kind)


@router.post("/tasks/validate")
def validate(request: Request, service: Given, text: Text = "", tried: bool = False) -> Response:
    """What is wrong with a text; with ``tried`` its tasks are set up, solved and judged, too."""
    problems = _problems(service, text, tried=tried)
    told = authoring.outcome_of(text, problems) if tried else ""
    return show(request, "_problems.html", problems=problems, outcome=told, text=text)


@router.post("/tasks")
def create(
    request: Request,
    service: Given,
    text: Text = "",
    title: Line = "",
    topics: Line = "",
    workspace: Line = "",
    status: Annotated[Literal["draft", "published"], Form()] = "published",
) -> Response:
    """Keep a new document, or several where the text has several."""
    given = Editing(text=text, title=title, topics=topics, workspace=workspace, status=status)
    try:
        fields = {"title": title.strip(), "topics": _topics(topics), "status": status}
        specs = authoring.specs_of(text)
        if not specs:
            raise RefusedError("there is no task in it")
        made = service.documents.create([{**fields, "spec": spec} for spec in specs], workspace.strip() or WORKSPACE)
    except (InputError, ApiError) as error:
        return _editor(request, service, given, error=error)
    return RedirectResponse(_place(made[0].id) if len(made) == 1 else "/tasks", 303)


@router.get("/tasks/{id}")
def task(request: Request, service: Given, id: str) -> Response:
    """A document in the editor, with what its probing found."""
    document = service.documents.get(id)
    return _editor(request, service, _editing(document), document=document)


@router.post("/tasks/{id}")
def replace(
    request: Request,
    service: Given,
    id: str,
    text: Text = "",
    title: Line = "",
    topics: Line = "",
    status: Annotated[Literal["draft", "published", "archived"], Form()] = "published",
) -> Response:
    """Keep changes of a document."""
    document = service.documents.get(id)
    given = Editing(text=text, title=title, topics=topics, workspace=document.workspace, status=status)
    try:
        specs = authoring.specs_of(text)
        if len(specs) != 1:
            raise RefusedError(f"holds {len(specs)} tasks: a document is one")
        changes = {"spec": specs[0], "title": title.strip(), "topics": _topics(topics), "status": status}
        service.documents.replace(id, changes)
    except (InputError, ApiError) as error:
        return _editor(request, service, given, document=document, error=error)
    return RedirectResponse(_place(id), 303)


@router.post("/tasks/{id}/delete")
def delete(service: Given, id: str) -> Response:
    """Forget a document."""
    service.documents.delete(id)
    return RedirectResponse("/tasks", 303)


@router.post("/tasks/{id}/probe")
def probe(request: Request, service: Given, id: str) -> Response:
    """Begin to attack its checker."""
    service.tasks.probe(service.documents.task(id))
    if request.headers.get("HX-Request") == "true":
        return _probe(request, service, id)
    return RedirectResponse(f"{_place(id)}#probe", 303)


@router.get("/tasks/{id}/probe")
def probing(request: Request, service: Given, id: str) -> Response:
    """How far that is; the card, when it is done."""
    if request.headers.get("HX-Request") != "true":
        return RedirectResponse(f"{_place(id)}#probe", 303)
    return _probe(request, service, id)


def _probe(request: Request, service: Service, id: str) -> Response:
    state, card = _probed(service, service.documents.get(id))
    return show(request, "_probe.html", id=id, probing=state, card=card, headline=_headline)


def _headline(card: Card) -> str:
    from lydite.probes.card_markdown import headline  # with all attacks: not before there is a card

    return headline(card)


def _probed(service: Service, document: Document) -> tuple[Probing | None, Card | None]:
    digest = service.documents.digest(document)
    state = service.tasks.probing(digest) if digest else None
    return state, service.tasks.card(digest) if digest else None


def _editor(
    request: Request,
    service: Service,
    given: Editing,
    *,
    document: Document | None = None,
    error: InputError | ApiError | None = None,
    kind: str = "",
) -> Response:
    state, card = _probed(service, document) if document is not None else (None, None)
    problems: list[Problem] = _problems(service, given.text) if given.text.strip() else []
    return show(
        request,
        "task.html",
        status=200 if error is None else 400,
        id=document.id if document is not None else None,
        document=document,
        given=given,
        error=_said(error),
        problems=problems,
        outcome="",
        text=given.text,
        probing=state,
        card=card,
        headline=_headline,
        starters=STARTERS,
        statuses=STATUSES,
        kind=kind,
        most=authoring.MOST,
        nav="tasks",
    )


def _problems(service: Service, text: str, *, tried: bool = False) -> list[Problem]:
    if not text.strip():
        return []
    try:
        return authoring.placed(service.tasks.validate(text, tried=tried), text)
    except (InputError, ApiError) as error:
        return [Problem(index=0, severity="error", rule="malformed", message=_said(error))]


def _said(error: InputError | ApiError | None) -> str:
    if error is None:
        return ""
    if isinstance(error, ApiError):
        return error.message
    where = f"line {error.line}: " if error.line is not None else ""
    return f"{where}{error.field + ': ' if error.field else ''}{error.message}" + (
        f" ({error.remedy})" if error.remedy else ""
    )


def _editing(document: Document) -> Editing:
    return Editing(
        text=authoring.text_of(document.spec),
        title=document.title,
        topics=", ".join(document.topics),
        workspace=document.workspace,
        status=document.status,
    )


def _row(service: Service, document: Document) -> Row:
    digest = service.documents.digest(document)
    card = service.tasks.card(digest) if digest else None
    checker: Any = document.spec.get("checker")
    prompt: Any = document.spec.get("prompt") or document.spec.get("question") or ""
    if isinstance(prompt, list):
        prompt = " ".join(str(one.get("content", "")) for one in prompt if isinstance(one, dict))
    return Row(
        document=document,
        checker=str(checker.get("type", "")) if isinstance(checker, dict) else "",
        prompt=str(prompt),
        card="" if card is None else "open" if card.got_through else "holds" if card.holds else "looked",
    )


def _topics(text: str) -> list[str]:
    return [topic.strip() for topic in text.split(",") if topic.strip()]


def _place(id: str) -> str:
    return f"/tasks/{id}"
