"""Messages as the rest of the world writes them: chat-completions JSON to and from :class:`~lydite.rollout.Message`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lydite.codec import well_formed
from lydite.errors import InputError
from lydite.rollout import Message, ToolCall


def to_chat(messages: Sequence[Message], *, arguments_as_text: bool = True) -> list[dict[str, Any]]:
    """Messages as chat-completions dictionaries.

    Args:
        messages: a conversation.
        arguments_as_text: servers want a tool call's arguments as JSON text, chat templates as a mapping.
    """
    return [_to_dict(message, arguments_as_text) for message in messages]


def _to_dict(message: Message, arguments_as_text: bool) -> dict[str, Any]:
    document: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        document["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": json.dumps(call.arguments) if arguments_as_text else call.arguments,
                },
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        document["tool_call_id"] = message.tool_call_id
    if message.name:
        document["name"] = message.name
    return document


def from_chat(document: Any, *, field: str = "message") -> Message:
    """One chat-completions message. ``content`` may be null, text, or a list of text parts.

    A tool call whose arguments are not a JSON object cannot be made: it stays, as the model wrote it, as
    ``<tool_call>…</tool_call>`` at the end of the content. It is the candidate's mistake, so nothing of it is hidden.

    Raises:
        InputError: not a message; names the field.
    """
    if not isinstance(document, Mapping):
        raise InputError("must be an object with 'role' and 'content'", field=field)
    role = document.get("role", "assistant")
    if not isinstance(role, str) or not role:
        raise InputError("must be text such as 'user'", field=f"{field}.role")
    calls, broken = _tool_calls(document.get("tool_calls"), f"{field}.tool_calls")
    content = "\n".join(part for part in (_content(document.get("content"), f"{field}.content"), *broken) if part)
    return Message(
        role=role,
        content=well_formed(content),
        tool_calls=calls,
        tool_call_id=str(document.get("tool_call_id") or ""),
        name=str(document.get("name") or ""),
    )


def conversation(value: Any, role: str, *, field: str) -> tuple[Message, ...]:
    """Text, or a list of messages, as messages. Text becomes one message of that role.

    Raises:
        InputError: neither of the two, or an empty list; names the field.
    """
    if isinstance(value, str):
        return (Message(role=role, content=well_formed(value)),)
    if isinstance(value, list) and value:
        return tuple(from_chat(item, field=f"{field}.{index}") for index, item in enumerate(value))
    raise InputError("must be text or a list of messages", field=field)


def _content(value: Any, field: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = [part.get("text") for part in value if isinstance(part, Mapping)]
        if len(texts) == len(value) and all(isinstance(text, str) for text in texts):
            return "".join(str(text) for text in texts)
    raise InputError("must be text or a list of text parts", field=field)


def _tool_calls(value: Any, field: str) -> tuple[tuple[ToolCall, ...], list[str]]:
    if not value:
        return (), []
    if not isinstance(value, list):
        raise InputError("must be a list", field=field)
    calls: list[ToolCall] = []
    broken: list[str] = []
    for item in value:
        call = item.get("function", item) if isinstance(item, Mapping) else None
        name = call.get("name") if isinstance(call, Mapping) else None
        raw = call.get("arguments") if isinstance(call, Mapping) else None
        arguments = _arguments(raw)
        if isinstance(name, str) and name and arguments is not None:
            calls.append(ToolCall(id=str(item.get("id") or ""), name=well_formed(name), arguments=arguments))
        else:
            broken.append(f"<tool_call>{json.dumps({'name': name, 'arguments': raw}, default=str)}</tool_call>")
    return tuple(calls), broken


def _arguments(raw: Any) -> dict[str, Any] | None:
    if raw is None or raw == "":
        return {}
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            return None
    return dict(raw) if isinstance(raw, Mapping) else None
