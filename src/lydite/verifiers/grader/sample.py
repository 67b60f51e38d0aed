"""What graders call ``sample``: a completion, as they may ask for it."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import cached_property
from typing import Any

from lydite.codec import well_formed
from lydite.verifiers.protocol import Submission
from lydite.verifiers.strict_json import StrictJSONError, loads
from lydite.verifiers.text import after_thinking

FIELDS = ("output_text", "output_json", "output_tools", "choices")


class SampleError(Exception):
    """The completion does not have what the grader asks for. ``reason``: ``not_json``, ``missing_field``."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(detail)


class Sample:
    """A completion. ``text`` is what follows the thinking, ``None`` where that was never finished."""

    def __init__(self, submission: Submission) -> None:
        rest = after_thinking(submission.text)
        self.text = rest if rest is None or rest is submission.text else rest.lstrip("\r\n")
        self._messages = submission.messages

    @property
    def blank(self) -> bool:
        """Whether nothing was said, and no tool called."""
        return (self.text is None or not self.text.strip()) and not any(m.tool_calls for m in self._messages)

    @cached_property
    def tools(self) -> list[dict[str, Any]]:
        """The calls of tools of the whole completion, in order, as chat completions have them."""
        return [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for message in self._messages
            if message.role == "assistant"
            for call in message.tool_calls
        ]

    @cached_property
    def json(self) -> Any:
        """The text as one strict JSON value.

        Raises:
            SampleError: it is none.
        """
        try:
            return plain(loads((self.text or "").strip()))
        except StrictJSONError as error:
            raise SampleError("not_json", str(error)[:200]) from None

    def field(self, name: str) -> Any:
        """One of ``FIELDS``.

        Raises:
            SampleError: as ``json``.
        """
        if name == "output_text":
            return self.text or ""
        if name == "output_json":
            return self.json
        return self.tools if name == "output_tools" else self.document["choices"]

    @cached_property
    def document(self) -> dict[str, Any]:
        """The whole, for ``python`` graders; ``output_json`` is null where the text is no JSON."""
        try:
            value = self.json
        except SampleError:
            value = None
        message = {"role": "assistant", "content": self.text or "", "tool_calls": self.tools or None}
        return {
            "output_text": self.text or "",
            "output_json": value,
            "output_tools": self.tools,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }


def plain(value: Any) -> Any:
    """A strict JSON value with numbers as Python has them. Its depth is bounded by the reader."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def as_text(value: Any) -> str:
    """A value as a template shows it: texts as they are, everything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return well_formed(json.dumps(value, ensure_ascii=False))
    except ValueError:  # a whole number of more digits than the interpreter writes
        return "…"
