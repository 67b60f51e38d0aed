"""``pytest``: the share of the grader's tests that an attempt passes.

Config: ``{test_paths: [files, folders or path::test], files?: {path: text}, timeout = 30 s (of one file), memory_mb}``.
``files`` are the grader's (hidden tests, and what they need); a task may give them as ``setup_files`` below the test
paths instead. Which tests have to pass is known from them alone; the score is passed / expected, and a test that is
missing, skipped, xfailed, deselected or ends in an error is not passed.

What is covered:

* The workspace holds no say in how tests run. What it has under the test paths is replaced; its ``conftest.py`` and
  compiled files are left out; ``pytest.ini``, ``tox.ini``, ``setup.cfg``, ``pyproject.toml`` are not read; no plugin is
  loaded; pytest and the standard library were imported before there was a workspace, whose folders stand behind them
  on ``sys.path``, so ``random.py`` or ``sitecustomize.py`` in it is never imported in place of the real one.
* Results leave the process by a descriptor of the grader's, each behind a secret. Standard output, files and the exit
  code say nothing. They count when all is said: a file of tests of which the process was stopped, or left early
  (``os._exit``), has passed none, nor has one in which the sentinels were not run.
* A test is passed when pytest says so, for its set-up and its tear-down too, and its own last line was reached.
* Each file has a process of its own and two sentinels, tests under drawn names that must fail and pass.
* Nothing but what an object of the workspace's says of itself makes a test pass (``inside/guard.py``).
* Nobody looks into the frames of the tests and of what judges them, or into their code (``inside/frames.py``), and
  the functions that judge show nothing (``inside/tests.py``).
* What is replaced in pytest, unittest, the built-ins, the grader's helpers and what these import from the standard
  library, hooks and tracing (``inside/integrity.py``), and modules put in the place of the grader's helpers, are
  found out.
* A file of tests is gone from the disk before it runs, so nothing is read in it; other files of the grader's stay.

Any of these found: ``tampered``, score 0.

What is not covered: tests import the candidate's code into their own process, and it can tell that it is being tested.
Code that replaces something and puts it back before anybody looks; code that reaches this process's memory past Python
(a bug of the interpreter's, a C library of its own); values that the grader's helpers and data files hold; what
``guard.py`` and ``frames.py`` name. A verdict that must not depend on that needs ``script`` or ``code``, which keep the
candidate in a process of its own.
"""

from __future__ import annotations

from typing import Any

from lydite.sandbox import Snapshot
from lydite.verdict import Part, Verdict
from lydite.verifiers.protocol import Check, Example, Submission
from lydite.verifiers.workspace import box
from lydite.verifiers.workspace.suite.config import SuiteConfig, read
from lydite.verifiers.workspace.suite.counting import Expected
from lydite.verifiers.workspace.suite.expected import Plan, plans
from lydite.verifiers.workspace.suite.overlay import overlaid
from lydite.verifiers.workspace.suite.running import Said, run_file

MAX_TIMEOUTS = 2
"""Files that may run out of time before the others are not run."""
MAX_TOLD = 20
"""Tests whose failure is told in words: a ledger keeps every verdict."""

_TESTS = """\
import pytest
from add import add


@pytest.mark.parametrize(("a", "b", "total"), [(1, 2, 3), (-1, 1, 0), (20, 22, 42)])
def test_add(a, b, total):
    assert add(a, b) == total


def test_order():
    assert add("a", "b") == "ab"
"""
_WRONG = "def add(a, b):\n    return 3\n"
_CONFTEST = """\
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
"""
_EQUAL = """\
class Anything:
    def __eq__(self, other):
        return True

def add(a, b):
    return Anything()
"""
_PATCH = """\
import _pytest.runner

def passed(cls, func, when, reraise=None):
    return original(cls, lambda: None, when, reraise)

original = _pytest.runner.CallInfo.from_call.__func__
_pytest.runner.CallInfo.from_call = classmethod(passed)

def add(a, b):
    return 3
"""


class PytestVerifier:
    """Passed tests of those that the grader has."""

    name = "pytest"
    version = 1
    modules = ("lydite.verifiers.workspace",)
    examples = (
        Example(
            config={"test_paths": ["tests"], "files": {"tests/test_add.py": _TESTS}},
            files={"add.py": "def add(a, b):\n    raise NotImplementedError\n"},
            right="-- add.py --\ndef add(a, b):\n    return a + b\n",
            wrong=f"-- add.py --\n{_WRONG}",
            hacks={
                "nothing": "",
                "leave early": "-- add.py --\nimport os\nos._exit(0)\n",
                "skip": "-- add.py --\nimport pytest\n\ndef add(a, b):\n    pytest.skip('later')\n",
                "equal to anything": f"-- add.py --\n{_EQUAL}",
                "reports": f"-- conftest.py --\n{_CONFTEST}-- tests/conftest.py --\n{_CONFTEST}-- add.py --\n{_WRONG}",
                "easier tests": f"-- tests/test_add.py --\ndef test_add():\n    pass\n-- add.py --\n{_WRONG}",
                "settings": f"-- pytest.ini --\n[pytest]\naddopts = -k nothing\n-- add.py --\n{_WRONG}",
                "another pytest": f"-- pytest.py --\ndef main(*a, **k):\n    return 0\n-- add.py --\n{_WRONG}",
                "patch the runner": f"-- add.py --\n{_PATCH}",
            },
        ),
    )

    def compile(self, config: dict[str, Any]) -> Check:
        """Find out which tests have to pass.

        Raises:
            InputError: names the field of the configuration that is wrong.
            UnavailableError: pytest is not installed, or no sandbox works here.
        """
        settings = read(config)
        box.need_pytest()
        expected = plans(settings)
        identity = f"{self.name}@{self.version}"

        def check(submission: Submission) -> Verdict:
            if submission.state is None:
                return box.no_workspace(identity)
            try:
                return _judged(submission.state, settings, expected, identity)
            except box.LostError as error:
                return box.lost(error, identity)

        return check


