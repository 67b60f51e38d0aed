"""Answers of chat completions, in one piece and in chunks, as OpenAI's clients read them."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator
from typing import Any

from lydite.codec import well_formed
from lydite.policies.protocol import Attempt
from lydite.rollout import FinishReason, ToolCall
from lydite.server.answers import encoded
from lydite.server.errors import ApiError, RefusedError
from lydite.server.models.frames import Answer
from lydite.server.openai.chat_asked import Asked

PIECE = 40
"""Characters of a chunk."""
CHOICE: dict[str, Any] = {
    "type": "object",
    "required": ["index", "message", "finish_reason"],
    "properties": {
        "index": {"type": "integer"},
        "message": {"type": "object"},
        "finish_reason": {"enum": ["stop", "length", "tool_calls"]},
        "logprobs": {"type": ["object", "null"]},
    },
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["id", "object", "created", "model", "choices", "usage"],
    "properties": {
        "id": {"type": "string"},
        "object": {"const": "chat.completion"},
        "created": {"type": "integer"},
        "model": {"type": "string"},
        "choices": {"type": "array", "items": CHOICE},
        "usage": {"type": "object"},
        "system_fingerprint": {"type": "string"},
    },
}


def check(answer: Answer) -> None:
    """Raise what kept a model from answering.

    Raises:
        ApiError: 400 for a prompt that leaves no room for an answer, 503 for anything else.
    """
    for attempt in answer.attempts:
        if attempt.error == "prompt_too_long":
            count = f"{attempt.prompt_tokens} tokens" if attempt.prompt_tokens else "they"
            told = f"messages: {count} leave no room for an answer in this model's context"
            raise RefusedError(told, param="messages", code="context_length_exceeded")
        if attempt.error is not None:
            raise ApiError(503, f"the model failed: {attempt.error}", code="model_failed")


def whole(asked: Asked, answer: Answer) -> dict[str, Any]:
    """The answer in one piece."""
    return {
        **_head(asked, answer, "chat.completion"),
        "choices": [
            {
                "index": at,
                "message": _message(attempt),
                "logprobs": _logprobs(answer, at),
                "finish_reason": _finish(attempt),
            }
            for at, attempt in enumerate(answer.attempts)
        ],
        "usage": _usage(answer),
    }


def chunks(asked: Asked, answer: Answer) -> Iterator[bytes]:
    """The answer as server-sent events, ``[DONE]`` at the end. All of it is there when the first one leaves: a model
    answers whole batches."""
    head = _head(asked, answer, "chat.completion.chunk")
    if asked.usage:
        head["usage"] = None

    def event(at: int, delta: dict[str, Any], finish: str | None = None, logprobs: Any = None) -> bytes:
        choice = {"index": at, "delta": delta, "logprobs": logprobs, "finish_reason": finish}
        return _event({**head, "choices": [choice]})

    for at, attempt in enumerate(answer.attempts):
        message = _message(attempt)
        yield event(at, {"role": "assistant", "content": "", "refusal": None}, logprobs=_logprobs(answer, at))
        text = message["content"] or ""
        for start in range(0, len(text), PIECE):
            yield event(at, {"content": text[start : start + PIECE]})
        if calls := message.get("tool_calls"):
            yield event(at, {"tool_calls": [{"index": place, **call} for place, call in enumerate(calls)]})
        yield event(at, {}, _finish(attempt))
    if asked.usage:
        yield _event({**head, "choices": [], "usage": _usage(answer)})
    yield b"data: [DONE]\n\n"


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + encoded(value) + b"\n\n"


def _head(asked: Asked, answer: Answer, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "object": kind,
        "created": int(time.time()),
        "model": asked.model,
        "service_tier": "default",
        "system_fingerprint": f"fp_{answer.policy.rpartition('@')[2][:16]}",
    }


def _message(attempt: Attempt) -> dict[str, Any]:
    said = attempt.completion[-1] if attempt.completion else None
    text = well_formed(said.content) if said else ""
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    if said and said.tool_calls:
        message["content"] = text or None
        message["tool_calls"] = [_call(call, at) for at, call in enumerate(said.tool_calls)]
    return message


def _call(call: ToolCall, at: int) -> dict[str, Any]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {
        "id": call.id or f"call_{secrets.token_hex(8)}_{at}",
        "type": "function",
        "function": {"name": call.name, "arguments": well_formed(arguments)},
    }


def _finish(attempt: Attempt) -> str:
    if attempt.completion and attempt.completion[-1].tool_calls:
        return "tool_calls"
    return "length" if attempt.finish is FinishReason.LENGTH else "stop"


def _logprobs(answer: Answer, at: int) -> dict[str, Any] | None:
    """Of each token, at temperature 1. One that is only part of a character has U+FFFD as its text: ``bytes`` says what
    it is, or is null where the tokenizer does not tell."""
    numbers = answer.attempts[at].logprobs
    if numbers is None or at >= min(len(answer.pieces), len(answer.octets)):
        return None
    content = [
        {
            "token": piece,
            "logprob": number,
            "bytes": None if octets is None else list(octets),
            "top_logprobs": [],
        }
        for piece, octets, number in zip(answer.pieces[at], answer.octets[at], numbers, strict=False)
    ]
    return {"content": content, "refusal": None}


def _usage(answer: Answer) -> dict[str, Any]:
    prompt = answer.attempts[0].prompt_tokens or 0 if answer.attempts else 0
    completion = sum(attempt.completion_tokens or 0 for attempt in answer.attempts)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
