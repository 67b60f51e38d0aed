"""Demonstrations: reference solutions carried out with tools, in real episodes, judged like any attempt.

What tools answer in a demonstration is what they answer a policy: it comes from a workspace of its own. A solution
whose episode is not judged correct teaches nothing and is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import Any

import msgspec

from lydite.environments import Environment
from lydite.errors import LyditeError
from lydite.rollout import FinishReason, Message, Rollout, ToolCall
from lydite.sampling import Judge
from lydite.task import Task

LAST_WORDS = "Done."


class Demonstration(msgspec.Struct, frozen=True, kw_only=True):
    """One episode of a reference solution.

    Attributes:
        task: what was asked.
        completion: calls, answers of tools, and a last word.
        correct: whether the checker agrees.
        why: the reason where it does not.
    """

    task: Task
    completion: tuple[Message, ...]
    correct: bool
    why: str = ""


def demonstrable(task: Task) -> bool:
    """Whether a task has a solution that tools can carry out."""
    return task.env != "none" and isinstance(task.solution, dict) and bool(steps(task))


def steps(task: Task) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a reference solution, in order: files are written, then commands run."""
    solution = task.solution if isinstance(task.solution, dict) else {}
    files = [
        ("write_file", {"path": path, "content": content}) for path, content in (solution.get("files") or {}).items()
    ]
    return [*files, *(("run_command", {"command": command}) for command in solution.get("commands") or [])]


def demonstrate(task: Task, environment: Environment, judge: Judge) -> Demonstration:
    """Carry one solution out.

    Raises:
        InputError: the task's set-up fails.
        LyditeError: the world was lost.
    """
    calls = steps(task)
    names = {tool.name for tool in environment.tools}
    said: list[Message] = []
    if missing := sorted({name for name, _ in calls} - names):
        return Demonstration(task=task, completion=(), correct=False, why=f"no tool {missing[0]}")
    if len(calls) > task.max_steps:
        return Demonstration(task=task, completion=(), correct=False, why="more calls than max_steps")
    episode = environment.start(task)
    try:
        for number, (name, arguments) in enumerate(calls, 1):
            call = ToolCall(id=f"call_{number}_1", name=name, arguments=arguments)
            answer = episode.call(name, arguments)
            said.append(Message(role="assistant", tool_calls=(call,)))
            said.append(Message(role="tool", content=answer.text, tool_call_id=call.id, name=name))
        said.append(Message(role="assistant", content=LAST_WORDS))
        state = episode.freeze()
    finally:
        episode.close()
    rollout = Rollout(
        id=f"demonstration/{task.id}/0",
        task=task.id,
        task_digest=task.digest,
        prompt=task.prompt,
        completion=tuple(said),
        finish=FinishReason.STOP,
    )
    verdict = judge.judge(rollout, task, state).verdict
    return Demonstration(task=task, completion=tuple(said), correct=verdict.correct, why=verdict.reason)


def demonstrations(
    tasks: Sequence[Task], find: Callable[[str], Environment], judge: Judge, threads: Executor
) -> Iterator[Demonstration]:
    """Of every task that has one, in order."""

    def one(task: Task) -> Demonstration:
        try:
            return demonstrate(task, find(task.env), judge)
        except LyditeError as error:
            return Demonstration(task=task, completion=(), correct=False, why=str(error))

    yield from threads.map(one, [task for task in tasks if demonstrable(task)])
