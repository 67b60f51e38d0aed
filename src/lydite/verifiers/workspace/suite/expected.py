"""Which tests have to pass: found out from the grader's files alone, before there is an attempt.

They are collected in the sandbox, with stand-ins for the modules that only an attempt will bring; a file of which that
says nothing is counted from its source. Tests that the grader's own marks keep from passing (skip, xfail) do not count.
"""

from __future__ import annotations

from typing import NamedTuple

from lydite.errors import InputError, UnavailableError
from lydite.sandbox import Snapshot
from lydite.verifiers.workspace.box import LostError
from lydite.verifiers.workspace.suite.config import SuiteConfig
from lydite.verifiers.workspace.suite.counting import Expected, count_tests
from lydite.verifiers.workspace.suite.running import Said, run_file

MAX_TESTS = 2000


class Plan(NamedTuple):
    """A file of tests, and those that have to pass.

    Attributes:
        file: its path.
        expected: in order.
        names: of its tests, after which sentinels are named; none where it cannot have sentinels.
    """

    file: str
    expected: tuple[Expected, ...]
    names: tuple[str, ...]


def plans(config: SuiteConfig) -> tuple[Plan, ...]:
    """What is expected of each file of tests.

    Raises:
        InputError: there is no test that could pass, or too many.
        UnavailableError: the sandbox failed.
    """
    tree = Snapshot.from_files(config.files)
    found = []
    for file in config.tests:
        try:
            plan = _plan(file, tree, config)
        except LostError as error:
            raise UnavailableError(f"the sandbox failed while tests were collected: {error}") from None
        chosen = tuple(one for one in plan.expected if not config.chosen or _is_chosen(one, config.chosen))
        if chosen:
            found.append(plan._replace(expected=chosen))
    total = sum(len(plan.expected) for plan in found)
    if not total:
        raise InputError("no test in the grader's files can pass", field="test_paths", remedy="add one")
    if total > MAX_TESTS:
        raise InputError(f"{total} tests, more than {MAX_TESTS}", field="test_paths", remedy="name fewer files")
    missing = next((name for name in config.chosen if not any(_any_chosen(plan, name) for plan in found)), None)
    if missing is not None:
        raise InputError(f"{missing[:80]!r} names no test", field="test_paths", remedy="a test, as pytest names it")
    return tuple(found)


def _any_chosen(plan: Plan, name: str) -> bool:
    return any(_is_chosen(one, (name,)) for one in plan.expected)


def _is_chosen(test: Expected, chosen: tuple[str, ...]) -> bool:
    """Whether one of these names the test, its function, its class, its file or a folder above."""
    return any(
        test.id == name or test.base == name or test.base.startswith((f"{name}::", f"{name}/")) for name in chosen
    )


def _plan(file: str, tree: Snapshot, config: SuiteConfig) -> Plan:
    counted = count_tests(file, config.files[file])
    names = tuple(dict.fromkeys(one.base.rpartition("::")[2] for one in counted)) or ("test_case",)
    said = run_file(file, tree, config, collect=True, sentinels=names)
    if not _good(said):
        names = ()  # it may be the sentinels that do not fit in
        said = run_file(file, tree, config, collect=True)
    if not _good(said):
        return Plan(file, tuple(counted), names)
    ours = said.sentinels or ()
    places: dict[str, int] = {}
    expected = []
    for kind, *values in said.records:
        if kind != "id":
            continue
        identity, loose, marked, left_out = values
        base = identity.partition("[")[0]
        if base.rpartition("::")[2] in ours:
            continue
        place = places.get(base, 0)
        places[base] = place + 1
        if not left_out:
            expected.append(Expected(identity, base, place, not loose, marked))
    return Plan(file, tuple(expected), names)


def _good(said: Said) -> bool:
    return said.whole and not said.forged and not any(record[0] == "error" for record in said.records)
