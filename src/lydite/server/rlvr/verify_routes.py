"""``/v1/rlvr/verify``: verdicts, one or many."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from lydite.codec import well_formed
from lydite.errors import InputError
from lydite.server.bodies import json_body
from lydite.server.deps import Given
from lydite.server.errors import RefusedError, refused
from lydite.server.judging import Default
from lydite.server.rlvr.answers import JSON, NOWHERE
from lydite.verdict import Outcome

router = APIRouter(prefix="/v1/rlvr/verify", tags=["verify"])

MOST = 1000
"""Items of one request."""
LONG = 1 << 18
"""Bytes from which a body is read in a thread."""

_WORDS: dict[str, Any] = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "object"}, "description": "Chat messages."},
        {"type": "null"},
    ]
}
_ITEM: dict[str, Any] = {
    "type": "object",
    "required": ["completion"],
    "properties": {
        "id": {"description": "Comes back as it is."},
        "completion": _WORDS,
        "prompt": _WORDS,
        "gold": {"description": "The right answer; with `verifier`."},
        "verifier": {"type": "string", "description": "Short for a checker of this type with `gold` as its answer."},
        "config": {"type": "object", "description": "Further configuration of `verifier`."},
        "checker": {
            "type": "object",
            "required": ["type"],
            "additionalProperties": False,
            "properties": {"type": {"type": "string"}, "config": {"type": "object"}},
        },
    },
}
_MANY: dict[str, Any] = {
    "type": "object",
    "required": ["items"],
    "properties": {
        "items": {"type": "array", "maxItems": MOST, "items": _ITEM},
        "verifier": {"type": "string", "description": "Of items that name none."},
        "config": {"type": "object", "description": "Its further configuration."},
    },
}
_VERDICT: dict[str, Any] = {
    "type": "object",
    "required": ["id", "outcome", "score", "reward", "reason", "extracted", "flags", "verifier", "seconds"],
    "properties": {
        "id": {},
        "outcome": {"enum": [outcome.value for outcome in Outcome]},
        "score": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "reward": {"type": ["number", "null"], "description": "null where the outcome is invalid"},
        "reason": {"type": "string"},
        "extracted": {"type": ["string", "null"]},
        "flags": {"type": "array", "items": {"type": "string"}},
        "verifier": {"type": "string", "description": "name@version"},
        "seconds": {"type": "number"},
        "parts": {"type": "array", "items": {"type": "object"}},
        "detail": {"type": "string"},
        "index": {"type": "integer", "description": "Of an item of a batch that could not be judged."},
    },
}
_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The verdict, or those of `items` in their order.",
        "content": {
            JSON: {
                "schema": {
                    "anyOf": [
                        _VERDICT,
                        {
                            "type": "object",
                            "required": ["items"],
                            "properties": {"items": {"type": "array", "items": _VERDICT}},
                        },
                    ]
                }
            }
        },
    },
    400: NOWHERE[400],
}
_EXAMPLE = {"completion": "6 * 7 = 42, so \\boxed{42}", "verifier": "math", "gold": "42"}


class _Body(msgspec.Struct):
    items: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET
    verifier: str | None = None
    config: dict[str, Any] | None = None


_BODIES = msgspec.json.Decoder(_Body)


@router.post(
    "",
    summary="Judge a completion, or many",
    openapi_extra=json_body({"anyOf": [_ITEM, _MANY]}, _EXAMPLE),
    responses=_ANSWER,
)
async def verify(service: Given, request: Request) -> Response:
    """Fields and verdicts are those of lines of ``lydite verify``. A checker that cannot be used is refused; in a batch
    it becomes an ``invalid`` verdict with the item's index, and the others are unaffected."""
    body = await request.body()
    body, read = decoded(body) if len(body) < LONG else await run_in_threadpool(decoded, body)
    default = Default(read.verifier, read.config)
    if isinstance(read.items, msgspec.UnsetType):
        try:
            return Response(await service.verdicts.one(body), media_type=JSON)
        except InputError as error:
            raise refused(error) from None
    if len(read.items) > MOST:
        raise RefusedError(f"items: {len(read.items)} items: at most {MOST} at once", param="items")
    found = await service.verdicts.many([bytes(item) for item in read.items], default)
    return Response(b'{"items":[' + b",".join(found) + b"]}", media_type=JSON)


def decoded(body: bytes) -> tuple[bytes, _Body]:
    """A body, and what it holds on the outside. Halves of characters, which models' bytes can decode to, are replaced.

    Raises:
        RefusedError: it is no JSON object, or a field of it is of the wrong kind.
    """
    try:
        return body, _BODIES.decode(body)
    except msgspec.ValidationError as error:
        raise _wrong(error) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        told = str(error)
    try:
        text = json.dumps(json.loads(body, object_pairs_hook=_once), ensure_ascii=False)
        body = well_formed(text).encode()
        return body, _BODIES.decode(body)
    except msgspec.ValidationError as error:
        raise _wrong(error) from None
    except (ValueError, RecursionError):
        raise RefusedError(f"the body is no JSON: {told}"[:300], code="invalid_json") from None


def _wrong(error: msgspec.ValidationError) -> RefusedError:
    what, _, place = str(error).partition(" - at `$")
    field = place.rstrip("`").lstrip(".").partition("[")[0] or None
    return RefusedError(f"{field}: {what}" if field else what, param=field)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return found
