"""Any environment of ours as a class that TRL's ``environment_factory`` takes.

TRL makes one instance per completion of a batch, keeps them for the whole run, calls ``reset(**row)`` before each use,
and offers every public function of the class as a tool, in alphabetical order. It has no hook for the end of an
episode and lets an exception in ``reset`` end the training. So here:

- worlds are started in the background by ``reset``, and one that cannot be set up makes an attempt that is ``invalid``;
- ``reset`` adds nothing to the prompt, so that it is the same for all attempts of a group;
- a world is closed as soon as its attempt is over, by the next ``reset`` at the latest, by ``_close`` on every way out
  of the trainer, and with this process by the sandbox that it lies in.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any, ClassVar

import msgspec

from lydite.environments import Answer, Environment, Episode
from lydite.errors import LyditeError
from lydite.rollout import FinishReason, Tool
from lydite.sampling.episodes import Ended, Start, Trail
from lydite.task import Task

_TYPES: dict[Any, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
}
CUT = "\n[… the rest is left out: no room …]"


class TrlEnvironment:
    """What TRL holds for one completion. Subclasses, made by ``environment_class``, have the tools.

    Attributes:
        _ended: how the attempt went, when it is over.
    """

    _environment: ClassVar[Environment | None] = None
    _tasks: ClassVar[Sequence[Task]] = ()
    _limit: ClassVar[int] = 64
    _threads: ClassVar[Executor]

    def __init__(self) -> None:
        self._task: Task | None = None
        self._starting: Future[Episode] | None = None
        self._trail: Trail | None = None
        self._ended: Ended | None = None

    def reset(self, task: int = 0, **_row: Any) -> None:
        """Begin an attempt at a task, given by its position. Never raises for what is wrong with the world."""
        self._close()
        self._task, self._ended = self._tasks[task], None
        if self._environment is not None:
            self._starting = self._threads.submit(self._environment.start, self._task)

    def _begin(self, budget: int, measure: Callable[[str], int] = len) -> Trail:
        """The episode of this attempt; waits for its world.

        Args:
            budget: tokens of all turns together.
            measure: tokens of a text.
        """
        if self._trail is None:
            assert self._task is not None
            assert self._starting is not None
            task = msgspec.structs.replace(self._task, max_steps=min(self._task.max_steps, self._limit))
            start = Start(task=task, seed=0, index=0)
            try:
                self._trail = Trail(start, Fitted(self._starting.result(), measure), budget)
            except LyditeError as error:
                self._trail = Trail(start, Fitted(_NoWorld(), measure), budget)
                self._trail.finish, self._trail.error = FinishReason.ERROR, f"environment: {error}"[:200]
            self._starting = None
        return self._trail

    def _finish(self) -> None:
        """Freeze the world and leave it."""
        if self._trail is not None:
            try:
                self._ended = self._trail.end()
            finally:
                self._close()

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        """A call by TRL's own loop of tools."""
        trail = self._begin(1 << 30)
        if trail.steps >= trail.start.task.max_steps:
            return "error: no more calls are allowed"
        trail.steps += 1
        return trail.episode.call(name, arguments).text

    def _close(self) -> None:
        """Leave nothing. Idempotent."""
        starting, self._starting = self._starting, None
        trail, self._trail = self._trail, None
        if starting is not None and not starting.cancel():
            with contextlib.suppress(LyditeError):  # then there is no world to close
                starting.result().close()
        if trail is not None:
            trail.episode.close()


class Fitted:
    """An episode whose answers fit into what is left of the attempt's tokens.

    TRL drops an answer that does not fit, though the tool has run: the policy would go on learning from an attempt of
    which it has not seen the end. Here the answer is cut, with a mark.

    Attributes:
        room: tokens that answers may still take, ``overhead`` of each included.
    """

    def __init__(self, episode: Episode, measure: Callable[[str], int]) -> None:
        self._episode, self._measure = episode, measure
        self.room, self.overhead = 1 << 30, 0
        self.done = episode.done

    def call(self, name: str, arguments: dict[str, Any]) -> Answer:
        """See the protocol."""
        answer = self._episode.call(name, arguments)
        self.done = self._episode.done
        text = fit(answer.text, max(0, self.room - self.overhead), self._measure)
        self.room -= self._measure(text) + self.overhead
        return answer if text is answer.text else msgspec.structs.replace(answer, text=text)

    def freeze(self) -> Any:
        """See the protocol."""
        return self._episode.freeze()

    def close(self) -> None:
        """See the protocol."""
        self._episode.close()


def fit(text: str, room: int, measure: Callable[[str], int]) -> str:
    """A text of at most ``room`` tokens: its beginning, and a mark where it was cut; empty where no mark has room."""
    tokens = measure(text)
    if tokens <= room:
        return text
    left = room - measure(CUT)
    while left > 0:
        kept = text[: len(text) * left // tokens] + CUT
        over = measure(kept) - room
        if over <= 0:
            return kept
        left -= over
    return ""


class _NoWorld:
    """In place of a world that could not be set up."""

    done = True

    def call(self, name: str, arguments: dict[str, Any]) -> Answer:
        return Answer(text="error: there is no workspace", failed=True)

    def freeze(self) -> None:
        return None

    def close(self) -> None:
        return None


def environment_class(
    environment: Environment | None, tasks: Sequence[Task], threads: Executor, *, limit: int = 64
) -> type[TrlEnvironment]:
    """A class for TRL's ``environment_factory``.

    Args:
        environment: the environment; ``None`` for tasks without one, which have no tools.
        tasks: rows of the data set hold positions in this sequence, in the column ``task``.
        threads: where worlds are set up.
        limit: tool calls of one attempt, where the task does not allow fewer.
    """
    tools = {tool.name: _method(tool) for tool in (environment.tools if environment is not None else ())}
    name = "".join(part.capitalize() for part in (environment.name if environment is not None else "none").split("_"))
    fields = {"_environment": environment, "_tasks": tasks, "_limit": limit, "_threads": threads}
    return type(f"{name}Env", (TrlEnvironment,), {**fields, **tools, "__doc__": TrlEnvironment.__doc__})


def _method(tool: Tool) -> Callable[..., str]:
    """A tool as a method: its parameters with types, and a docstring that describes them."""
    properties: dict[str, Any] = tool.parameters.get("properties", {})
    required = set(tool.parameters.get("required", ()))

    def method(self: TrlEnvironment, **arguments: Any) -> str:
        return self._call(tool.name, arguments)

    types = {name: _TYPES.get(schema.get("type"), Any) for name, schema in properties.items()}
    given = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=types[name],
            default=inspect.Parameter.empty if name in required else properties[name].get("default"),
        )
        for name in properties
    ]
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    described = "".join(f"    {name}: {schema.get('description') or name}\n" for name, schema in properties.items())
    method.__name__ = method.__qualname__ = tool.name
    method.__doc__ = f"{tool.description}\n" + (f"\nArgs:\n{described}" if described else "")
    method.__annotations__ = {**types, "return": str}
    method.__signature__ = inspect.Signature([this, *given], return_annotation=str)  # type: ignore[attr-defined]
    return method
