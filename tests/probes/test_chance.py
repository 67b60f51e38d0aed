from __future__ import annotations

from typing import Any

import pytest

from lydite.probes.attempt import target_of
from lydite.probes.chance import finding
from lydite.probes.protocol import Level
from lydite.tasksets.documents import parse_task


def call(expected: Any) -> dict[str, Any]:
    return {"call": "f", "args": [1], "expected": expected}


@pytest.mark.parametrize(
    ("kind", "config", "share", "level"),
    [
        ("choice", {"answer": "B"}, 0.25, Level.WARNING),
        ("choice", {"answer": "B", "choices": [str(n) for n in range(10)]}, 0.1, Level.PASSED),
        ("exact", {"answer": "Yes"}, 0.5, Level.WARNING),
        ("code", {"tests": [call(True), call(False), call(True)]}, 0.125, Level.PASSED),
        ("code", {"tests": [call(True), call(True)]}, 1.0, Level.WARNING),
    ],
)
def test_the_chance_level(kind: str, config: dict[str, Any], share: float, level: Level) -> None:
    found = finding(target_of(parse_task({"prompt": "?", "checker": {"type": kind, "config": config}})))
    assert found is not None
    assert (found.share, found.level) == (share, level)
    assert bool(found.told) == (level is Level.WARNING)


@pytest.mark.parametrize(
    ("kind", "config"),
    [("math", {"answer": "12"}), ("exact", {"answer": "Paris"}), ("code", {"tests": [call(3)]})],
)
def test_answers_that_cannot_be_counted_have_none(kind: str, config: dict[str, Any]) -> None:
    assert finding(target_of(parse_task({"prompt": "?", "checker": {"type": kind, "config": config}}))) is None


def test_of_several_parts_the_hardest_to_guess_counts() -> None:
    parts = {"a": {"type": "choice", "config": {"answer": "A"}}, "b": {"type": "exact", "config": {"answer": "yes"}}}
    found = finding(
        target_of(parse_task({"prompt": "?", "checker": {"type": "all_of", "config": {"checkers": parts}}}))
    )
    assert found is not None
    assert found.share == 0.25
    parts["c"] = {"type": "math", "config": {"answer": "12"}}
    assert (
        finding(target_of(parse_task({"prompt": "?", "checker": {"type": "all_of", "config": {"checkers": parts}}})))
        is None
    )
