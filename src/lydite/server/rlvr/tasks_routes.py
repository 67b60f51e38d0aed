"""``/v1/rlvr/tasks``: author, validate, probe."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Body, Header, Path, Query, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from lydite.errors import InputError
from lydite.server.bodies import field, json_body, only
from lydite.server.deps import Given
from lydite.server.documents import Document
from lydite.server.errors import ApiError, NotFoundError, RefusedError, refused
from lydite.server.paging import Page
from lydite.server.rlvr.answers import JSON, Listing, answer, listed, tells
from lydite.server.rlvr.filters import After, Limit, Word
from lydite.server.tasks import Probing, Problem, problems_of, read_tasks
from lydite.task import Task

router = APIRouter(prefix="/v1/rlvr/tasks", tags=["tasks"])

WORKSPACE = "default"
MARKDOWN = "text/markdown"
_FIELDS = ("task", "title", "topics", "status", "user", "scope")
_TASK = {"prompt": "What is 6 * 7?", "checker": {"type": "math", "config": {"answer": "42"}}}
_ITEM: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "task": {"type": "object", "description": "A task document."},
        "title": {"type": "string", "maxLength": 500},
        "topics": {"type": "array", "maxItems": 50, "items": {"type": "string", "maxLength": 100}},
        "status": {"enum": ["draft", "published", "archived"]},
        "user": {"type": "string", "maxLength": 200},
        "scope": {"type": "string", "maxLength": 100},
    },
}
_MANY = {"type": "object", "required": ["documents"], "properties": {"documents": {"type": "array", "items": _ITEM}}}
_TEXT = json_body(
    {
        "type": ["object", "array"],
        "description": 'A task document, a list of them, or {"text": "..."}: the content of a task file of any kind.',
    },
    _TASK,
)

Id = Annotated[str, Path(max_length=64)]
Object = Annotated[Any, Body()]
Wait = Annotated[float, Query(ge=0, le=60, description="Seconds to wait for the result.")]


class TaskDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A task document. ``digest`` is of the task, and names its card; ``probed`` says whether there is one."""

    id: str
    object: Literal["rlvr.task"] = "rlvr.task"
    created_at: int
    workspace: str
    status: str
    title: str
    topics: tuple[str, ...]
    user: str
    scope: str
    task: dict[str, Any]
    digest: str
    probed: bool


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """Documents that were added, and what lint says of them all the same."""

    object: Literal["list"] = "list"
    data: tuple[TaskDocument, ...]
    warnings: tuple[Problem, ...]


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with task documents; ``valid``: no error among it (warnings may be meant)."""

    valid: bool
    problems: tuple[Problem, ...]


class Deleted(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    deleted: bool = True


class _Text(msgspec.Struct, forbid_unknown_fields=True):
    text: str


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """How far a probing is, and the card once it is done."""

    probing: Probing
    card: dict[str, Any] | None = None


@router.get("", summary="List task documents", responses=tells(Listing[TaskDocument]))
def list_tasks(
    service: Given,
    workspace: Annotated[str | None, Query(max_length=200)] = None,
    topic: Annotated[list[str] | None, Query(description="Those that have any of them; repeat it.")] = None,
    status: Literal["draft", "published", "archived"] | None = None,
    q: Word = None,
    limit: Limit = 50,
    after: After = None,
) -> Response:
    """The newest first, of all workspaces where none is named."""
    page = service.documents.page(workspace=workspace, topics=topic or (), status=status, q=q, limit=limit, after=after)
    return listed(Page(items=tuple(_told(service, one) for one in page.items), next=page.next, total=page.total))


@router.post(
    "",
    summary="Add task documents, all of them or none",
    openapi_extra=json_body({"anyOf": [_ITEM, _MANY]}, {"task": _TASK, "title": "Six by seven"}),
    responses=tells(Made),
)
def create(service: Given, body: Object) -> Response:
    """One, or ``{"documents": [...]}``, in the workspace ``default``. Nothing of them is run."""
    many = isinstance(body, dict) and "documents" in body
    given = field(only(body, ("documents",)), "documents", list) if many else [body]
    fields = [_fields(entry, f"documents[{place}]" if many else "") for place, entry in enumerate(given)]
    made = service.documents.create(fields, WORKSPACE, item="documents[{}]" if many else "", spec="task")
    warnings = [
        msgspec.structs.replace(problem, severity="warning") for problem in problems_of([one.spec for one in made])
    ]
    return answer(Made(data=tuple(_told(service, one) for one in made), warnings=tuple(warnings)))


@router.post("/validate", summary="What is wrong with task documents", openapi_extra=_TEXT, responses=tells(Validation))
async def validate(
    service: Given,
    request: Request,
    tried: Annotated[bool, Query(description="Set up, solve and judge each task in the sandbox, too.")] = True,
) -> Response:
    """The body is one document, a list, or ``{"text": "..."}`` of a task file (one a line, YAML). Nothing is kept. With
    ``tried=false`` only what can be seen without running anything is looked at."""
    text = _text(await request.body())
    problems = await run_in_threadpool(service.tasks.validate, text, tried=tried)
    valid = not any(problem.severity == "error" for problem in problems)
    return answer(Validation(valid=valid, problems=tuple(problems)))


@router.post("/probe", summary="Attack the checker of a task", openapi_extra=_TEXT, responses=tells(Probed))
async def probe(service: Given, request: Request, wait: Wait = 0) -> Response:
    """The body is one task document; it is not kept, its card is. Ask again, or below ``/probes/{digest}``, until it is
    ``done``."""
    text = _text(await request.body())
    return await _begun(service, await run_in_threadpool(_one, text), wait)


@router.get("/probes/{digest}", summary="How far a probing is", responses=tells(Probed))
async def probing(service: Given, digest: Annotated[str, Path(max_length=64)], wait: Wait = 0) -> Response:
    """With the card, once it is done. ``wait`` seconds for that."""
    return await _reported(service, digest, wait)


@router.get("/{id}", summary="One task document", responses=tells(TaskDocument))
def get(service: Given, id: Id) -> Response:
    """As it is kept."""
    return answer(_told(service, service.documents.get(id)))


@router.put("/{id}", summary="Replace fields of a task document", openapi_extra=json_body(_ITEM, {"task": _TASK}))
def replace(service: Given, id: Id, body: Object) -> Response:
    """Fields that are left out stay as they are."""
    return answer(_told(service, service.documents.replace(id, _fields(body, ""), spec="task")))


@router.delete("/{id}", summary="Delete a task document", responses=tells(Deleted))
def delete(service: Given, id: Id) -> Response:
    """Jobs that were made of it keep what they were made of."""
    service.documents.delete(id)
    return answer(Deleted(id=id))


@router.post("/{id}/probe", summary="Attack the checker of a task document", responses=tells(Probed))
async def probe_document(service: Given, id: Id, wait: Wait = 0) -> Response:
    """As ``POST /v1/rlvr/tasks/probe``."""
    return await _begun(service, await run_in_threadpool(service.documents.task, id), wait)


@router.get("/{id}/card", summary="The checker card of a task document", responses=tells(dict[str, Any]))
def card(service: Given, id: Id, accept: Annotated[str, Header(max_length=1000)] = "") -> Response:
    """As JSON, or as Markdown where ``Accept`` prefers ``text/markdown``."""
    from lydite.probes.card import to_json
    from lydite.probes.card_markdown import to_markdown

    found = service.tasks.card(service.documents.task(id).digest)
    if found is None:
        raise ApiError(404, "this task was not probed yet (POST .../probe first)", param="id", code="card_not_found")
    if _prefers_markdown(accept):
        return Response(to_markdown(found), media_type=f"{MARKDOWN}; charset=utf-8")
    return answer(to_json(found))


def _told(service: Given, document: Document) -> TaskDocument:
    digest = service.documents.digest(document)
    return TaskDocument(
        id=document.id,
        created_at=int(document.created),
        workspace=document.workspace,
        status=document.status,
        title=document.title,
        topics=document.topics,
        user=document.user,
        scope=document.scope,
        task=document.spec,
        digest=digest,
        probed=service.tasks.has_card(digest),
    )


def _fields(entry: Any, where: str) -> dict[str, Any]:
    only(entry, _FIELDS, where)
    return {"spec" if name == "task" else name: value for name, value in entry.items() if value is not None}


def _text(body: bytes) -> str:
    """The text of a task file that a body is, or holds."""
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(body, type=_Text).text
    return body.decode("utf-8", "replace")


def _one(text: str) -> Task:
    """The task of a text.

    Raises:
        RefusedError: there is none, or several, or it cannot be read.
    """
    try:
        tasks = read_tasks(text)
    except InputError as error:
        raise refused(error) from None
    if len(tasks) != 1:
        raise RefusedError(f"holds {len(tasks)} tasks: give one")
    return tasks[0]


async def _begun(service: Given, task: Task, wait: float) -> Response:
    state = service.tasks.probe(task)
    return await _reported(service, state.digest, wait)


async def _reported(service: Given, digest: str, wait: float) -> Response:
    from lydite.probes.card import Card, to_json

    until = time.monotonic() + wait
    while True:
        state = service.tasks.probing(digest)
        if state is None or state.over or time.monotonic() >= until:
            break
        await asyncio.sleep(0.1)
    found: Card | None = None
    if state is None or state.status == "done":
        found = await run_in_threadpool(service.tasks.card, digest)
    if state is None and found is None:
        raise NotFoundError("probing", digest)
    told = state or Probing(digest=digest, status="done")
    return answer(Probed(probing=told, card=None if found is None else to_json(found)))


def _prefers_markdown(accept: str) -> bool:
    kinds = [kind.partition(";")[0].strip().lower() for kind in accept.split(",")]
    return MARKDOWN in kinds and (JSON not in kinds or kinds.index(MARKDOWN) < kinds.index(JSON))
