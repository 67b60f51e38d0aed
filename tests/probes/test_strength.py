from __future__ import annotations

from typing import Any

import pytest

from lydite.errors import InputError
from lydite.probes.neighbours import near, near_text
from lydite.probes.strength import Strength, overall, strength
from lydite.task import Task
from lydite.tasksets.documents import parse_task

SIGN = "```python\ndef sign(x):\n    if x > 0:\n        return 1\n    if x < 0:\n        return -1\n    return 0\n```"


def task(tests: list[Any], solution: Any = SIGN, **config: Any) -> Task:
    checker = {"type": "code", "config": {"tests": tests, **config}}
    return parse_task({"prompt": "Write sign(x).", "checker": checker, "solution": solution})


def calls(*values: int) -> list[dict[str, Any]]:
    return [{"call": "sign", "args": [x], "expected": (x > 0) - (x < 0)} for x in values]


def test_tests_of_every_border_kill_everything_that_is_a_fault() -> None:
    found = strength(task(calls(5, -5, 0, 1, -1)))
    assert found.killed > 10
    assert found.range is not None
    assert found.range[1] == 1.0
    assert not any(survivor.proven for survivor in found.survivors)


def test_a_survivor_is_shown_with_the_test_that_is_missing() -> None:
    found = strength(task(calls(5, -5)))
    missing = next(survivor for survivor in found.survivors if survivor.told.endswith("return 0 → return None"))
    assert (missing.input, missing.reference, missing.mutant) == ("sign(0)", "0", "None")
    assert found.range is not None
    assert found.range[1] < 1.0


def test_what_may_be_equivalent_widens_the_range() -> None:
    solution = "```python\ndef double(x):\n    if x == 0:\n        return 0\n    return x * 2\n```"
    tests = [{"call": "double", "args": [x], "expected": 2 * x} for x in (0, 1, -1, 5)]
    found = strength(task(tests, solution))
    undecided = [survivor for survivor in found.survivors if not survivor.proven]
    assert any("x == 0 → False" in survivor.told for survivor in undecided)
    assert found.range is not None
    assert found.range[0] < found.range[1] == 1.0


def test_assert_source_and_programs_are_weighed_too() -> None:
    asserts = strength(task(["assert sign(5) == 1\nassert sign(-5) == -1"], entry_point="sign"))
    assert any(survivor.input == "sign(0)" for survivor in asserts.survivors)
    program = "```python\nn = int(input())\nprint('big' if n > 100 else 'small')\n```"
    printed = strength(
        task([{"input": "5\n", "expected": "small\n"}, {"input": "500\n", "expected": "big\n"}], program)
    )
    assert printed.killed
    assert any(not survivor.proven for survivor in printed.survivors)


def test_a_mutant_that_never_ends_is_killed() -> None:
    solution = "```python\ndef count(n):\n    i = 0\n    while i < n:\n        i += 1\n    return i\n```"
    found = strength(task([{"call": "count", "args": [3], "expected": 3}], solution))
    assert not any("i += 1" in survivor.told for survivor in found.survivors)


@pytest.mark.parametrize(
    ("solution", "reason"),
    [
        (None, "no solution"),
        ("```python\ndef sign(x):\n    return 1\n```", "the reference solution is not judged correct"),
    ],
)
def test_why_none_was_tried(solution: Any, reason: str) -> None:
    found = strength(task(calls(1, -1), solution))
    assert (found.reason, found.range) == (reason, None)


def test_a_task_without_code_has_nothing_to_weigh() -> None:
    asked = parse_task({"prompt": "?", "checker": {"type": "math", "config": {"answer": "2"}}, "solution": "2"})
    assert strength(asked).reason == "no code checker"


def test_the_same_mutants_are_drawn_each_time_and_the_rest_is_counted() -> None:
    one, two = strength(task(calls(5, -5, 0)), 4), strength(task(calls(5, -5, 0)), 4)
    assert one == two
    assert one.killed + len(one.survivors) == 4
    assert one.untried > 0
    with pytest.raises(InputError, match="limit"):
        strength(task(calls(5)), 0)


def test_the_strength_of_several_is_of_all_mutants() -> None:
    assert overall([Strength(task="a", killed=3), Strength(task="b", reason="no solution")]) == (1.0, 1.0)
    assert overall([]) is None


@pytest.mark.parametrize("value", [0, 7, -2.5, True, "abc", "", [1, 2], [], (1,), {"a": 1}, {1, 2}])
def test_neighbours_are_others_of_the_same_type(value: Any) -> None:
    found = list(near(value))
    assert found
    assert all(type(one) is type(value) and one != value for one in found)


def test_neighbours_of_a_text_keep_its_lines() -> None:
    assert "3 5\nab\n" in list(near_text("3 4\nab\n"))
    assert "3 4\nba\n" in list(near_text("3 4\nab\n"))
