"""A task of the family ``files`` as its makers draw it, the few words that they use, and the task that it becomes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

import msgspec

from lydite.codec import digest
from lydite.rollout import Message
from lydite.task import Checker, Task

#: Tool calls that an episode may take, by level.
STEPS: Final = {1: 4, 2: 6, 3: 8, 4: 12, 5: 16}

# Short words, one or two tokens each for a small tokenizer.
_WORDS: Final = """
red blue green pink gray gold cat dog cow fox hen owl sun moon star rain snow wind tree leaf rock sand fish bird
cup pen hat key map bell lamp ring rope salt milk rice corn bean plum pear
"""
WORDS: Final = tuple(_WORDS.split())
STEMS: Final = "abcdefghijklmnopqrstuvwxyz"
FOLDERS: Final = ("box", "bag", "bin", "tin", "jar", "can", "pot", "tub")

Demand = list[Any]


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """One drawn task.

    Attributes:
        kind: what it is about, such as ``rename``.
        prompt: what is asked.
        setup: files that are there before.
        changes: demands (``check.py``) that the workspace does not meet before, and meets after.
        kept: demands that it meets before and after.
        files, commands: the reference solution.
        checker: in place of one made of the demands.
    """

    kind: str
    prompt: str
    setup: dict[str, str] = {}
    changes: Sequence[Demand] = ()
    kept: Sequence[Demand] = ()
    files: dict[str, str] = {}
    commands: Sequence[str] = ()
    checker: Checker | None = None


Maker = Callable[[random.Random], Draft]


def task_of(level: int, draft: Draft) -> Task:
    """The task of a draft."""
    solution: dict[str, Any] = {}
    if draft.files:
        solution["files"] = draft.files
    if draft.commands:
        solution["commands"] = list(draft.commands)
    return Task(
        id=f"files-{level}-{digest([draft.prompt, draft.setup])[:10]}",
        prompt=(Message(role="user", content=draft.prompt),),
        checker=draft.checker or Checker(type="script", config={"script": script(draft.changes, draft.kept)}),
        env="workspace",
        max_steps=STEPS[level],
        setup_files=draft.setup,
        solution=solution,
        difficulty=f"level-{level}",
        metadata={"family": "files", "level": level, "kind": draft.kind},
    )


def script(changes: Sequence[Demand], kept: Sequence[Demand]) -> str:
    """The grader's script for these demands."""
    return f"CHANGES = {_literal(changes)}\nKEPT = {_literal(kept)}\n{_source()}"


def _literal(demands: Sequence[Demand]) -> str:
    """Demands as Python has them. JSON is not enough: true and null are no names there."""
    return repr(json.loads(json.dumps(list(demands))))


@cache
def _source() -> str:
    text = (files("lydite.tasksets.files") / "check.py").read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.endswith("# left out of the script")) + "\n"


def names(rng: random.Random, count: int, suffix: str = ".txt") -> list[str]:
    """Different short file names."""
    return [stem + suffix for stem in rng.sample(STEMS, count)]


def words(rng: random.Random, count: int) -> list[str]:
    """Different words."""
    return rng.sample(WORDS, count)


def lines(*items: object) -> str:
    """A text of these lines."""
    return "".join(f"{item}\n" for item in items)


def table(rows: Sequence[Sequence[object]]) -> str:
    """A text of comma-separated values."""
    return lines(*(",".join(map(str, row)) for row in rows))


def cells(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    """Rows as a reader of comma-separated values gives them."""
    return [[str(cell) for cell in row] for row in rows]


def moved(old: str, new: str, text: str) -> Demand:
    """One demand, for half of it, an old file that is gone, would be met by deleting it."""
    return ["all", "", [["text", new, text], ["gone", old]]]
