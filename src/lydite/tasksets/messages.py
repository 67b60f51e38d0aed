"""Prompts: a text, or chat messages in this project's form or OpenAI's."""

from __future__ import annotations

import json
from typing import Any

from lydite.errors import InputError
from lydite.rollout import Message, ToolCall
from lydite.tasksets._names import as_list, as_object, as_text, child, nearest, only, show

_ROLES = ("system", "developer", "user", "assistant", "tool")
_MESSAGE = ("role", "content", "tool_calls", "tool_call_id", "name")


def parse_prompt(value: Any, field: str = "prompt") -> tuple[Message, ...]:
    """A text (one user message) or a list of messages.

    Raises:
        InputError: neither, or without a word in it, or a malformed message.
    """
    if isinstance(value, str):
        messages: tuple[Message, ...] = (Message(role="user", content=value),)
    elif isinstance(value, list):
        messages = tuple(_message(item, f"{field}.{index}") for index, item in enumerate(value))
    else:
        raise InputError(f"must be a text or a list of messages, not {show(value)}", field=field, remedy="give a text")
    if not any(message.content.strip() for message in messages):
        raise InputError("is empty", field=field, remedy="say what the policy is asked")
    return messages


def prompt_document(prompt: tuple[Message, ...]) -> str | list[dict[str, Any]]:
    """What ``parse_prompt`` reads back as the same prompt: a text where that is enough."""
    if len(prompt) == 1 and prompt[0] == Message(role="user", content=prompt[0].content):
        return prompt[0].content
    return [_message_document(message) for message in prompt]


def _message(value: Any, field: str) -> Message:
    item = as_object(value, field, 'give {"role": "user", "content": "…"}')
    only(item, _MESSAGE, field)
    role = item.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        remedy = nearest(role, _ROLES) if isinstance(role, str) else "one of: " + ", ".join(_ROLES)
        raise InputError(f"unknown role {show(role)}", field=child(field, "role"), remedy=remedy)
    calls = as_list(item.get("tool_calls") or [], child(field, "tool_calls"), "give a list of calls")
    return Message(
        role=role,
        content=_content(item.get("content"), child(field, "content")),
        tool_calls=tuple(_tool_call(call, f"{field}.tool_calls.{index}") for index, call in enumerate(calls)),
        tool_call_id=as_text(item.get("tool_call_id") or "", child(field, "tool_call_id")),
        name=as_text(item.get("name") or "", child(field, "name")),
    )


def _content(value: Any, field: str) -> str:
    if value is None:  # as OpenAI writes an assistant message that only calls tools
        return ""
    if isinstance(value, str):
        return value
    parts = as_list(value, field, "give a text")
    texts = []
    for index, part in enumerate(parts):
        if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            where = f"{field}.{index}"
            raise InputError("only parts of type text are understood", field=where, remedy="leave other parts out")
        texts.append(part["text"])
    return "".join(texts)


def _tool_call(value: Any, field: str) -> ToolCall:
    item = as_object(value, field, 'give {"name": "…", "arguments": {…}}')
    inner, where = item, field
    if "function" in item:
        only(item, ("id", "type", "function"), field)
        where = child(field, "function")
        inner = as_object(item["function"], where, 'give {"name": "…", "arguments": "…"}')
        only(inner, ("name", "arguments"), where)
    else:
        only(item, ("id", "name", "arguments"), field)
    arguments = inner.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, parse_constant=_refuse)
        except (ValueError, RecursionError):
            raise InputError("is not JSON", field=child(where, "arguments"), remedy="give a JSON object") from None
    if arguments is None:
        arguments = {}
    return ToolCall(
        id=as_text(item.get("id") or "", child(field, "id")),
        name=as_text(inner.get("name"), child(where, "name")),
        arguments=as_object(arguments, child(where, "arguments"), "give a JSON object"),
    )


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _message_document(message: Message) -> dict[str, Any]:
    document: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        document["tool_calls"] = [
            {**({"id": call.id} if call.id else {}), "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        document["tool_call_id"] = message.tool_call_id
    if message.name:
        document["name"] = message.name
    return document
