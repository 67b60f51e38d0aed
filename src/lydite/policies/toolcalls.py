"""Tools in a conversation: as servers and chat templates are told of them, and as models write their calls.

Models whose chat template knows tools are told through it; their calls are read by the tokenizer's own
``response_template`` where it has one, else in the form of Hermes and Qwen:
``<tool_call>{"name": …, "arguments": {…}}</tool_call>``. For a template that knows none, tools go into the system
message and answers of tools into user messages, in the same form.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from lydite.codec import well_formed
from lydite.errors import InputError
from lydite.policies.messages import from_chat, to_chat
from lydite.rollout import Message, Tool, ToolCall

OPEN, CLOSE = "<tool_call>", "</tool_call>"


class Said(NamedTuple):
    """What a model wrote, with its calls apart. Calls that cannot be read stay in the content, as they are."""

    content: str
    calls: tuple[ToolCall, ...]


def offered(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Tools as chat completions and chat templates have them."""
    return [{"type": "function", "function": msgspec.to_builtins(tool)} for tool in tools]


def knows_tools(template: Any) -> bool:
    """Whether a chat template renders tools."""
    text = template if isinstance(template, str) else json.dumps(template, default=str)
    return "tools" in text and "tool_calls" in text


def flat(messages: Sequence[Message], tools: Sequence[Tool]) -> list[Message]:
    """A conversation with tools as one without: see the module."""
    listed = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in offered(tools))
    told = (
        "You may call these functions:\n<tools>\n"
        + listed
        + "\n</tools>\nTo call one, write a JSON object with its name"
        f' and arguments: {OPEN}{{"name": "...", "arguments": {{...}}}}{CLOSE}'
    )
    plain: list[Message] = []
    rest = list(messages)
    if rest and rest[0].role == "system":
        told = f"{rest.pop(0).content}\n\n{told}"
    plain.append(Message(role="system", content=told))
    for message in rest:
        if message.role == "tool":
            text = f"<tool_response>\n{message.content}\n</tool_response>"
            if plain[-1].role == "user" and plain[-1].content.endswith("</tool_response>"):
                plain[-1] = Message(role="user", content=f"{plain[-1].content}\n{text}")
            else:
                plain.append(Message(role="user", content=text))
        elif message.tool_calls:
            calls = "\n".join(
                f"{OPEN}{json.dumps({'name': call.name, 'arguments': call.arguments}, ensure_ascii=False)}{CLOSE}"
                for call in message.tool_calls
            )
            content = f"{message.content}\n{calls}" if message.content else calls
            plain.append(Message(role=message.role, content=content))
        else:
            plain.append(message)
    return plain


def read_calls(text: str) -> Said:
    """The calls that a text holds, in the form of Hermes. Linear in the text."""
    kept: list[str] = []
    calls: list[ToolCall] = []
    at = 0
    while (start := text.find(OPEN, at)) >= 0:
        end = text.find(CLOSE, start)
        stop = end if end >= 0 else len(text)
        call = _call(text[start + len(OPEN) : stop])
        last = text.rfind(OPEN, start, stop)
        if call is None and last > start and (call := _call(text[last + len(OPEN) : stop])):
            start = last  # one that was begun and left stands before it: that one cannot be read
        after = min(len(text), stop + len(CLOSE))
        kept.append(text[at:start] if call else text[at:after])
        if call:
            calls.append(call)
        at = after
    kept.append(text[at:])
    return Said("".join(kept).strip() if calls else text, tuple(calls))


def _call(text: str) -> ToolCall | None:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or not isinstance(said.get("name"), str) or not said["name"]:
        return None
    arguments = said.get("arguments", said.get("parameters", {}))
    if not isinstance(arguments, dict):
        return None
    return ToolCall(name=well_formed(said["name"]), arguments=arguments)


def parsed(tokenizer: Any, text: str, tools: Sequence[Tool]) -> Said:
    """The calls in what a local model wrote, by its tokenizer's own rule where it has one."""
    if getattr(tokenizer, "response_template", None) is None:
        return read_calls(text)
    try:
        message = from_chat({"content": None, **tokenizer.parse_response(text, prefix="", tools=offered(tools))})
    except (InputError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return read_calls(text)
    if not message.tool_calls or OPEN in message.content:
        said = read_calls(text)
        if len(said.calls) >= len(message.tool_calls):
            return said
    return Said(message.content, message.tool_calls)


def templated(tokenizer: Any, messages: Sequence[Message], tools: Sequence[Tool]) -> tuple[list[dict[str, Any]], Any]:
    """A conversation as a tokenizer's chat template takes it, and the tools that go beside it."""
    if not tools:
        return to_chat(messages, arguments_as_text=False), None
    if knows_tools(getattr(tokenizer, "chat_template", None)):
        return to_chat(messages, arguments_as_text=False), offered(tools)
    return to_chat(flat(messages, tools), arguments_as_text=False), None


def malformed(message: Message) -> int:
    """How many calls a message holds that could not be read."""
    return message.content.count(OPEN)
