"""``/v1/chat/completions``."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Body, Request
from fastapi.responses import Response, StreamingResponse

from lydite.server.answers import Json
from lydite.server.bodies import json_body
from lydite.server.deps import Given
from lydite.server.errors import NotFoundError
from lydite.server.openai import chat_answers
from lydite.server.openai.chat_asked import MAX_N, ROLES, read_asked

router = APIRouter(prefix="/v1/chat", tags=["chat"])

LOOK = 0.5
"""Seconds between looks at whether the client is still there."""
_GONE = 499
_SCHEMA = {
    "type": "object",
    "required": ["model", "messages"],
    "properties": {
        "model": {"type": "string", "description": "An id of /v1/models."},
        "messages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["role"],
                "properties": {"role": {"enum": list(ROLES)}, "content": {"type": ["string", "array", "null"]}},
            },
        },
        "temperature": {"type": "number", "minimum": 0, "maximum": 2, "default": 1},
        "top_p": {"type": "number", "exclusiveMinimum": 0, "maximum": 1, "default": 1},
        "top_k": {"type": "integer", "minimum": 0, "default": 0, "description": "0 is off."},
        "n": {"type": "integer", "minimum": 1, "maximum": MAX_N, "default": 1},
        "max_completion_tokens": {"type": "integer", "minimum": 1, "default": 512},
        "max_tokens": {"type": "integer", "minimum": 1, "description": "The same; its older name."},
        "stop": {"type": ["string", "array", "null"], "items": {"type": "string"}},
        "seed": {"type": "integer"},
        "stream": {"type": "boolean", "default": False},
        "stream_options": {"type": "object", "properties": {"include_usage": {"type": "boolean"}}},
        "tools": {"type": "array", "items": {"type": "object"}},
        "tool_choice": {"enum": ["auto", "none"]},
        "logprobs": {"type": "boolean", "default": False},
    },
}
_EXAMPLE = {
    "model": "builtin:tiny",
    "messages": [{"role": "user", "content": "What is 2 + 3?"}],
    "max_completion_tokens": 64,
}


@router.post(
    "/completions",
    summary="Talk to a model",
    openapi_extra=json_body(_SCHEMA, _EXAMPLE),
    response_class=Json,
    responses={
        200: {
            "description": "The answer; with `stream` as server-sent events.",
            "content": {"application/json": {"schema": chat_answers.SCHEMA}, "text/event-stream": {}},
        }
    },
)
async def complete(service: Given, request: Request, body: Annotated[Any, Body()]) -> Response:
    """Parameters that would change the answer and cannot be honoured are refused by name."""
    if not isinstance(body, dict):
        body = {}
    asked = read_asked(body)
    try:
        model = await asyncio.to_thread(service.models.find, asked.model)
    except NotFoundError as error:
        raise error.at("model", "GET /v1/models lists them") from None
    task = asyncio.create_task(service.models.ask(model, asked.prompt, asked.params, n=asked.n, seed=asked.seed))
    if not await _waited(task, request):
        return Response(status_code=_GONE)
    answer = task.result()
    chat_answers.check(answer)
    if asked.stream:
        return StreamingResponse(
            chat_answers.chunks(asked, answer),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
    return Json(chat_answers.whole(asked, answer))


async def _waited(task: asyncio.Task[Any], request: Request) -> bool:
    """Whether the answer came before the client went; what nobody waits for is taken back."""
    try:
        while True:
            done, _ = await asyncio.wait({task}, timeout=LOOK)
            if done:
                return True
            if await request.is_disconnected():
                return False
    finally:
        if not task.done():
            task.cancel()
