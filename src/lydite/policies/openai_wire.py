"""What goes over the wire to an OpenAI-compatible server, and what comes back: no sockets here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from lydite.codec import well_formed
from lydite.errors import InputError
from lydite.policies.messages import from_chat, to_chat
from lydite.policies.protocol import Attempt, Prompt, SamplingParams
from lydite.policies.toolcalls import offered
from lydite.rollout import FinishReason, Message

#: Statuses that pass: asking again later may work.
RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 529})

_FINISH = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "tool_calls": FinishReason.STOP,
    "function_call": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}

# What engines and gateways say when they broke off: the answer is not the policy's own.
_BROKEN_OFF = frozenset({"error", "abort", "aborted", "cancelled", "canceled", "failed", "timeout"})

# Servers word it differently; OpenAI alone has a code for it.
_CONTEXT = re.compile(
    r"context[ _-]?(length|window|size)|maximum (context|model|sequence|input) length|prompt is too long|"
    r"(input|prompt|tokens?) .{0,40}exceeds? .{0,60}(tokens|limit|length|context)|"
    r"too many (input )?tokens|max_model_len",
    re.IGNORECASE,
)
_N_REFUSED = re.compile(
    r"['\"`]n['\"`]|\bn\s*(must|should|is|=|>|<|has)|\bmultiple (choices|completions)\b", re.IGNORECASE
)


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A good answer of the server: one attempt for each choice, and what it says it cost."""

    attempts: tuple[Attempt, ...]
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model: str | None = None


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """What a server said when it did not answer."""

    status: int
    message: str = ""
    code: str = ""
    param: str = ""

    @property
    def is_context(self) -> bool:
        """This prompt does not fit the model; other prompts may."""
        return self.code == "context_length_exceeded" or (
            self.status in (400, 413, 422) and bool(_CONTEXT.search(self.message))
        )

    @property
    def wants_completion_tokens(self) -> bool:
        """Newer models call the budget ``max_completion_tokens`` and refuse ``max_tokens``."""
        return self.status in (400, 422) and "max_completion_tokens" in self.message

    @property
    def refuses_n(self) -> bool:
        """The server answers one choice a request."""
        return self.status in (400, 422) and (self.param == "n" or bool(_N_REFUSED.search(self.message)))


def request_body(
    model: str, prompt: Prompt, n: int, seed: int | None, params: SamplingParams, *, budget_field: str
) -> dict[str, Any]:
    """The request for ``n`` choices. Fields at their defaults are left out, since some models refuse to see them.

    Seeds are sent modulo 2**31: some servers keep them in 32 bits.

    Raises:
        InputError: ``top_k``, which this protocol does not have.
    """
    if params.top_k:
        raise InputError("the chat-completions protocol has no top_k", field="top_k", remedy="leave it 0 and use top_p")
    body: dict[str, Any] = {"model": model, "messages": to_chat(prompt), budget_field: params.max_tokens}
    if params.temperature != 1.0:
        body["temperature"] = params.temperature
    if params.top_p != 1.0:
        body["top_p"] = params.top_p
    if params.stop:
        body["stop"] = list(params.stop)
    if params.logprobs:
        body["logprobs"] = True
    if params.tools:
        body["tools"] = offered(params.tools)
    if n > 1:
        body["n"] = n
    if seed is not None:
        body["seed"] = seed % 2**31
    return body


def read_json(body: bytes) -> dict[str, Any] | None:
    """A JSON object, or ``None`` when it is not one."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def read_refusal(status: int, document: Mapping[str, Any] | None) -> Refusal:
    """An error answer; servers put the reason into ``error``, ``detail`` or ``message``."""
    said: Any = document or {}
    error = said.get("error")
    if isinstance(error, Mapping):
        said = error
    text = error if isinstance(error, str) else said.get("message") or said.get("detail") or ""
    text = text if isinstance(text, str) else json.dumps(text, default=str)
    return Refusal(
        status=status,
        message=well_formed(" ".join(text.split()))[:400],
        code=str(said.get("code") or ""),
        param=str(said.get("param") or ""),
    )


def read_reply(document: Mapping[str, Any], params: SamplingParams) -> Reply:
    """The choices of an answer. A choice that cannot be used becomes an attempt with ``null_content`` or ``bad_json``.

    A refusal text is an answer like any other. Null content is an empty answer, not an error, where the choice says
    why: it ran out of tokens (a reasoning model that never came to its answer) or was filtered.

    Raises:
        InputError: log-probabilities were asked for and the server sends none.
    """
    usage = document.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    choices = document.get("choices")
    choices = choices if isinstance(choices, list) else []
    prompt_tokens, completion_tokens = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    model = document.get("model")
    return Reply(
        # The server counts completion tokens for all choices together: with several, nobody knows the share of one.
        attempts=tuple(
            _choice(c, params, prompt_tokens, completion_tokens if len(choices) == 1 else None) for c in choices
        ),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        model=model if isinstance(model, str) else None,
    )


def _choice(choice: Any, params: SamplingParams, prompt_tokens: int | None, completion_tokens: int | None) -> Attempt:
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        return _failed("bad_json")
    reason = choice.get("finish_reason")
    if not isinstance(reason, str | None):
        return _failed("bad_json")
    if reason is not None and reason.lower() in _BROKEN_OFF:
        return _failed("broken_off")
    finish = _FINISH.get(reason or "stop", FinishReason.STOP)
    content = message.get("content")
    if content == "" and reason is None and not message.get("tool_calls"):
        return _failed("null_content")
    if content is None:
        content = message.get("refusal")
    if content is None and not message.get("tool_calls") and finish is FinishReason.STOP:
        return _failed("null_content")
    try:
        answer = from_chat({**message, "role": "assistant", "content": content})
    except InputError:
        return _failed("bad_json")
    logprobs = _logprobs(choice) if params.logprobs else None
    if completion_tokens is None and logprobs is not None:
        completion_tokens = len(logprobs)
    return Attempt(
        completion=(Message(role="assistant", content=answer.content, tool_calls=answer.tool_calls),),
        finish=finish,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        logprobs=logprobs,
    )


def _logprobs(choice: Mapping[str, Any]) -> tuple[float, ...]:
    found = choice.get("logprobs")
    tokens = found.get("content") if isinstance(found, Mapping) else None
    if not isinstance(tokens, list):
        raise InputError("this server sends no log-probabilities", field="logprobs", remedy="sample without them")
    return tuple(float(token["logprob"]) for token in tokens if isinstance(token, Mapping) and "logprob" in token)


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a ``Retry-After`` header asks for: a number, or an HTTP date (RFC 9110, section 10.2.3)."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except ValueError:
            return None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        seconds = (when - (now or datetime.now(UTC))).total_seconds()
    return max(0.0, seconds) if seconds == seconds else None


def failed_row(code: str, count: int) -> list[Attempt]:
    """``count`` attempts that could not be asked for, with the reason."""
    return [_failed(code)] * count


def usable(attempts: Sequence[Attempt]) -> bool:
    """Whether any of the choices is an answer."""
    return any(attempt.error is None for attempt in attempts)


def _failed(code: str) -> Attempt:
    return Attempt(finish=FinishReason.ERROR, error=code)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
