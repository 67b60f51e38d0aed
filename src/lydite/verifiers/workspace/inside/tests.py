"""Collect or run the grader's tests with pytest, one file in one process.

What is said of each test is written as soon as it is known, behind a secret, to a descriptor that the grader reads:
nothing that is printed, and no file in the workspace, is looked at. Records are JSON lines of lists:
``["id", ...]`` a test was found, ``["error", text]`` a file could not be loaded, ``["test", id, reason, text,
reached]`` a test has ended, ``["tampered", text]``, ``["end"]``.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import json
import os
import random
import re
import sys
import types
import unittest
from collections.abc import Callable, Iterable
from importlib.machinery import SourceFileLoader
from typing import Any, NoReturn

import _pytest.config
import _pytest.runner
import _pytest.skipping
import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

from .guard import Guard, guard_unittest
from .integrity import Visitors, Watched
from .rewriting import Rewriting, install
from .standins import Finder, Meant, StandIn
from .tree import close_to_others, lay_out, received

_OFF = ("cacheprovider", "terminal", "faulthandler", "pastebin", "junitxml", "doctest", "stepwise", "setuponly")
_TRACING = frozenset({"sys.settrace", "sys.setprofile", "sys.monitoring.register_callback"})
_SEARCHING = frozenset({"gc.get_objects", "gc.get_referrers", "gc.get_referents"})
_ADDRESS = re.compile(r"\b0x(?:[0-9a-fA-F]{4,}|[0-9a-fA-F]*(?=\.\.\.))|(?<=\.\.\.)[0-9a-fA-Fx]+(?=>)")
_SHOWN = 400
"""Characters of a failure."""
_exit, _write, _encode = os._exit, os.write, json.JSONEncoder().encode
for _name in _pytest.config.default_plugins:  # now, not in every process
    importlib.import_module(f"_pytest.{_name}")
_guard_unittest, _rewrite_with = guard_unittest(), install()
_watched = Watched()
_main, _protocol = pytest.main, _pytest.runner.runtestprotocol


Say = Callable[[list[Any]], None]


class Recorder:
    """A plugin of pytest: writes down what becomes of each test."""

    def __init__(self, say: Say, check: Callable[..., None], helpers: Iterable[str]) -> None:
        self._say, self._check, self._helpers = say, check, tuple(helpers)
        self._failed: set[str] = set()
        self.reached = False

    def mark(self, value: Any) -> Any:
        """Called by a test at its end, with what it returns."""
        self.reached = True
        return value

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any) -> None:
        early_config.option.tbstyle = "no"  # only the message is told
        for finder in sys.meta_path:
            if isinstance(finder, AssertionRewritingHook):
                finder.mark_rewrite(*self._helpers)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: Any) -> None:
        if report.outcome == "failed":
            self._say(["error", _short(_message(report))])

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: Any) -> None:
        self._check(session.config, core=False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: Any) -> None:
        self._check(session.config, core=False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.outcome != "passed":  # of a part of a test, too
            self._failed.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool:
        self.reached = False
        reports = _protocol(item, nextitem=nextitem)
        reached = self.reached
        self._check(item.config)
        reason, text = _outcome(reports)
        if reason == "passed" and (item.nodeid in self._failed or len(reports) != 3):
            reason, text = "failed", "a part of it failed"
        self._say(["test", item.nodeid, reason, text, reached])
        return True


def _outcome(reports: list[Any]) -> tuple[str, str]:
    for report in reports:
        if hasattr(report, "wasxfail"):
            return "xfailed", _short(str(report.wasxfail))
        if report.outcome == "skipped":
            return "skipped", _short(_message(report))
        if report.outcome != "passed":
            return "failed" if report.when == "call" else "error", _short(_message(report))
    return "passed", ""


def _message(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return str(crash.message)
    if isinstance(report.longrepr, tuple) and len(report.longrepr) == 3:
        return str(report.longrepr[2])
    lines = report.longreprtext.split("\n")
    return "\n".join(line[1:].strip() for line in lines if line.startswith("E ")) or lines[-1]


def _short(text: str) -> str:
    text = _ADDRESS.sub("0x…", text.strip().replace("\0", "\\0"))
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


class Collector:
    """A plugin of pytest: writes down which tests there are."""

    def __init__(self, say: Say, reached: str) -> None:
        self._say, self._reached = say, reached

    def pytest_collectreport(self, report: Any) -> None:
        if report.outcome == "failed":
            self._say(["error", _short(_message(report))])

    def pytest_collection_finish(self, session: Any) -> None:
        for item in session.items:
            values = getattr(getattr(item, "callspec", None), "params", {}).values()
            loose = any(isinstance(value, StandIn) for value in values)
            self._say(["id", item.nodeid, loose, self._marked(item), _left_out(item)])

    def _marked(self, item: Any) -> bool:
        function = getattr(item.obj, "__func__", item.obj)
        code = getattr(inspect.unwrap(function), "__code__", None)
        return code is not None and self._reached in code.co_names


def _left_out(item: Any) -> bool:
    """Whether the grader's own marks keep a test from ever passing."""
    if item.get_closest_marker("xfail") is not None:
        return True
    holders = (item.cls, item.obj) if issubclass(getattr(item, "cls", None) or object, unittest.TestCase) else ()
    if any(getattr(holder, "__unittest_skip__", False) for holder in holders):
        return True
    try:
        return _pytest.skipping.evaluate_skip_marks(item) is not None
    except BaseException:  # it depends on the attempt
        return False