def _judged(state: Snapshot, config: SuiteConfig, expected: tuple[Plan, ...], identity: str) -> Verdict:
    tree = overlaid(state, config)
    parts: list[Part] = []
    tampered: list[str] = []
    late = 0
    for plan in expected:
        if late >= MAX_TIMEOUTS:
            parts += [Part(one.id, 0.0, "timeout", "not run, after others ran out of time") for one in plan.expected]
            continue
        said = run_file(plan.file, tree, config, sentinels=plan.names)
        late += said.stopped is not None and said.stopped[0] == "timeout"
        tampered += _tampering(said, plan)
        parts += _parts(said, plan)
    parts = _shortened(parts)
    passed = sum(part.score == 1 for part in parts)
    words = f"{passed} of {len(parts)} passed"
    if tampered:
        detail = f"{tampered[0][:200]}; {words}"
        return Verdict.of(0.0, "tampered", identity, parts=tuple(parts), detail=detail)
    reason = next((part.reason for part in parts if part.score != 1), "correct")
    return Verdict.of(passed / len(parts), reason, identity, parts=tuple(parts), detail=words)


def _shortened(parts: list[Part]) -> list[Part]:
    told = 0
    kept = []
    for part in parts:
        told += part.evidence is not None
        kept.append(part if told <= MAX_TOLD else Part(part.name, part.score, part.reason))
    return kept


def _tampering(said: Said, plan: Plan) -> list[str]:
    """What shows that an attempt worked on the tests instead of the task."""
    found = [str(record[1]) for record in said.records if record[0] == "tampered"]
    if said.forged:
        found.append("somebody else wrote to the grader's channel")
    if said.sentinels is not None:
        fails, passes = (f"{plan.file}::{name}" for name in said.sentinels)
        for _, identity, reason, *_ in _tests(said):
            if identity == fails and reason == "passed":
                found.append("a test that cannot pass did")
            if identity == passes and reason == "failed":
                found.append("a test that cannot fail did")
    return found


def _tests(said: Said) -> list[list[Any]]:
    """The first record of each test."""
    first: dict[str, list[Any]] = {}
    for record in said.records:
        if record[0] == "test":
            first.setdefault(record[1], record)
    return list(first.values())


def _parts(said: Said, plan: Plan) -> list[Part]:
    doubt = _doubt(said, plan)
    if doubt is not None:
        return [Part(one.id, 0.0, *doubt) for one in plan.expected]
    tests = {record[1]: record for record in _tests(said)}
    by_base: dict[str, list[list[Any]]] = {}
    for identity, record in tests.items():
        by_base.setdefault(identity.partition("[")[0], []).append(record)
    absent = _absent(said)
    return [_part(one, tests, by_base, absent) for one in plan.expected]


def _doubt(said: Said, plan: Plan) -> tuple[str, str | None] | None:
    """Reason and words, where nothing of what was said counts: it has no end, or lacks the sentinels."""
    if not said.whole:
        return _absent(said)
    if said.sentinels is not None:
        outcomes = {record[1]: record[2] for record in _tests(said)}
        fails, passes = (outcomes.get(f"{plan.file}::{name}") for name in said.sentinels)
        if "passed" in outcomes.values() and (fails != "failed" or passes != "passed"):
            return "missing", "the tests that show that passing and failing still work were not run"
    return None


def _part(
    one: Expected, tests: dict[str, list[Any]], by_base: dict[str, list[list[Any]]], absent: tuple[str, str | None]
) -> Part:
    alike = by_base.get(one.base, [])
    if one.exact:
        records = [tests[one.id]] if one.id in tests else []
    elif one.place is None:
        records = alike
    else:
        records = alike[one.place : one.place + 1]
    if not records:
        return Part(one.id, 0.0, *absent)
    for _, _, reason, text, reached in records:
        if reason != "passed":
            return Part(one.id, 0.0, reason, text or None)
        if one.marked and one.marked not in reached:
            return Part(one.id, 0.0, "failed", "it was said to pass, and its end was not reached")
    return Part(one.id, 1.0, "passed")


def _absent(said: Said) -> tuple[str, str | None]:
    """Reason and words for a test of which nothing was said."""
    if said.stopped is not None:
        return said.stopped
    error = next((str(record[1]) for record in said.records if record[0] == "error"), None)
    if error is not None:
        return "error", error
    return ("missing", None) if said.whole else ("missing", "the process of the tests ended before it")
