"""What a policy can read and reach: one bad task, and one good one, for each thing that lint says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lydite.tasksets import parse_task
from lydite.tasksets.lint import lint_files, lint_tasks

TEST = "from app import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n    assert add(40, 2) == 42\n"
SCRIPT = "assert open('out.txt').read() == 'forty two'\n"


def document(kind: str, config: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "a", "prompt": "Do it.", "checker": {"type": kind, "config": config}, **more}


def found(kind: str, config: dict[str, Any], **more: Any) -> list[tuple[str, str | None]]:
    return [(item.rule, item.field) for item in lint_tasks([parse_task(document(kind, config, **more))])]


@pytest.mark.parametrize(
    ("config", "more", "field"),
    [
        ({"test_paths": ["t.py"]}, {"setup_files": {"t.py": TEST}}, "checker.config.files"),
        ({"test_paths": ["t.py"], "files": {"t.py": TEST}}, {"setup_files": {"./t.py": TEST}}, "checker.config.files"),
    ],
)
def test_tests_that_the_policy_can_all_read(config: dict[str, Any], more: dict[str, Any], field: str) -> None:
    assert found("pytest", config, **more) == [("no_hidden_part", field)]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"setup_files": {"t.py": TEST.replace("42", "43")}},
        {"setup_files": {"app.py": "def add(a, b):\n    return a\n"}},
        {"prompt": "Make add(2, 3) == 5 true: assert add(2, 3) == 5"},
    ],
)
def test_tests_that_are_hidden(more: dict[str, Any]) -> None:
    assert found("pytest", {"test_paths": ["t.py"], "files": {"t.py": TEST}}, **more) == []


@pytest.mark.parametrize("text", ["assert add(2, 3) == 5, assert add(40, 2) == 42", f"See:\n{TEST}"])
def test_what_hidden_tests_assert_in_the_prompt(text: str) -> None:
    assert found("pytest", {"test_paths": ["t.py"], "files": {"t.py": TEST}}, prompt=text) == [
        ("gold_in_prompt", "prompt")
    ]


def test_what_hidden_tests_assert_in_the_set_up() -> None:
    copied = {"notes/old_test.py": TEST.replace("test_add", "test_old")}
    config = {"test_paths": ["t.py"], "files": {"t.py": TEST}}
    assert found("pytest", config, setup_files=copied) == [("gold_in_setup", "setup_files")]


def test_a_graders_script_in_the_set_up() -> None:
    assert found("script", {"script": SCRIPT}, setup_files={"check.py": f"#!\n{SCRIPT}"}) == [
        ("gold_in_setup", "setup_files")
    ]
    assert found("script", {"script": SCRIPT}, setup_files={"out.txt": "forty two"}) == []


def test_a_part_of_a_composite_is_named() -> None:
    part = {"type": "pytest", "config": {"test_paths": ["t.py"]}}
    config = {"checkers": {"tests": part, "made": {"type": "file_exists", "config": {"paths": ["/out"]}}}}
    assert found("all_of", config, setup_files={"t.py": TEST}) == [
        ("no_hidden_part", "checker.config.checkers.tests.config.files"),
        ("outside_workspace", "checker.config.checkers.made.config.paths.0"),
    ]


@pytest.mark.parametrize(
    ("config", "prompt"),
    [
        ({"tests": ["assert f(1) == 2"], "visible": ["assert f(1) == 2"]}, "Write f."),
        ({"tests": [{"input": "7", "expected": "14"}], "visible": [{"input": "7", "expected": "14"}]}, "Double."),
        ({"tests": [{"input": "7", "expected": "14"}]}, "Double it: 7 becomes 14."),
        ({"tests": [{"call": "f", "args": [3, "x"], "expected": [9]}]}, "f(3, 'x') is [9]."),
    ],
)
def test_code_whose_tests_can_all_be_seen(config: dict[str, Any], prompt: str) -> None:
    assert found("code", config, prompt=prompt) == [("no_hidden_part", "checker.config.tests")]


@pytest.mark.parametrize(
    "tests",
    [
        [{"input": "7", "expected": "14"}, {"input": "8", "expected": "16"}],
        [{"input": "7", "expected": "1"}],
        [{"input": "", "expected": "14"}, "assert f() == 15"],
    ],
)
def test_code_with_something_hidden(tests: list[Any]) -> None:
    assert found("code", {"tests": tests}, prompt="Double it: 7 becomes 14.") == []


def test_cases_of_a_transform_that_can_all_be_seen() -> None:
    cases = [{"input": "ada", "expected": "ADA"}]
    assert found("text_transform", {"cases": cases}, prompt="Like ada to ADA.") == [
        ("no_hidden_part", "checker.config.cases")
    ]


@pytest.mark.parametrize(
    ("config", "prompt", "bad"),
    [
        ({"must_match": ["ab1"], "must_not_match": ["a"], "visible": ["ab1", "a"]}, "Match it.", True),
        ({"must_match": ["ab1"], "must_not_match": ["abc"]}, "Match ab1, not abc.", True),
        ({"must_match": ["ab1", "cd2"], "must_not_match": ["abc"], "visible": ["ab1"]}, "Match ab1, not abc.", False),
    ],
)
def test_texts_of_an_expression_that_can_all_be_seen(config: dict[str, Any], prompt: str, bad: bool) -> None:
    assert found("regex", config, prompt=prompt) == [("no_hidden_part", "checker.config.must_match")] * bad


def test_visible_inputs_of_a_transform() -> None:
    cases = [{"input": "ada", "expected": "ADA"}, {"input": "bob", "expected": "BOB"}]
    assert found("text_transform", {"cases": cases, "visible": ["ada", "bob"]}) == [
        ("no_hidden_part", "checker.config.cases")
    ]
    assert found("text_transform", {"cases": cases, "visible": ["ada"]}) == []


@pytest.mark.parametrize(
    "command", ["sh check.sh", "python3 ./check.py", "cd .; bash -e check.sh && true", "./check.sh", "sh check.sh\n"]
)
def test_a_command_that_only_runs_what_the_policy_can_rewrite(command: str) -> None:
    files = {"check.sh": "exit 1\n", "check.py": "1\n"}
    assert found("exit_code", {"command": command}, setup_files=files) == [("no_hidden_part", "checker.config.command")]


@pytest.mark.parametrize(
    "command",
    [
        'test "$(python3 check.py)" = 3',
        "python3 check.py | grep -q 3",
        "grep -q x check.py",
        "python3 check.py && test -f out.txt",
        "python3 -c 'import check'",
        "sh other.sh",
        "true",
    ],
)
def test_a_command_that_looks_at_something(command: str) -> None:
    assert found("exit_code", {"command": command}, setup_files={"check.py": "print(1)\n"}) == []


@pytest.mark.parametrize(
    ("kind", "config", "field"),
    [
        ("file_exists", {"paths": ["out", "/out"]}, "paths.1"),
        ("file_exists", {"paths": ["../out"]}, "paths.0"),
        ("pytest", {"test_paths": ["/tests"], "files": {"t.py": TEST}}, "test_paths.0"),
        ("pytest", {"test_paths": ["t.py"], "files": {"../t.py": TEST}}, "files.../t.py"),
    ],
)
def test_paths_of_a_checker_outside_of_the_workspace(kind: str, config: dict[str, Any], field: str) -> None:
    assert found(kind, config) == [("outside_workspace", f"checker.config.{field}")]


@pytest.mark.parametrize(
    ("prompt", "command", "field"),
    [
        ("Write x to /app/out.txt.", "grep x out.txt", "prompt"),
        ("Look at `/home/me`.", "grep x out.txt", "prompt"),
        ("Write x.", "grep x /data/out.txt", "checker.config.command"),
    ],
)
def test_paths_that_no_workspace_has(prompt: str, command: str, field: str) -> None:
    assert found("exit_code", {"command": command}, prompt=prompt) == [("outside_workspace", field)]


@pytest.mark.parametrize("prompt", ["Run /usr/bin/env.", "Serve GET /api/data.", "and/or, 1/2", "src/app/x", "/apple"])
def test_paths_that_mean_something_else(prompt: str) -> None:
    assert found("exit_code", {"command": "grep x out.txt"}, prompt=prompt) == []


def test_findings_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    good = document("script", {"script": SCRIPT})
    bad = document("file_exists", {"paths": ["/x"]}, prompt="Else.")
    path.write_text("".join(json.dumps({**item, "id": str(at)}) + "\n" for at, item in enumerate([good, bad])))
    (finding,) = lint_files(path)
    assert (finding.rule, finding.line, finding.task) == ("outside_workspace", 2, "1")
    assert str(finding).startswith(f"{path}:2: 1: checker.config.paths.0: '/x' leads out of the workspace")


def test_a_file_outside_of_the_workspace_is_malformed(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(document("script", {"script": SCRIPT}, setup_files={"../x": ""})) + "\n")
    (finding,) = lint_files(path)
    assert (finding.rule, finding.line, finding.field) == ("malformed", 1, "setup_files.../x")
