"""Whether pytest, unittest, the built-ins and the grader's own functions are still what they were.

Covered: functions and classes of these modules, of the grader's own files and of what they import from the standard
library that were replaced, functions whose code or defaults were, hooks that somebody registered, functions that trace.
Looked at after the test files were loaded (which loads the candidate's
modules), after each test, and at the end. Not covered: what is put back before anybody looks.
"""

from __future__ import annotations

import builtins
import operator
import os
import sys
import types
from collections.abc import Iterable
from typing import Any

import _pytest.legacypath

from .frames import Sealed

_PACKAGES = ("_pytest", "pytest", "pluggy", "unittest", "unittest.case", "unittest.suite", "unittest.result")
_CORE = frozenset({"_pytest.outcomes", "_pytest.raises", "_pytest.python", "_pytest.runner", "unittest.case"})
"""Looked at after every test."""
_FREE = frozenset({"input", "print", "open", "help", "exit", "quit", "copyright", "credits", "license", "_"})
"""Built-ins that honest programs put others in place of, and that decide nothing."""
_OPEN = frozenset({"_pytest.warnings", "_pytest.pytester", "_pytest.terminal"})

_LEGACY = frozenset(id(value) for value in vars(_pytest.legacypath).values())
"""What pytest itself puts in place of some methods, for people who still use ``tmpdir``."""

_id, _getattr, _vars, _is, _list, _map, _all = id, getattr, vars, operator.is_, list, map, all
_code_of = operator.attrgetter("__code__", "__defaults__", "__kwdefaults__")


class Watched:
    """Everything that is watched, as it is when this is made."""

    def __init__(self) -> None:
        self._holders: list[tuple[Any, tuple[str, ...], list[Any]]] = []
        self._core: list[tuple[Any, tuple[str, ...], list[Any]]] = []
        self._functions: list[Any] = []
        names = {
            name: value
            for name, value in _vars(builtins).items()
            if name not in _FREE and (isinstance(value, type) or callable(value))
        }
        self._watch(_vars(builtins), names)
        for name, module in sorted(sys.modules.items()):
            top = name.partition(".")[0]
            if (name in _PACKAGES or top in ("_pytest", "pluggy")) and name not in _OPEN:
                self._watch_names(_vars(module), name, set())
        self._core = [one for one in self._holders if one[0] is _vars(builtins) or _module_of(one[0]) in _CORE]
        self._codes = [part for function in self._functions for part in _code_of(function)]

    def add(self, holder: dict[str, Any], names: Iterable[str]) -> None:
        """From now on, look at these names as well."""
        self._core.append((holder, tuple(names), [holder[name] for name in names]))

    def add_module(self, names: dict[str, Any]) -> None:
        """From now on, look at the functions and classes that a module of the grader's has, now that it is loaded."""
        before, known = len(self._holders), len(self._functions)
        self._watch_names(names, names["__name__"], set())
        self._core += self._holders[before:]
        self._codes += [part for function in self._functions[known:] for part in _code_of(function)]

    def add_library(self, names: Iterable[str]) -> None:
        """From now on, look at what these modules of the standard library offer."""
        for name in names:
            module = sys.modules[name]
            found = {key: value for key, value in _vars(module).items() if callable(value)}
            self.add(_vars(module), tuple(found))

    def _watch(self, holder: Any, names: dict[str, Any]) -> None:
        if names:
            self._holders.append((holder, tuple(names), _list(names.values())))

    def _watch_names(self, holder: Any, module: str, seen: set[int]) -> None:
        names: dict[str, Any] = {}
        for name, value in _list(holder.items()):
            inner = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if isinstance(inner, types.FunctionType):
                names[name] = value
                self._functions.append(inner)
            elif type(value) is Sealed:
                names[name] = value
            elif isinstance(value, type):
                names[name] = value
                if value.__module__ == module and _id(value) not in seen:
                    seen.add(_id(value))
                    self._watch_names(_vars(value), module, seen)
        self._watch(holder, names)

    def changed(self, core: bool = False) -> str | None:
        """The first thing that is not as it was, or ``None``. ``core``: a quick look at a part of it."""
        for holder, names, values in self._core if core else self._holders:
            now = [holder.get(name) for name in names]
            if not _all(_map(_is, now, values)):
                for name, value, before in zip(names, now, values, strict=True):
                    inner = value.fget if type(value) is property else value
                    if value is not before and _id(inner) not in _LEGACY:
                        return f"{name} was replaced"
        codes = self._codes if core else [part for function in self._functions for part in _code_of(function)]
        if not _all(_map(_is, codes, self._codes)):
            return "the code of a function was replaced"
        if sys.gettrace() is not None or sys.getprofile() is not None:
            return "somebody traces"
        return None


def _module_of(holder: Any) -> Any:
    """The module of a class's, or a module's, name space."""
    return holder.get("__module__", holder.get("__name__"))


class Visitors:
    """Who takes part in pytest's hooks.

    Args:
        known: our own plugins.
        files: real paths of the grader's files, whose ``conftest.py`` may.
    """

    def __init__(self, known: tuple[Any, ...], files: frozenset[str]) -> None:
        self._known, self._files = known, files
        self._seen: dict[int, Any] = {}

    def stranger(self, manager: Any) -> str | None:
        """Somebody whom pytest calls and who is neither of pytest, nor ours, nor the grader's; or ``None``."""
        for name, caller in _vars(manager.hook).items():
            for one in caller.get_hookimpls():
                if self._seen.get(_id(one)) is one:
                    continue
                if not self._may(one.plugin):
                    return f"somebody takes part in {name}"
                self._seen[_id(one)] = one
        return None

    def _may(self, plugin: Any) -> bool:
        if any(plugin is one for one in self._known):
            return True
        kind = type(plugin)
        if kind is types.ModuleType:
            if plugin.__name__.startswith("_pytest.") and sys.modules.get(plugin.__name__) is plugin:
                return True
            return os.path.realpath(plugin.__file__ or "") in self._files
        named = _getattr(sys.modules.get(kind.__module__), kind.__name__, None)
        return named is kind and kind.__module__.startswith("_pytest.")
