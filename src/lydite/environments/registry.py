"""Where environments are found: by name, a package's through an entry point, a user's own by path."""

from __future__ import annotations

import inspect
import threading
from importlib.metadata import entry_points
from typing import Any, cast

from lydite.environments.protocol import Environment
from lydite.errors import InputError
from lydite.task import Task
from lydite.userfile import attribute_of, locate

BUILTIN = {"workspace": "lydite.environments.workspace:WorkspaceEnvironment"}
"""Name to ``module:class``; the module is imported when the environment is first used."""
GROUP = "lydite.environments"
"""Entry-point group through which an installed package offers environments."""


class Environments:
    """Those of one run: each made when a task first asks for it, shared by all episodes, closed together."""

    def __init__(self, **given: Environment) -> None:
        self._made: dict[str, Environment] = dict(given)
        self._lock = threading.Lock()

    def find(self, name: str) -> Environment:
        """The environment that a task's ``env`` names.

        Raises:
            InputError: there is none, or what was found is none.
        """
        with self._lock:
            if name not in self._made:
                self._made[name] = _made(name)
            return self._made[name]

    def try_out(self, task: Task) -> None:
        """Set a task's world up once, and leave it.

        Raises:
            InputError: there is no such environment, or the task's set-up fails; names the task.
            UnavailableError: what the environment needs is not on this machine.
        """
        try:
            self.find(task.env).start(task).close()
        except InputError as error:
            raise error.at(prefix=f"task {task.id}") from None

    def close(self) -> None:
        """Release what they hold."""
        with self._lock:
            made, self._made = list(self._made.values()), {}
        for environment in made:
            environment.close()


def names() -> list[str]:
    """Names that a task's ``env`` may have, sorted, ``none`` apart."""
    return sorted({*BUILTIN, *(point.name for point in entry_points(group=GROUP))})


def _made(name: str) -> Environment:
    found: Any
    if path := locate(name):
        found = attribute_of(path, name.rpartition(":")[2], "env")
    elif name in BUILTIN:
        module, _, attribute = BUILTIN[name].partition(":")
        found = getattr(__import__(module, fromlist=["_"]), attribute)
    elif points := tuple(entry_points(group=GROUP, name=name)):
        try:
            found = points[0].load()
        except Exception as error:
            raise InputError(f"{name!r} cannot be loaded: {type(error).__name__}: {error}", field="env") from error
    else:
        raise InputError(f"no environment is called {name[:80]!r}", field="env", remedy=f"known: {', '.join(names())}")
    environment = found() if inspect.isclass(found) or inspect.isfunction(found) else found
    if not (callable(getattr(environment, "start", None)) and hasattr(environment, "tools")):
        raise InputError(
            f"{name!r} is no environment", field="env", remedy="it needs name, version, tools, start, close"
        )
    return cast(Environment, environment)
