from __future__ import annotations

from typing import Any

import pytest

from lydite.probes.flips import assertions, flipped
from lydite.probes.twins import Twin, twins
from lydite.tasksets import generate
from lydite.tasksets.documents import parse_task
from lydite.verifiers import verify

ADD = "```python\ndef add(a, b):\n    return a + b\n```"
CALL = {"call": "add", "args": [1, 2], "expected": 3}
HIDDEN = {"call": "add", "args": [5, 5], "expected": 10}


def twin_of(checker: dict[str, Any], solution: Any = None, **fields: Any) -> Twin:
    return next(
        twins([parse_task({"id": "t", "prompt": "Do it.", "checker": checker, "solution": solution, **fields})])
    )


CASES: list[tuple[str, dict[str, Any], Any]] = [
    ("code", {"tests": [CALL, HIDDEN], "visible": [CALL]}, ADD),
    ("code", {"tests": ["assert add(1, 2) == 3", "assert not add(0, 0)"]}, ADD),
    ("code", {"tests": [{"input": "2\n", "expected": "4\n"}]}, "```python\nprint(int(input()) * 2)\n```"),
    ("math", {"answer": "12"}, None),
    ("math", {"answer": "\\frac{1}{3}"}, None),
    ("math", {"answer": "(1, 2)"}, "The point is \\boxed{(1, 2)}."),
    ("exact", {"answer": "Paris"}, None),
    ("regex", {"must_match": ["ab"], "must_not_match": ["b"]}, "^ab$"),
    ("text_transform", {"cases": [{"input": "b,a", "expected": "a"}], "answer": "output"}, "```\na\n```"),
    ("json_schema", {"schema": {"type": "object"}, "expected": {"a": 1}}, '{"a": 1}'),
    ("all_of", {"checkers": {"m": {"type": "math", "config": {"answer": "5"}}}}, "\\boxed{5}"),
]


@pytest.mark.parametrize(("kind", "config", "solution"), CASES)
def test_the_reference_fails_a_twin(kind: str, config: dict[str, Any], solution: Any) -> None:
    found = twin_of({"type": kind, "config": config}, solution)
    assert found.task is not None, found.reason
    assert (found.task.id, found.task.solution, found.task.metadata["twin_of"]) == ("t#twin", None, "t")
    assert found.task.prompt_text == "Do it."
    if solution is not None:
        verdict = verify(found.task, solution)
        assert verdict.score is not None
        assert not verdict.correct


def test_a_hidden_test_is_turned_before_one_that_is_shown() -> None:
    found = twin_of({"type": "code", "config": {"tests": [HIDDEN, CALL], "visible": [CALL]}}, ADD)
    assert found.task is not None
    flip = found.task.metadata["flipped"]
    assert flip == {"field": "checker.config.tests.0.expected", "was": 10, "now": 11}


def test_a_tolerance_is_left_behind() -> None:
    test = {"call": "add", "args": [1, 2], "expected": 3.0, "tolerance": 50.0}
    assert twin_of({"type": "code", "config": {"tests": [test]}}, ADD).task is not None


def test_workspace_tasks_have_twins() -> None:
    hidden = {
        "type": "pytest",
        "config": {"test_paths": ["t"], "files": {"t/test_a.py": "def test():\n    assert open('a').read() == 'x'\n"}},
    }
    found = twin_of(hidden, {"files": {"a": "x"}})
    assert found.task is not None
    assert found.task.metadata["flipped"]["field"] == "checker.config.files.t/test_a.py"
    some = list(twins(generate("files", levels=[1], n=2)))
    assert all(twin.task is not None for twin in some)


@pytest.mark.parametrize(
    ("checker", "solution", "reason"),
    [
        ({"type": "choice", "config": {"answer": "A"}}, "A", "another choice"),
        (
            {
                "type": "sql",
                "config": {"setup": ["create table t(a); insert into t values (1)"], "reference": "select a from t"},
            },
            "select a from t",
            "nothing in sql",
        ),
        ({"type": "code", "config": {"tests": [CALL]}}, None, "no solution and no gold"),
        (
            {"type": "code", "config": {"tests": [CALL]}},
            "```python\ndef add(a, b):\n    return 0\n```",
            "not judged correct",
        ),
    ],
)
def test_why_there_is_none(checker: dict[str, Any], solution: Any, reason: str) -> None:
    found = twin_of(checker, solution)
    assert found.task is None
    assert reason in found.reason


@pytest.mark.parametrize(
    "value", [0, 1.5, True, "x", "", "n = 4", [1], [], {"a": 1}, {}, (1, 2), {1}, None, float("inf")]
)
def test_another_value(value: Any) -> None:
    found = flipped(value)
    assert found != value
    assert value is None or type(found) is type(value)


def test_assertions_are_turned_one_at_a_time() -> None:
    found = [now for _, now, _ in assertions("assert f(1) == [2]\nassert f(2)\nassert not f(3)\n")]
    assert found == ["f(1) == [3]", "f(3)", "not f(2)", "not f(1) == [2]"]


def test_a_guard_is_not_turned_where_a_value_can_be() -> None:
    script = "from pathlib import Path\nassert not Path('a').is_symlink() and Path('a').read_text() == '7'\n"
    found = twin_of({"type": "script", "config": {"script": script}}, {"files": {"a": "7"}})
    assert found.task is not None
    assert "== '8'" in found.task.metadata["flipped"]["now"]
