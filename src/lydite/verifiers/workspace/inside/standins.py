"""Stand-ins for what only an attempt will bring, so that test files can be collected before there is one.

A module that is not there is made up: it has every name, and what it has can be called, be a decorator or a base class.
Anything else (counting it, comparing it, looping over it) raises: tests whose number depends on the candidate are
counted from their source instead.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Sequence
from typing import Any


class StandIn:
    """Any thing."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name

    def __getattr__(self, name: str) -> StandIn:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(name)

    def __call__(self, *given: Any, **named: Any) -> Any:
        if len(given) == 1 and not named and isinstance(given[0], types.FunctionType | type):
            return given[0]  # as a decorator
        return StandIn(self.__name__)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return ()

    def __bool__(self) -> bool:
        raise TypeError("what the attempt will bring is not known yet")

    __eq__ = __bool__  # type: ignore[assignment]
    __hash__ = object.__hash__


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(name)


class Meant(importlib.abc.MetaPathFinder):
    """The first on ``sys.meta_path``: finds modules of the workspace that are called like those of the standard
    library, where the grader's tests import what only the workspace can have.

    Args:
        wanted: modules of the standard library, and names that the tests import from them.
        folders: where the workspace's modules are looked for.
        stand_in: what is asked where they are not there; ``None``: nobody.

    Attributes:
        names: of the modules that the workspace is meant to have.
    """

    def __init__(self, wanted: Sequence[tuple[str, str]], folders: list[str], stand_in: Finder | None) -> None:
        self._folders, self._stand_in = folders, stand_in
        self.names = {module for module, name in wanted if not _offers(module, name)}
        for name in self.names:
            sys.modules.pop(name, None)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        if name not in self.names:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, self._folders)
        return spec if spec is not None or self._stand_in is None else self._stand_in.find_spec(name)


def _offers(module: str, name: str) -> bool:
    """Whether the standard library has this."""
    try:
        found = importlib.import_module(module)
    except ImportError:
        return True
    if hasattr(found, name):
        return True
    return hasattr(found, "__path__") and importlib.util.find_spec(f"{module}.{name}") is not None


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last on ``sys.meta_path``."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        above = sys.modules.get(name.rpartition(".")[0])
        if above is not None and not isinstance(above, _Module):
            here = os.getcwd() + os.sep
            if not any(folder.startswith(here) for folder in path or ()):
                return None  # an installed package lacks it
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass
