"""Requests for chat completions, read: what is honoured, what is refused by name, what is left aside."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import msgspec

from lydite.codec import well_formed
from lydite.errors import InputError
from lydite.policies import SamplingParams
from lydite.policies.messages import from_chat
from lydite.rollout import Message, Tool
from lydite.server.bodies import field, shown
from lydite.server.errors import RefusedError

MAX_N = 16
MAX_TOKENS = 512
"""Tokens of an answer where the request names no number."""
MAX_MESSAGES = 2048
HARMLESS = frozenset(
    (
        *("metadata", "moderation", "prediction", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"),
        *("safety_identifier", "service_tier", "store", "user"),
    )
)
"""Parameters that change nothing of an answer; they are left aside."""
NEUTRAL: dict[str, tuple[Any, ...]] = {
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "logit_bias": ({},),
    "modalities": (["text"],),
    "parallel_tool_calls": (True,),
    "response_format": ({"type": "text"},),
    "top_logprobs": (0,),
}
"""Parameters that are taken with these values alone: with another they would mean something that no model here does."""
REFUSED = {
    "audio": "models here write text",
    "function_call": "give tools and tool_choice",
    "functions": "give tools",
    "reasoning_effort": "models here have one way of thinking",
    "verbosity": "ask for it in a message",
    "web_search_options": "models here are offline",
}
READ = frozenset(
    (
        *("model", "messages", "temperature", "top_p", "top_k", "n", "max_tokens", "max_completion_tokens", "stop"),
        *("seed", "stream", "stream_options", "tools", "tool_choice", "logprobs"),
    )
)
"""Parameters that are honoured."""
ROLES = ("system", "developer", "user", "assistant", "tool")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request. ``usage``: whether a stream ends with a count of tokens."""

    model: str
    prompt: tuple[Message, ...]
    params: SamplingParams
    n: int
    seed: int
    stream: bool
    usage: bool


def read_asked(given: Mapping[str, Any]) -> Asked:
    """A request, every parameter of it looked at. Null counts as left out.

    Raises:
        RefusedError: names the parameter.
    """
    body = {name: value for name, value in given.items() if value is not None}
    _known(body)
    tools = _tools(body)
    params = SamplingParams(
        temperature=_number(body, "temperature", 1.0, 0.0, 2.0),
        top_p=_number(body, "top_p", 1.0, 0.0, 1.0, above=True),
        top_k=_whole(body, "top_k", 0, 0, 1 << 20),
        max_tokens=_max_tokens(body),
        stop=_stop(body),
        logprobs=field(body, "logprobs", bool, False),
        tools=tools,
    )
    options = field(body, "stream_options", dict, {})
    return Asked(
        model=field(body, "model", str),
        prompt=_prompt(body),
        params=params,
        n=_whole(body, "n", 1, 1, MAX_N),
        seed=_whole(body, "seed", secrets.randbits(62), -(1 << 63), (1 << 63) - 1),
        stream=field(body, "stream", bool, False),
        usage=field(options, "include_usage", bool, False, where="stream_options"),
    )


def _known(body: Mapping[str, Any]) -> None:
    for name, value in body.items():
        if name in READ or name in HARMLESS:
            continue
        told = well_formed(name)[:100]
        if name in NEUTRAL:
            if value not in NEUTRAL[name]:
                raise RefusedError(f"{name}: {shown(value)} cannot be honoured (leave it out)", param=name)
        elif name in REFUSED:
            raise RefusedError(f"{name}: cannot be honoured ({REFUSED[name]})", param=name)
        else:
            raise RefusedError(f"{told}: unknown parameter", param=told, code="unknown_parameter")


def _prompt(body: Mapping[str, Any]) -> tuple[Message, ...]:
    given = field(body, "messages", list)
    if not 1 <= len(given) <= MAX_MESSAGES:
        raise RefusedError(f"messages: give 1 to {MAX_MESSAGES}, not {len(given)}", param="messages")
    return tuple(_message(one, f"messages.{at}") for at, one in enumerate(given))


def _message(given: Any, where: str) -> Message:
    if isinstance(given, dict):
        role = given.get("role")
        if role not in ROLES:
            raise RefusedError(f"{where}.role: must be one of {', '.join(ROLES)}, not {shown(role)}", param=where)
        for part in given["content"] if isinstance(given.get("content"), list) else ():
            kind = part.get("type") if isinstance(part, dict) else None
            if kind != "text":
                told = f"{where}.content: models here read text parts alone, not {shown(kind)}"
                raise RefusedError(told, param=f"{where}.content")
        if role == "developer":
            given = {**given, "role": "system"}
    try:
        return from_chat(given, field=where)
    except InputError as error:
        raise RefusedError(f"{error.field}: {error.message}", param=error.field) from None
    except RecursionError:
        raise RefusedError(f"{where}: is nested too deeply", param=where) from None


def _tools(body: Mapping[str, Any]) -> tuple[Tool, ...]:
    choice = body.get("tool_choice", "auto")
    if choice not in ("auto", "none"):
        raise RefusedError("tool_choice: a model here cannot be made to call (give auto or none)", param="tool_choice")
    given = field(body, "tools", list, [])
    if len(given) > 128:
        raise RefusedError("tools: give at most 128", param="tools")
    tools = tuple(_tool(one, f"tools.{at}") for at, one in enumerate(given))
    return tools if choice == "auto" else ()


def _tool(given: Any, where: str) -> Tool:
    if not isinstance(given, dict) or given.get("type") != "function":
        raise RefusedError(f"{where}: must be of type function", param=where)
    function = field(given, "function", dict, where=where)
    if function.get("strict"):
        told = f"{where}.function.strict: what a model here writes cannot be held to a schema"
        raise RefusedError(told, param=f"{where}.function.strict")
    place = f"{where}.function"
    return Tool(
        name=well_formed(field(function, "name", str, where=place)),
        description=well_formed(field(function, "description", str, "", where=place)),
        parameters=field(function, "parameters", dict, {"type": "object", "properties": {}}, where=place),
    )


def _max_tokens(body: Mapping[str, Any]) -> int:
    both = [_whole(body, name, 0, 1, 1 << 20) for name in ("max_tokens", "max_completion_tokens") if name in body]
    if len(set(both)) > 1:
        told = "max_tokens, max_completion_tokens: are the same thing and differ"
        raise RefusedError(told, param="max_completion_tokens")
    return both[0] if both else MAX_TOKENS


def _stop(body: Mapping[str, Any]) -> tuple[str, ...]:
    given = body.get("stop", [])
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or len(texts) > 4 or not all(isinstance(text, str) and text for text in texts):
        raise RefusedError("stop: give a text that is not empty, or up to 4 of them", param="stop")
    if any(len(text) > 1000 for text in texts):
        raise RefusedError("stop: give texts of up to 1000 characters", param="stop")
    return tuple(well_formed(text) for text in texts)


def _number(
    body: Mapping[str, Any], name: str, default: float, least: float, most: float, *, above: bool = False
) -> float:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise RefusedError(f"{name}: must be a number from {least:g} to {most:g}, not {shown(value)}", param=name)
    if above and value == least:
        raise RefusedError(f"{name}: must be above {least:g}", param=name)
    return float(value)


def _whole(body: Mapping[str, Any], name: str, default: int, least: int, most: int) -> int:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise RefusedError(f"{name}: must be a whole number from {least} to {most}, not {shown(value)}", param=name)
    return value
