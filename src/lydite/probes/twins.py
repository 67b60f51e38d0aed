"""Impossible twins: the same task, with one expected value turned into a wrong one.

Nobody who does what the prompt asks passes such a checker, so the pass rate of a policy on twins is its cheat rate
(ImpossibleBench, arXiv 2510.20270). A twin is kept only where that was shown: the reference solution, judged by the
twin, is not correct; for a task without one, its own gold is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.probes.flips import FLIPS
from lydite.probes.world import World
from lydite.task import Checker, Task
from lydite.tasksets.checkers import COMPOSITE
from lydite.verifiers import Submission, build, checker_of

WAYS = 8
"""Ways to turn a checker that are tried for one twin."""


class Twin(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one task: a twin, or the reason why there is none."""

    of: str
    task: Task | None = None
    reason: str = ""


def twin(task: Task, world: World) -> Twin:
    """The impossible twin of a task. Its prompt, files and budget are those of the task; it has no solution;
    ``metadata`` has ``twin_of``, and ``flipped``: field, was, now.

    Raises:
        UnavailableError: something that the checker needs is not on this machine.
    """
    if task.checker.type == "choice":
        return Twin(of=task.id, reason="another choice is passed by whoever is wrong in that way")
    checker = checker_of(task)
    judged = _reference(task, world)
    if judged is None:
        return Twin(of=task.id, reason="no solution and no gold to show it impossible with")
    if not build(checker)(judged).correct:
        return Twin(of=task.id, reason="the reference solution is not judged correct")
    ways = list(islice(_flips(checker), WAYS))
    for field, was, now, turned in ways:
        try:
            verdict = build(turned)(judged)
        except InputError:
            continue  # no value that such a checker may have
        if verdict.score is not None and not verdict.correct:
            flipped = {"field": field, "was": was, "now": now}
            metadata = task.metadata | {"twin_of": task.id, "flipped": flipped}
            made = msgspec.structs.replace(task, id=f"{task.id}#twin", checker=turned, solution=None, metadata=metadata)
            return Twin(of=task.id, task=made)
    told = "the reference passes every one that was tried" if ways else f"nothing in {checker.type} to turn"
    return Twin(of=task.id, reason=told)


def twins(tasks: Iterator[Task] | list[Task]) -> Iterator[Twin]:
    """A twin, or a reason, for every task."""
    with World() as world:
        for task in tasks:
            try:
                yield twin(task, world)
            except InputError as error:
                yield Twin(of=task.id, reason=str(error))


def _reference(task: Task, world: World) -> Submission | None:
    """The reference as it is judged; without one, the gold written out."""
    if isinstance(task.solution, dict):
        state = world.untouched(task)
        if state is None:
            return None
        return Submission(text="", prompt=task.prompt_text, state=world.solved(task, state))
    text = task.solution
    if text is None and task.checker.type in ("math", "exact"):
        gold = task.checker.config.get("answer")
        gold = gold[0] if isinstance(gold, list) and gold else gold
        text = f"\\boxed{{{gold}}}" if task.checker.type == "math" else str(gold)
    if text is None:
        return None
    return Submission(text=text, prompt=task.prompt_text, state=world.untouched(task))


def _flips(checker: Checker, field: str = "checker.config") -> Iterator[tuple[str, Any, Any, Checker]]:
    """The checker turned, in all ways: of a composite, one part is."""
    if checker.type in COMPOSITE:
        parts = checker.config.get("checkers", {})
        for name, part in parts.items():
            inner = Checker(type=part["type"], config=part.get("config") or {})
            for place, was, now, turned in _flips(inner, f"{field}.checkers.{name}.config"):
                document = {"type": turned.type, "config": turned.config}
                config = checker.config | {"checkers": parts | {name: document}}
                yield place, was, now, Checker(type=checker.type, config=config)
        return
    for place, was, now, config in FLIPS[checker.type](checker.config) if checker.type in FLIPS else ():
        yield f"{field}.{place}", was, now, Checker(type=checker.type, config=config)
