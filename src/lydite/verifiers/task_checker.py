"""The checker of a task as it is compiled.

A task may give the grader's tests as files of its set-up. What judges must have them from the task, not from the
workspace, where the attempt can change them: so they go into the checker's configuration.
"""

from __future__ import annotations

import posixpath
from typing import Any

from lydite.task import Checker, Task


def checker_of(task: Task) -> Checker:
    """The checker that judges attempts at a task.

    A ``pytest`` checker without ``files``, also within composites, gets those of the task's ``setup_files`` that lie at
    or below its test paths, and each ``conftest.py`` in a folder above them. Everything else stays as it is.
    """
    return _filled(task.checker, task.setup_files) if task.setup_files else task.checker


def _filled(checker: Checker, files: dict[str, str]) -> Checker:
    config = checker.config
    if checker.type == "pytest" and config.get("files") is None:
        return Checker(type="pytest", config={**config, "files": _tests(config.get("test_paths"), files)})
    parts = config.get("checkers")
    if not isinstance(parts, dict):
        return checker
    changed = {name: _filled_document(part, files) for name, part in parts.items()}
    if all(changed[name] is part for name, part in parts.items()):
        return checker
    return Checker(type=checker.type, config={**config, "checkers": changed})


def _filled_document(part: Any, files: dict[str, str]) -> Any:
    """The same for a component, which is plain JSON; what is no checker is left to whoever reports that."""
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return part
    if not isinstance(config := part.get("config", {}), dict):
        return part
    checker = Checker(type=part["type"], config=config)
    filled = _filled(checker, files)
    return part if filled is checker else {**part, "config": filled.config}


def _tests(test_paths: Any, files: dict[str, str]) -> dict[str, str]:
    if not isinstance(test_paths, list):
        return {}
    paths = [posixpath.normpath(path.partition("::")[0]) for path in test_paths if isinstance(path, str)]
    return {name: text for name, text in files.items() if any(_belongs(posixpath.normpath(name), at) for at in paths)}


def _belongs(name: str, at: str) -> bool:
    if name == at or name.startswith(f"{at}/"):
        return True
    folder, _, file = name.rpartition("/")
    return file == "conftest.py" and (not folder or at.startswith(f"{folder}/"))
