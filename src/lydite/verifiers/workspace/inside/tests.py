"""Collect or run the grader's tests with pytest, one file in one process.

What is said of each test is written as soon as it is known, behind a secret, to a descriptor that the grader reads:
nothing that is printed, and no file in the workspace, is looked at. Records are JSON lines of lists:
``["id", ...]`` a test was found, ``["error", text]`` a file could not be loaded, ``["test", id, reason, text,
reached]`` a test has ended (``reached``: functions of the grader's of which the end was reached, as name:line),
``["tampered", text]``, ``["end"]``.

What is written with, and what judges, is held by functions that nobody can look into (``sealed``), and nowhere else:
classes are emptied before there is a candidate's code, since they are found among the subclasses of ``object``.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import random
import re
import sys
import types
import unittest
import unittest.mock
from collections.abc import Callable, Iterable
from importlib.machinery import SourceFileLoader
from typing import Any, NoReturn

import _pytest.config
import _pytest.runner
import _pytest.skipping
import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

from .frames import codes_of, hollow, known, learn, sealed, watch_frames
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
_main, _protocol, _getframe = pytest.main, _pytest.runner.runtestprotocol, sys._getframe
_HOOKS = {
    "pytest_load_initial_conftests": "early_config",
    "pytest_collectreport": "report",
    "pytest_collection_finish": "session",
    "pytest_sessionfinish": "session",
    "pytest_runtest_logreport": "report",
    "pytest_runtest_protocol": "item, nextitem",
}


Say = Callable[[list[Any]], None]


class Recorder:
    """A plugin of pytest: writes down what becomes of each test."""

    def __init__(
        self, say: Say, check: Callable[..., None], helpers: Iterable[str], graders: dict[int, types.CodeType]
    ) -> None:
        self._say, self._check, self._helpers, self._graders = say, check, tuple(helpers), graders
        self._failed: set[str] = set()
        self._reached: set[str] = set()

    def mark(self, value: Any) -> Any:
        """Called by a test at its end, with what it returns."""
        code = _getframe(1).f_code
        if id(code) in self._graders:
            self._reached.add(_place(code))
        else:
            self._say(["tampered", "what the tests call was called by somebody else"])
        return value

    def pytest_load_initial_conftests(self, early_config: Any) -> None:
        early_config.option.tbstyle = "no"  # only the message is told
        for finder in sys.meta_path:
            if isinstance(finder, AssertionRewritingHook):
                finder.mark_rewrite(*self._helpers)

    def pytest_collectreport(self, report: Any) -> None:
        if report.outcome == "failed":
            self._say(["error", _short(_message(report))])

    def pytest_collection_finish(self, session: Any) -> None:
        self._check(session.config, core=False)

    def pytest_sessionfinish(self, session: Any) -> None:
        self._check(session.config, core=False)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.outcome != "passed":  # of a part of a test, too
            self._failed.add(report.nodeid)

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool:
        self._reached.clear()
        reports = _protocol(item, nextitem=nextitem)
        reached = sorted(self._reached)
        self._check(item.config)
        reason, text = _outcome(reports)
        if reason == "passed" and (item.nodeid in self._failed or len(reports) != 3):
            reason, text = "failed", "a part of it failed"
        self._say(["test", item.nodeid, reason, text, reached])
        return True


def _place(code: types.CodeType) -> str:
    return f"{code.co_name}:{code.co_firstlineno}"


class _Plugin:
    """What pytest is shown of the recorder."""


def _shown(recorder: Recorder) -> _Plugin:
    """A plugin of which each hook only calls a function that shows nothing."""
    plugin = _Plugin()
    for name, arguments in _HOOKS.items():
        space: dict[str, Any] = {"__name__": "recorder", "call": sealed(getattr(recorder, name))}
        exec(f"def {name}({arguments}): return call({arguments})", space)  # noqa: S102
        known.update((id(code), code) for code in codes_of(space[name].__code__))
        last = name == "pytest_collection_finish"
        setattr(plugin, name, pytest.hookimpl(tryfirst=not last, trylast=last)(space.pop(name)))
    return plugin


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

    def __init__(self, say: Say, reached: Callable[..., Any]) -> None:
        self._say, self._reached = say, reached

    def pytest_collectreport(self, report: Any) -> None:
        if report.outcome == "failed":
            self._say(["error", _short(_message(report))])

    def pytest_collection_finish(self, session: Any) -> None:
        for item in session.items:
            values = getattr(getattr(item, "callspec", None), "params", {}).values()
            loose = any(isinstance(value, StandIn) for value in values)
            self._say(["id", item.nodeid, loose, self._marked(item), _left_out(item)])

    def _marked(self, item: Any) -> str:
        function = getattr(item.obj, "__func__", item.obj)
        code = getattr(inspect.unwrap(function), "__code__", None)
        return _place(code) if code is not None and any(one is self._reached for one in code.co_consts) else ""


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
    graders: dict[int, types.CodeType] = {}

    def loaded(code: types.CodeType) -> None:
        graders.update((id(one), one) for one in codes_of(code))

    functions: dict[str, Any] = dict.fromkeys(plan["names"])
    rewriting = Rewriting(files, functions, sentinels, gone, loaded)
    _rewrite_with(rewriting)
    arguments = ["-c", os.devnull, "--rootdir", root, "--confcutdir", root, "--import-mode=importlib"]
    arguments += [word for name in _OFF for word in ("-p", f"no:{name}")]
    arguments += [] if plan["conftest"] else ["--noconftest"]
    arguments += ["--", plan["file"]]
    if plan["collect"]:
        _collect(plan, say, functions, arguments)
    else:
        _run(plan, say, functions, rewriting, graders, arguments)
    say(["end"])
    _exit(0)


def _collect(plan: dict[str, Any], say: Say, functions: dict[str, Any], arguments: list[str]) -> None:
    finder = Finder()
    sys.meta_path.append(finder)
    sys.meta_path.insert(0, Meant(plan["wanted"], plan["folders"], finder))
    guard = Guard(lambda words: None, None, [], ())
    _offer(functions, guard.compare, lambda value: value, lambda names: None, lambda names: None)
    try:
        _main(
            [*arguments[:-2], "--collect-only", *arguments[-2:]], plugins=[Collector(say, functions[plan["names"][1]])]
        )
    except BaseException as error:
        say(["error", f"{type(error).__name__}: {error}"[:_SHOWN]])


def _run(
    plan: dict[str, Any],
    say: Say,
    functions: dict[str, Any],
    rewriting: Rewriting,
    graders: dict[int, types.CodeType],
    arguments: list[str],
) -> None:
    spaces: list[dict[str, Any]] = []

    def tell(words: str) -> None:
        say(["tampered", words])  # at once: what is told cannot be taken back

    guard = Guard(tell, graders, spaces, plan["named"])
    _guard_unittest(guard)
    helpers = {name: os.path.realpath(file) for name, file in plan["modules"].items()}

    def check(config: Any, core: bool = True) -> None:
        strange = [
            name for name, path in helpers.items() if path not in rewriting.done and not _absent_or_package(name, path)
        ]
        for name in strange:
            tell(f"{name} is not the grader's module")
        trouble = _watched.changed(core) or visitors.stranger(config.pluginmanager)
        if trouble:
            tell(trouble)

    def of_grader(use: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
        def told(names: dict[str, Any]) -> None:
            if id(_getframe(1).f_code) in graders:
                use(names)
            else:
                tell("what the tests call was called by somebody else")

        return told

    recorder = Recorder(say, check, helpers, graders)
    plugin = _shown(recorder)
    visitors = Visitors((plugin,), rewriting.files)
    _offer(functions, guard.compare, recorder.mark, of_grader(spaces.append), of_grader(_watched.add_module))
    meant = Meant(plan["wanted"], plan["folders"], None)
    sys.meta_path.insert(0, types.SimpleNamespace(find_spec=sealed(meant.find_spec)))
    library = [name for name in plan["library"] if name not in meant.names]
    before = len(sys.modules)
    for name in library:
        importlib.import_module(name)
    if len(sys.modules) > before:
        learn()
    _watched.add_library(library)
    blocked = (_TRACING | _SEARCHING) - frozenset(plan["allowed"])

    def audit(event: str, _: Any) -> None:
        if event in blocked:
            if event in _TRACING:
                tell(f"{event} was called")
            raise RuntimeError(f"{event} is not for tests")

    hollow(vars(sys.modules.pop("lydite_states")))
    hollow(globals(), guard, recorder, rewriting, visitors, meant, _watched)
    sys.addaudithook(audit)
    watch_frames(tell, graders, spaces, plan["named"], run_tests.__code__)
    try:
        _main(arguments, plugins=[plugin])
    except BaseException as error:
        say(["error", f"{type(error).__name__}: {error}"[:_SHOWN]])


def _absent_or_package(name: str, path: str) -> bool:
    """Whether a module is not there, or is a package that pytest has loaded in its own way, without rewriting it."""
    module = sys.modules.get(name)
    if module is None:
        return True
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    place = os.path.realpath(getattr(module, "__file__", None) or "")
    return os.path.basename(path) == "__init__.py" and place == path and type(loader) is SourceFileLoader


def _offer(names: dict[str, Any], *functions: Callable[..., Any]) -> None:
    """What the changed test files call, for constants that were drawn for this process."""
    names.update(zip(names, map(sealed, functions), strict=True))


learn()
