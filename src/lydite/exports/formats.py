"""How rows are spelled for those who read them: TRL's data set types and OpenAI's fine-tuning files."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.rollout import Message

Document = dict[str, Any]


class Format(StrEnum):
    """Whose spelling. TRL: https://huggingface.co/docs/trl/dataset_formats; OpenAI: the fine-tuning guides."""

    TRL = "trl"
    OPENAI = "openai"


def parse_format(name: str) -> Format:
    """The format of that name.

    Raises:
        InputError: for a name that is none.
    """
    try:
        return Format(name)
    except ValueError:
        raise InputError(f"unknown format {name!r}", field="format", remedy=f"one of {', '.join(Format)}") from None


def messages(conversation: Sequence[Message], style: Format) -> list[Document]:
    """Messages as chat documents. OpenAI spells a call's arguments as JSON text, chat templates want the mapping."""
    return [_message(message, style) for message in conversation]


def _message(message: Message, style: Format) -> Document:
    document: Document = {"role": message.role, "content": message.content}
    if message.tool_calls:
        document["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": call.arguments
                    if style is Format.TRL
                    else msgspec.json.encode(call.arguments).decode(),
                },
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        document["tool_call_id"] = message.tool_call_id
    if message.name:
        document["name"] = message.name
    return document


def preference_row(
    prompt: Sequence[Message], chosen: Sequence[Message], rejected: Sequence[Message], style: Format
) -> Document:
    """One preference: ``{prompt, chosen, rejected}`` (TRL) or ``{input, preferred_output, non_preferred_output}``."""
    asked, good, bad = (messages(part, style) for part in (prompt, chosen, rejected))
    if style is Format.OPENAI:
        return {"input": {"messages": asked}, "preferred_output": good, "non_preferred_output": bad}
    return {"prompt": asked, "chosen": good, "rejected": bad}


def sft_row(prompt: Sequence[Message], completion: Sequence[Message], style: Format) -> Document:
    """One example: ``{prompt, completion}`` (TRL, which then takes the loss on the completion) or ``{messages}``."""
    if style is Format.OPENAI:
        return {"messages": messages((*prompt, *completion), style)}
    return {"prompt": messages(prompt, style), "completion": messages(completion, style)}


def kto_row(prompt: Sequence[Message], completion: Sequence[Message], label: bool) -> Document:
    """One unpaired preference in TRL's spelling: ``{prompt, completion, label}``."""
    return {
        "prompt": messages(prompt, Format.TRL),
        "completion": messages(completion, Format.TRL),
        "label": label,
    }
