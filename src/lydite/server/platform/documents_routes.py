"""``/doc``: task documents of workspaces, in the platform's shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Query

from lydite.server.answers import Json
from lydite.server.bodies import below, field, json_body, only, refusal
from lydite.server.deps import Given
from lydite.server.document_fields import FATAL, check_workspace
from lydite.server.documents import MOST, Document
from lydite.server.paging import listing
from lydite.server.rlvr.filters import After, Limit, Word
from lydite.server.tasks import problems_of

router = APIRouter(prefix="/doc", tags=["documents"])

SPEC = "rawTrainingData.task_spec"
_CHANGES = ("autoParse", "rawTrainingData", "type", "userid", "title", "topics", "status", "scope")
_TASK = {"prompt": "Say hello", "checker": {"type": "exact", "config": {"answer": "hello"}}}
_ITEM: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "autoParse": {"type": "boolean", "default": True},
        "rawTrainingData": {
            "type": "object",
            "required": ["task_spec"],
            "properties": {"task_spec": {"type": "object", "description": "A task document."}},
        },
        "type": {"enum": ["rlTask"]},
        "userid": {"type": "string", "maxLength": 200},
        "title": {"type": "string", "maxLength": 500},
        "topics": {"type": "array", "maxItems": 50, "items": {"type": "string", "maxLength": 100}},
        "status": {"enum": ["draft", "published", "archived"], "default": "published"},
        "scope": {"type": "string", "maxLength": 100, "default": "training"},
    },
}
_CREATE = json_body(
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["workspaceid", "data"],
        "properties": {
            "workspaceid": {"type": "string", "minLength": 1, "maxLength": 200},
            "data": {"type": "array", "minItems": 1, "maxItems": MOST, "items": _ITEM},
        },
    },
    {"workspaceid": "w", "data": [{"rawTrainingData": {"task_spec": _TASK}, "type": "rlTask", "title": "Greeting"}]},
)

Id = Annotated[str, Path(max_length=64)]
Object = Annotated[Any, Body()]


@router.post("/create", summary="Add task documents, all of them or none", openapi_extra=_CREATE)
def create(service: Given, body: Object) -> Json:
    """Each is read, linted and its checker compiled first; nothing of it is run. What lint only warns of is told."""
    only(body, ("workspaceid", "data"))
    workspace = check_workspace(field(body, "workspaceid", str))
    data = field(body, "data", list)
    if not data:
        raise refusal("data", "is empty: give at least one document")
    given = [_fields(entry, f"data[{index}]") for index, entry in enumerate(data)]
    for index, fields in enumerate(given):
        if "spec" not in fields:
            raise refusal(f"data[{index}].{SPEC}", "is missing: put the task there")
    made = service.documents.create(given, workspace, item="data[{}]", spec=SPEC)
    return Json(
        {
            "ids": [document.id for document in made],
            "data": [told(document) for document in made],
            "warnings": warnings_of([document.spec for document in made], SPEC),
        }
    )


@router.get("/list", summary="List the documents of a workspace")
def list_documents(
    service: Given,
    workspaceid: Annotated[str, Query(min_length=1, max_length=200)],
    topics: Annotated[list[str] | None, Query(description="Those that have any of them.")] = None,
    status: Literal["draft", "published", "archived"] | None = None,
    q: Word = None,
    limit: Limit = 50,
    after: After = None,
) -> Json:
    """The newest first."""
    page = service.documents.page(
        workspace=workspaceid, topics=topics or (), status=status, q=q, limit=limit, after=after
    )
    return Json(listing([told(one) for one in page.items], has_more=page.next is not None, next=page.next))


@router.get("/{id}", summary="One document")
def get(service: Given, id: Id) -> Json:
    """As it is kept."""
    return Json(told(service.documents.get(id)))


@router.post("/update/{id}", summary="Change fields of a document", openapi_extra=json_body(_ITEM, {"status": "draft"}))
def update(service: Given, id: Id, body: Object) -> Json:
    """Jobs that were made before keep what they were made of."""
    return Json(told(service.documents.replace(id, _fields(body, ""), spec=SPEC)))


@router.delete("/{id}", summary="Delete a document")
def delete(service: Given, id: Id) -> Json:
    """Jobs that were made before keep what they were made of."""
    service.documents.delete(id)
    return Json({"id": id, "deleted": True})


def told(document: Document) -> dict[str, Any]:
    """A document in the platform's words."""
    return {
        "id": document.id,
        "workspaceid": document.workspace,
        "type": document.type,
        "status": document.status,
        "title": document.title,
        "topics": document.topics,
        "userid": document.user,
        "scope": document.scope,
        "created_at": int(document.created),
        "rawTrainingData": {"task_spec": document.spec},
    }


def warnings_of(specs: Sequence[dict[str, Any]], spec: str, item: str = "data[{}]") -> list[dict[str, Any]]:
    """What lint says of documents that are kept all the same."""
    return [
        {
            "index": problem.index,
            "rule": problem.rule,
            "message": problem.message,
            "field": below(f"{item.format(problem.index)}.{spec}".lstrip("."), problem.field or "").rstrip("."),
            "remedy": problem.remedy,
        }
        for problem in problems_of(specs)
        if problem.rule not in FATAL
    ]


def _fields(entry: Any, where: str) -> dict[str, Any]:
    """Fields of ``Document``, from those of the platform."""
    only(entry, _CHANGES, where)
    if not field(entry, "autoParse", bool, True, where=where):
        raise refusal(below(where, "autoParse"), "must be true: documents are parsed and checked when they come")
    fields = {name: entry[name] for name in ("type", "title", "topics", "status", "scope") if name in entry}
    if "userid" in entry:
        fields["user"] = field(entry, "userid", str, where=where)
    if entry.get("rawTrainingData") is not None:
        raw = below(where, "rawTrainingData")
        task = only(entry["rawTrainingData"], ("task_spec",), raw)
        if not isinstance(task.get("task_spec"), dict):
            raise refusal(f"{raw}.task_spec", "must be a task document: an object")
        fields["spec"] = task["task_spec"]
    return {name: value for name, value in fields.items() if value is not None}
