"""What an attempt did, for detectors: the program that it answered with, the files that it wrote, the commands it
ran."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from lydite.detectors.shell import Written, read_command
from lydite.detectors.signs import Source
from lydite.rollout import Message, Rollout
from lydite.task import Task

MAX_CALLS = 1000
"""Calls of an attempt that are looked at."""
_PATHS = ("path", "file_path", "filename", "file", "filepath", "target")
_TEXTS = ("content", "contents", "text", "file_text", "new_str", "new_string", "code", "patch", "diff")
_COMMANDS = ("command", "cmd", "script", "bash", "code", "input")
_WRITES = ("write", "edit", "create", "replace", "save", "patch", "delete", "remove", "move", "append", "insert")


class Acts(NamedTuple):
    """What the calls of an episode did.

    Attributes:
        touched: (``call 3``, path): written, moved, linked or removed.
        files: (path, text) as written, whole.
        commands: (``call 3``, command) without the texts of files in it.
    """

    touched: list[Source]
    files: list[Written]
    commands: list[Source]


def is_episode(messages: tuple[Message, ...]) -> bool:
    """Whether a completion holds calls of tools."""
    return any(message.tool_calls for message in messages)


def program_of(rollout: Rollout, task: Task) -> list[Source]:
    """The program in an answer: what the checker ``code`` would run."""
    from lydite.verifiers.code.source import find_source

    text = find_source(rollout.text, entry_point(task))
    return [] if text is None else [Source("answer", text)]


def configs_of(task: Task) -> list[dict[str, Any]]:
    """Configurations of a task's checker and, where it is a composite, of those in it."""
    found = [task.checker.config]
    for config in found:  # grows while it is walked
        inner = config.get("checkers")
        if isinstance(inner, dict) and len(found) < 100:
            parts = [part.get("config") for part in inner.values() if isinstance(part, dict)]
            found.extend(config for config in parts if isinstance(config, dict))
    return found


def entry_point(task: Task) -> str | None:
    """The name that a program has to define, where the checker says so."""
    return next((name for config in configs_of(task) if isinstance(name := config.get("entry_point"), str)), None)


def hidden_files(task: Task) -> dict[str, str]:
    """The grader's own files: tests that replace those of the workspace."""
    found: dict[str, str] = {}
    for config in configs_of(task):
        files = config.get("files")
        if isinstance(files, dict):
            found |= {path: text for path, text in files.items() if isinstance(path, str) and isinstance(text, str)}
    return found


def acts_of(rollout: Rollout) -> Acts:
    """What an attempt did with its tools. The last attempt asked for is remembered: several detectors ask."""
    return _acts(_Key(rollout.completion))


class _Key:
    """A completion by identity: its calls hold dictionaries, which have no hash."""

    __slots__ = ("messages",)

    def __init__(self, messages: tuple[Message, ...]) -> None:
        self.messages = messages

    def __hash__(self) -> int:
        return id(self.messages)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.messages is other.messages


@lru_cache(maxsize=4)
def _acts(key: _Key) -> Acts:
    acts = Acts([], [], [])
    number = 0
    for message in key.messages:
        for call in message.tool_calls:
            number += 1
            if number > MAX_CALLS:
                return acts
            _add(acts, f"call {number}", call.name.lower(), call.arguments)
    return acts


def _add(acts: Acts, where: str, name: str, arguments: dict[str, Any]) -> None:
    path, text = _first(arguments, _PATHS), _first(arguments, _TEXTS)
    if path is not None and any(word in name for word in _WRITES):
        acts.touched.append(Source(where, path))
        acts.files.append(Written(path, text or ""))
        return
    command = _first(arguments, _COMMANDS)
    if command is None:
        if path is not None:
            acts.commands.append(Source(where, f"read {path}"))
        return
    read = read_command(command)
    acts.touched.extend(Source(where, target) for target in read.paths)
    acts.files.extend(read.written)
    acts.commands.append(Source(where, read.rest))


def _first(arguments: dict[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and name in _COMMANDS and value and all(isinstance(item, str) for item in value):
            return " ".join(value)
    return None


def is_test(path: str) -> bool:
    """Whether a path looks like one of tests."""
    *folders, name = path.replace("\\", "/").split("/")
    return (
        (name.startswith("test_") and name.endswith(".py"))
        or name.endswith(("_test.py", ".test.js", ".test.ts"))
        or any(folder in ("test", "tests", "testing") for folder in folders)
    )


def programs_of(rollout: Rollout, task: Task, *, tests: bool = True) -> list[Source]:
    """Everything that an attempt wrote to be run as Python: the program in the answer of a ``code`` task, files written
    in an episode, programs in commands. ``tests``: files of tests too."""
    if not is_episode(rollout.completion):
        return program_of(rollout, task)
    acts = acts_of(rollout)
    files = [
        Source(path, text)
        for path, text in acts.files
        if path.endswith((".py", ".pth", ".pyi", ".sh", ".ipynb")) and (tests or not is_test(path))
    ]
    return files + [source for source in acts.commands if "python" in source.text]


def reference_of(task: Task) -> str:
    """Everything that a task's reference solution says, as one text; empty where there is none."""
    solution = task.solution
    if solution is None or isinstance(solution, str):
        return solution or ""
    files = solution.get("files") or {}
    parts = [f"{path}\n{text}" for path, text in files.items()] if isinstance(files, dict) else []
    return "\n".join([*parts, *(str(command) for command in solution.get("commands") or ())])