def run_tests() -> NoReturn:
    """Do what standard input asks for: ``collect`` or ``run`` one file."""
    channel = os.dup(1)
    plan: dict[str, Any] = received()
    for fd in (1, 2):
        os.dup2(0, fd)
    secret: bytes = plan.pop("secret")

    def say(record: list[Any], write: Any = _write, encode: Any = _encode) -> None:
        line = memoryview(secret + encode(record).encode() + b"\n")
        while line:
            line = line[write(channel, line) :]

    lay_out(plan.pop("entries"))
    random.seed(plan["seed"])
    close_to_others()
    os.environ.update(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    os.environ.pop("PYTHONPATH", None)
    sys.dont_write_bytecode = True
    root = os.getcwd()
    path = [os.path.join(root, *folder.split("/")) if folder else root for folder in plan["path"]]
    plan["folders"] = [folder for folder in path if os.path.isdir(folder)]
    sys.path[:] = [*sys.path[1:], *plan["folders"]]
    files = frozenset(os.path.realpath(file) for file in plan["files"])
    sys.argv = ["pytest"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    del sys.modules[__name__]
    sentinels = {os.path.realpath(plan["file"]): plan["sentinels"]} if plan["sentinels"] else {}
    gone = frozenset() if plan["collect"] else frozenset([os.path.realpath(plan["file"])])
    rewriting = Rewriting(files, plan["names"], sentinels, gone)
    _rewrite_with(rewriting)
    arguments = ["-c", os.devnull, "--rootdir", root, "--confcutdir", root, "--import-mode=importlib"]
    arguments += [word for name in _OFF for word in ("-p", f"no:{name}")]
    arguments += [] if plan["conftest"] else ["--noconftest"]
    (_collect if plan["collect"] else _run)(plan, say, rewriting, [*arguments, "--", plan["file"]])
    say(["end"])
    _exit(0)


def _collect(plan: dict[str, Any], say: Say, rewriting: Rewriting, arguments: list[str]) -> None:
    finder = Finder()
    sys.meta_path.append(finder)
    sys.meta_path.insert(0, Meant(plan["wanted"], plan["folders"], finder))
    guard = Guard(lambda words: None, set(), True)
    _offer(plan, guard.compare, lambda value: value, lambda names: None, lambda names: None)
    try:
        _main([*arguments[:-2], "--collect-only", *arguments[-2:]], plugins=[Collector(say, plan["names"][1])])
    except BaseException as error:
        say(["error", f"{type(error).__name__}: {error}"[:_SHOWN]])


def _run(plan: dict[str, Any], say: Say, rewriting: Rewriting, arguments: list[str]) -> None:
    found: list[str] = []
    trusted: set[int] = set()
    guard = Guard(found.append, trusted, plan["any"])
    _guard_unittest(guard)
    helpers = {name: os.path.realpath(file) for name, file in plan["modules"].items()}

    def check(config: Any, core: bool = True) -> None:
        strange = [
            name for name, path in helpers.items() if path not in rewriting.done and not _absent_or_package(name, path)
        ]
        found.extend(f"{name} is not the grader's module" for name in strange)
        trouble = _watched.changed(core) or visitors.stranger(config.pluginmanager)
        if trouble:
            found.append(trouble)
        tell()

    def tell() -> None:
        while found:
            say(["tampered", found.pop()])

    recorder = Recorder(say, check, helpers)
    visitors = Visitors((recorder,), rewriting.files)
    _offer(plan, guard.compare, recorder.mark, lambda names: trusted.add(id(names)), _watched.add_module)
    _watched.add(vars(builtins), plan["names"])
    meant = Meant(plan["wanted"], plan["folders"], None)
    sys.meta_path.insert(0, meant)
    library = [name for name in plan["library"] if name not in meant.names]
    for name in library:
        importlib.import_module(name)
    _watched.add_library(library)
    blocked = (_TRACING | _SEARCHING) - frozenset(plan["allowed"])

    def audit(event: str, _: Any) -> None:
        if event in blocked:
            if event in _TRACING:
                found.append(f"{event} was called")
            raise RuntimeError(f"{event} is not for tests")

    sys.addaudithook(audit)
    try:
        _main(arguments, plugins=[recorder])
    except BaseException as error:
        say(["error", f"{type(error).__name__}: {error}"[:_SHOWN]])
    tell()


def _absent_or_package(name: str, path: str) -> bool:
    """Whether a module is not there, or is a package that pytest has loaded in its own way, without rewriting it."""
    module = sys.modules.get(name)
    if module is None:
        return True
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    place = os.path.realpath(getattr(module, "__file__", None) or "")
    return os.path.basename(path) == "__init__.py" and place == path and type(loader) is SourceFileLoader


def _offer(plan: dict[str, Any], *functions: Callable[..., Any]) -> None:
    """What the changed test files call, under names that were drawn for this process."""
    vars(builtins).update(zip(plan["names"], functions, strict=True))
