"""Rollouts: what a policy said, once, and groups of attempts at one task."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import msgspec


class FinishReason(StrEnum):
    """Why a generation ended."""

    STOP = "stop"  # the policy ended it
    LENGTH = "length"  # token budget
    TOOL_LIMIT = "tool_limit"  # max_steps
    TIME = "time"  # wall clock
    CONTENT_FILTER = "content_filter"
    LOST = "lost"  # the attempt's own programs took its workspace along
    ERROR = "error"  # the policy could not be asked: such an attempt is graded `invalid`


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call of a tool, as the policy asked for it."""

    id: str = ""
    name: str
    arguments: dict[str, Any] = {}


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One chat message."""

    role: str
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy is told of a tool that it may call.

    Attributes:
        name: how it is called.
        description: what it does.
        parameters: JSON schema of its arguments (an object).
    """

    name: str
    description: str
    parameters: dict[str, Any]


class Calls(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of the tool calls of an episode.

    Attributes:
        seconds: of each call that was made, in order.
        failed: how many of them could not be carried out as asked.
        malformed: calls that could not be read at all, and were answered with that.
        left: calls that were asked for when no more were allowed.
    """

    seconds: tuple[float, ...] = ()
    failed: int = 0
    malformed: int = 0
    left: int = 0


class Rollout(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One attempt at one task. Written once, to ``rollouts.jsonl``, before anything is said about it.

    Attributes:
        id: unique in its run: ``phase/task/index``.
        task: id of the task.
        task_digest: digest of the task document that was attempted.
        phase: which part of the run asked: ``sample``, ``before``, ``train-2``, ``after`` ...
        index: which attempt of its group.
        seed: what the attempt was sampled with.
        policy: identity of the policy that spoke (name and weights digest).
        prompt: what was asked.
        completion: what came back: assistant messages, and tool messages between them.
        finish: why it ended.
        prompt_tokens, completion_tokens: counts as the policy reports them; ``None`` when it does not.
        error: why the policy could not be asked; such a rollout is graded ``invalid``, never wrong.
        workspace: digest of the frozen workspace, for tasks that have one.
        env: name and version of the environment of the episode, such as ``workspace@1``; empty where there was none.
        calls: of the tools of the episode.
        schema: version of this record's layout.
    """

    id: str
    task: str
    task_digest: str
    phase: str = "sample"
    index: int = 0
    seed: int = 0
    policy: str = ""
    prompt: tuple[Message, ...] = ()
    completion: tuple[Message, ...] = ()
    finish: FinishReason = FinishReason.STOP
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    error: str | None = None
    workspace: str | None = None
    env: str = ""
    calls: Calls | None = None
    step: int | None = None
    schema: int = 1

    @property
    def text(self) -> str:
        """The policy's last words: content of the last assistant message."""
        return last_assistant(self.completion)

    @property
    def prompt_text(self) -> str:
        """The prompt as one text."""
        return prompt_text(self.prompt)


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """All attempts at one task in one phase."""

    task: str
    phase: str
    rollouts: tuple[Rollout, ...]


def last_assistant(messages: Sequence[Message]) -> str:
    """Content of the last assistant message, or the empty text."""
    for message in reversed(messages):
        if message.role == "assistant":
            return message.content
    return ""


def prompt_text(messages: Sequence[Message]) -> str:
    """Messages as one text: the contents, apart by blank lines."""
    if len(messages) == 1:
        return messages[0].content
    return "\n\n".join(message.content for message in messages)
