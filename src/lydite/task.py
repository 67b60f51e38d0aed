"""A task: a prompt, and the checker that decides whether an attempt succeeded."""

from __future__ import annotations

from typing import Any

import msgspec

from lydite.codec import digest
from lydite.rollout import Message, prompt_text


class Checker(msgspec.Struct, frozen=True, kw_only=True):
    """Which verifier judges, and with which configuration."""

    type: str
    config: dict[str, Any] = {}


class Task(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One task. ``solution`` is a reference that scores 1; it never reaches a policy, a sandbox or a prompt.

    Attributes:
        id: unique in its task set; derived from the content when the document gives none.
        prompt: what the policy is asked.
        checker: how an attempt is judged.
        env: ``none`` (an answer) or ``workspace`` (files and commands).
        max_steps: budget of tool calls of one episode, 1 to 64.
        setup_files: path to text, laid into the workspace before the episode.
        setup_commands: run in the workspace before the episode.
        solution: reference text, or files and commands.
        split: ``train``, ``eval`` or empty.
        difficulty: a label such as ``level-2``, or empty.
        metadata: whatever else the document says. ``metadata.flags`` tunes detectors for this task.
    """

    id: str
    prompt: tuple[Message, ...]
    checker: Checker
    env: str = "none"
    max_steps: int = 16
    setup_files: dict[str, str] = {}
    setup_commands: tuple[str, ...] = ()
    solution: str | dict[str, Any] | None = None
    split: str = ""
    difficulty: str = ""
    metadata: dict[str, Any] = {}
    schema: int = 1

    @property
    def prompt_text(self) -> str:
        """The prompt as one text."""
        return prompt_text(self.prompt)

    @property
    def digest(self) -> str:
        """Digest of everything that defines the task. Labels (split, difficulty) are not part of it."""
        return digest(msgspec.structs.replace(self, split="", difficulty=""))
