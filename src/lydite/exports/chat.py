"""Reading the messages of other trainers: TRL's, OpenAI's and plain texts become ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from lydite.codec import canonical, well_formed
from lydite.rollout import Message, ToolCall

DEPTH = 64
"""Levels of nesting in the arguments of a tool call: what is deeper could not be written to a ledger and read back."""


def read_messages(value: Any, role: str) -> tuple[Message, ...] | None:
    """A text as one message of ``role``, a list of chat messages as they are; ``None`` where it is neither.

    Content may be text, null, or a list of parts, of which the texts count. Nothing in it raises.
    """
    if value is None:
        value = ""
    if isinstance(value, str):
        return (Message(role=role, content=well_formed(value)),)
    if not isinstance(value, Sequence):
        return None
    messages: list[Message] = []
    for item in value:
        message = item if isinstance(item, Message) else _message(item)
        if message is None:
            return None
        messages.append(message)
    return tuple(messages)


def _message(item: Any) -> Message | None:
    if not isinstance(item, Mapping) or not isinstance(item.get("role"), str):
        return None
    content = item.get("content")
    if isinstance(content, list | tuple):
        parts = (part.get("text") for part in content if isinstance(part, Mapping))
        content = "".join(part for part in parts if isinstance(part, str))
    if content is not None and not isinstance(content, str):
        return None
    return Message(
        role=item["role"],
        content=well_formed(content or ""),
        tool_calls=_tool_calls(item.get("tool_calls")),
        tool_call_id=_text(item.get("tool_call_id")),
        name=_text(item.get("name")),
    )


def _tool_calls(given: Any) -> tuple[ToolCall, ...]:
    """Calls that can be read; a call in another format is left out, its message stays."""
    calls: list[ToolCall] = []
    for item in given if isinstance(given, list | tuple) else ():
        if not isinstance(item, Mapping):
            continue
        function = item.get("function", item)
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            continue
        calls.append(
            ToolCall(
                id=_text(item.get("id")),
                name=well_formed(function["name"]),
                arguments=_arguments(function.get("arguments")),
            )
        )
    return tuple(calls)


def _arguments(given: Any) -> dict[str, Any]:
    """Arguments as an object. Text that is no object is kept as it was; values that JSON cannot hold are not."""
    try:
        value = msgspec.json.decode(well_formed(given)) if isinstance(given, str) else given
        if value is None:
            return {}
        if isinstance(value, Mapping) and not _deeper(value, DEPTH):
            canonical(value)
            return dict(value)
    except (ValueError, TypeError, OverflowError, RecursionError):
        pass
    return {"unreadable": well_formed(given) if isinstance(given, str) else f"no JSON: {type(given).__name__}"}


def _deeper(value: Any, depth: int) -> bool:
    """Whether a value nests more than ``depth`` levels. Level by level, as recursion is what it guards against."""
    level = [value]
    for _ in range(depth):
        level = [
            item
            for holder in level
            if isinstance(holder, Mapping | list | tuple)
            for item in (holder.values() if isinstance(holder, Mapping) else holder)
        ]
        if not level:
            return False
    return any(isinstance(item, Mapping | list | tuple) for item in level)


def _text(value: Any) -> str:
    return well_formed(value) if isinstance(value, str) else ""
