"""What an environment is: a world that an episode takes place in, behind tools with typed signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from lydite.errors import LyditeError
from lydite.rollout import Tool
from lydite.task import Task

if TYPE_CHECKING:
    from lydite.sandbox import Snapshot


class WorldLostError(LyditeError):
    """The world was lost by the doing of the attempt's own programs (they filled its memory): the attempt's fault."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a call of a tool came to.

    Attributes:
        text: what the policy is shown.
        failed: whether the call could not be carried out as asked: an unknown tool, arguments of a wrong kind, a path
            that is refused. The policy is told and may try again; a command that ends with an error is no such failure.
        seconds: in the world, the model apart.
    """

    text: str
    failed: bool = False
    seconds: float = 0.0


class Episode(Protocol):
    """One world, for one attempt. Attempts of a group share nothing.

    Not thread-safe; may be used from any one thread at a time. Fails with ``WorldLostError`` where the attempt's own
    programs took the world along, with another ``LyditeError`` where it is lost by our fault.
    """

    done: bool
    """Whether the world says that the episode is over."""

    def call(self, name: str, arguments: dict[str, Any]) -> Answer:
        """Carry out a tool call. Never raises for anything that a policy may ask."""
        ...

    def freeze(self) -> Snapshot | None:
        """Stop all that is going on and say what was left behind; ``None`` for worlds without files. Idempotent."""
        ...

    def close(self) -> None:
        """Leave nothing: no process, no file. Idempotent; called on every way out."""
        ...


class Environment(Protocol):
    """A kind of world, such as ``workspace``.

    Attributes:
        name: what tasks call it in ``env``.
        version: rises whenever an episode could come out differently.
        tools: in the order in which policies are shown them, which matters to models that were trained with one.
    """

    name: str
    version: int
    tools: Sequence[Tool]

    def start(self, task: Task) -> Episode:
        """A fresh world for an attempt at a task: its files laid out, its commands run. Blocks; thread-safe.

        Raises:
            InputError: the task's set-up fails; names the command, and what it said.
            UnavailableError: what the world needs (a sandbox) is not on this machine.
        """
        ...

    def close(self) -> None:
        """Release what episodes share. Idempotent."""
        ...
