"""What is only learnt by setting a task up: that nothing passes for nothing, and that the reference solves it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lydite.probes.bench import Bench, bench
from lydite.probes.sound import judged
from lydite.sampling import Judge
from lydite.tasksets import parse_task
from lydite.tasksets.lint import lint_files

GOOD: dict[str, Any] = {
    "prompt": "Write red to a.txt.",
    "setup_files": {"b.txt": "blue"},
    "checker": {"type": "exit_code", "config": {"command": 'test "$(cat a.txt)" = red && test -f b.txt'}},
    "solution": {"files": {"a.txt": "red\n"}},
}


@pytest.fixture(scope="module")
def own() -> Iterator[Bench]:
    with bench() as made:
        yield made


def found(own: Bench, tmp_path: Path, change: dict[str, Any]) -> list[tuple[str, str | None]]:
    path = tmp_path / "t.json"
    path.write_text(json.dumps({**GOOD, **change}))
    judge = Judge()
    return [(item.rule, item.field) for item in lint_files(path, rule=lambda task: judged(task, judge, own))]


def script(text: str) -> dict[str, Any]:
    return {"type": "script", "config": {"script": text}}


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({}, None),
        ({"setup_commands": ["false"]}, ("setup_fails", "setup_commands.0")),
        ({"setup_commands": ["true", "cat nothing"]}, ("setup_fails", "setup_commands.1")),
        ({"checker": script("print(1.0)")}, ("passes_untouched", "checker")),
        ({"setup_commands": ["echo red > a.txt"]}, ("passes_untouched", "checker")),
        ({"setup_files": {"a.txt": "red", "b.txt": ""}}, ("passes_untouched", "checker")),
        (
            {"checker": {"type": "file_exists", "config": {"paths": ["a.txt", "b.txt"]}}},
            ("scores_untouched", "checker"),
        ),
        ({"solution": {"files": {"a.txt": "blue"}}}, ("solution", "solution")),
        ({"solution": {"commands": ["echo red > a.txt", "cat nothing"]}}, ("solution", "solution.commands.1")),
        ({"solution": {"files": {"b.txt/a.txt": "x"}}}, ("solution", "solution.files.b.txt/a.txt")),
        ({"solution": {"commands": ["echo red > a.txt; rm b.txt"]}}, ("solution", "solution")),
        ({"solution": None}, None),
        ({"checker": script("1 +")}, ("checker", "checker.config.script")),
        ({"checker": script("assert open('a.txt').read() == 'red\\n'")}, None),
    ],
)
def test_one_bad_task_for_each_rule(
    own: Bench, tmp_path: Path, change: dict[str, Any], finding: tuple[str, str] | None
) -> None:
    assert found(own, tmp_path, change) == ([] if finding is None else [finding])


@pytest.mark.parametrize(
    ("checker", "finding"),
    [
        ({"type": "regex", "config": {"must_match": ["a"], "must_not_match": ["b"]}}, []),
        ({"type": f"{__file__}:anything", "config": {}}, [("passes_untouched", "checker")]),
    ],
)
def test_an_answer_of_nothing(own: Bench, tmp_path: Path, checker: dict[str, Any], finding: list[Any]) -> None:
    document = {"prompt": "Match a letter.", "checker": checker, "setup_files": None, "solution": None}
    assert found(own, tmp_path, document) == finding


def anything(submission: Any, config: Any) -> bool:
    return True


def test_the_untouched_workspace_stays_as_it_was(own: Bench) -> None:
    task = parse_task({**GOOD, "setup_commands": ["echo x > c.txt"]})
    state = own.untouched(task)
    assert state is not None
    assert state.files == {"b.txt": b"blue", "c.txt": b"x\n"}
    assert own.solved(task, state).files == {"a.txt": b"red\n", "b.txt": b"blue", "c.txt": b"x\n"}
    assert own.untouched(task) == state


def test_a_solution_in_words_is_judged_as_an_answer(own: Bench) -> None:
    math = {"type": "math", "config": {"answer": "4"}}
    for env in ("none", "workspace"):
        task = parse_task({"prompt": "2 + 2?", "env": env, "checker": math, "solution": "\\boxed{4}"})
        verdict = own.judged(task, own.untouched(task))
        assert verdict is not None
        assert verdict.score == 1


def test_a_script_among_the_files_of_a_solution_can_be_run(own: Bench, tmp_path: Path) -> None:
    solution = {"files": {"x.sh": "#!/bin/sh\necho red > a.txt\n"}, "commands": ["./x.sh"]}
    assert found(own, tmp_path, {"solution": solution}) == []
