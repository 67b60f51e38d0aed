"""Answers of Lydite's own API: structs as JSON, and their JSON Schema for the OpenAPI document.

What the index answers with is typed already and may be long, so it is encoded as it is and not validated again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Literal, TypeVar

import msgspec
from fastapi.responses import Response

from lydite.codec import canonical
from lydite.server.paging import Page

T = TypeVar("T")

JSON = "application/json"
NOWHERE: dict[int | str, dict[str, Any]] = {
    400: {"description": "The request is unusable; the message names the field and what to do."},
    404: {"description": "There is no such thing."},
}
"""What a route may answer beside 200."""


class Listing(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A list in pages, as OpenAI's clients read it. ``next`` goes into ``after`` for the next page; ``total`` where it
    is known."""

    object: Literal["list"] = "list"
    data: tuple[T, ...]
    has_more: bool = False
    next: str | None = None
    total: int | None = None


def listed(page: Page[T]) -> Response:
    """A page of the index as an answer."""
    return answer(Listing(data=page.items, has_more=page.next is not None, next=page.next, total=page.total))


def answer(value: Any, status: int = 200) -> Response:
    """A struct, or anything that JSON has, as an answer."""
    return Response(canonical(value), status, media_type=JSON)


def tells(kind: Any, description: str = "As asked.") -> dict[int | str, dict[str, Any]]:
    """``responses`` of a route that answers with a type: its schema in full, and the refusals."""
    (schema,), components = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    return {200: {"description": description, "content": {JSON: {"schema": _inlined(schema, components)}}}, **NOWHERE}


def _inlined(schema: Any, components: Mapping[str, Any]) -> Any:
    """A schema without references: none of ours holds itself."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            return _inlined(components[schema["$ref"].rpartition("/")[2]], components)
        return {key: _inlined(value, components) for key, value in schema.items()}
    if isinstance(schema, list | tuple):
        return [_inlined(value, components) for value in schema]
    return schema
