"""How a task is judged another time: which of its checkers are changed, and into what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from lydite.codec import digest
from lydite.errors import InputError
from lydite.task import Checker, Task
from lydite.verifiers import checker_of

Change = Callable[[Task], Task | None]
"""From a task as it was attempted to the task as it is judged now; ``None`` where it is not judged again."""


class Swap(msgspec.Struct, frozen=True):
    """One change of checkers, wherever they stand in a task, in composites too.

    Attributes:
        old: type of the checkers that are changed; ``None`` for those of type ``new``, or for whole checkers where the
            run has none of these.
        new: their type afterwards.
        config: fields that are set; ``None`` removes one. All others stay as the task has them.
    """

    old: str | None
    new: str
    config: dict[str, Any] = {}


def as_they_are(task: Task) -> Task:
    """Every task with its own checker: what has changed is the verifier."""
    return task


def by_swaps(swaps: Sequence[Swap], tasks: Iterable[Task]) -> Change:
    """Change checkers of one type, in order; tasks that no change concerns are not judged again.

    Args:
        swaps: what to change.
        tasks: those of the run.

    Raises:
        InputError: a change names a type that no task has.
    """
    types = {kind for task in tasks for kind in _types(task.checker.type, task.checker.config)}
    for swap in swaps:
        if swap.old is not None and swap.old not in types:
            known = ", ".join(sorted(types))
            raise InputError(f"no task has a checker {swap.old!r}", field="--verifier", remedy=f"there are: {known}")

    def change(task: Task) -> Task | None:
        checker, found = checker_of(task), False
        for swap in swaps:
            old = swap.old if swap.old is not None else swap.new if swap.new in types else checker.type
            checker, hit = _swapped(checker, old, swap)
            found = found or hit
        if not found:
            return None
        return task if checker == checker_of(task) else msgspec.structs.replace(task, checker=checker)

    return change


def by_tasks(given: Iterable[Task]) -> Change:
    """Take checkers (and thresholds of detectors) from other documents of the same tasks: of the same id, else of the
    same prompt. Tasks that are not among them are not judged again."""
    documents = list(given)
    ids = {task.id: task for task in documents}
    prompts = {digest(task.prompt): task for task in documents}

    def change(task: Task) -> Task | None:
        found = ids.get(task.id) or prompts.get(digest(task.prompt))
        if found is None:
            return None
        if found.prompt != task.prompt:
            raise InputError(
                f"task {task.id!r} asks something else than what was attempted",
                field="prompt",
                remedy="a rescoring changes checkers only; sample the changed task anew",
            )
        checker, metadata = checker_of(found), task.metadata
        if "flags" in found.metadata and found.metadata["flags"] != metadata.get("flags"):
            metadata = {**metadata, "flags": found.metadata["flags"]}
        if checker == checker_of(task) and metadata is task.metadata:
            return task
        return msgspec.structs.replace(task, checker=checker, metadata=metadata)

    return change


def _types(kind: str, config: Mapping[str, Any]) -> Iterable[str]:
    yield kind
    parts = config.get("checkers")
    for part in parts.values() if isinstance(parts, dict) else ():
        if isinstance(part, dict) and isinstance(part.get("type"), str):
            inner = part.get("config", {})
            yield from _types(part["type"], inner if isinstance(inner, dict) else {})


def _swapped(checker: Checker, old: str, swap: Swap) -> tuple[Checker, bool]:
    if checker.type == old:
        config = {name: value for name, value in {**checker.config, **swap.config}.items() if value is not None}
        return Checker(type=swap.new, config=config), True
    parts = checker.config.get("checkers")
    if not isinstance(parts, dict):
        return checker, False
    changed: dict[str, Any] = {}
    found = False
    for name, part in parts.items():
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            changed[name] = part
            continue
        inner, hit = _swapped(Checker(type=part["type"], config=part.get("config", {})), old, swap)
        changed[name] = {"type": inner.type, "config": inner.config} if hit else part
        found = found or hit
    return (
        (Checker(type=checker.type, config={**checker.config, "checkers": changed}), True)
        if found
        else (
            checker,
            False,
        )
    )
