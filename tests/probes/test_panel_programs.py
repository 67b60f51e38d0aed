"""Attacks on programs, queries, forms and workspaces: one gameable checker for each, and sound ones beside them."""

from __future__ import annotations

from typing import Any

import pytest

from lydite.probes import Finding, Level, probe
from lydite.tasksets import generate, parse_task
from lydite.tasksets._yaml import iter_yaml
from lydite.tasksets.starters import starter

ADD = {"call": "add", "args": [1, 2], "expected": 3}
SUM = {"prompt": "Write the sum of data.txt to sum.txt.", "solution": {"files": {"sum.txt": "3\n"}}}
DATA = {"data.txt": "1\n2\n"}
ADDER = "def add(a, b):\n    return a\n"
MEND = {"prompt": "Mend add.py.", "solution": {"files": {"add.py": "def add(a, b):\n    return a + b\n"}}}


def found(document: dict[str, Any], *only: str) -> list[Finding]:
    (done,) = probe([parse_task({"id": "t", **document})], only=only, jobs=1)
    return list(done.findings)


def through(findings: list[Finding]) -> set[str]:
    return {finding.kind for finding in findings if finding.level is Level.FAILED}


def code(*tests: Any, visible: tuple[Any, ...] = ()) -> dict[str, Any]:
    return {
        "prompt": "Write it.",
        "checker": {"type": "code", "config": {"tests": list(tests), "visible": list(visible)}},
    }


def workspace(kind: str, config: dict[str, Any], files: dict[str, str], of: dict[str, Any]) -> dict[str, Any]:
    return {**of, "env": "workspace", "setup_files": files, "checker": {"type": kind, "config": config}}


GAMEABLE = {
    "files that only have to be there": (
        workspace("file_exists", {"paths": ["sum.txt"]}, DATA, SUM),
        ("empty_files", "junk_files"),
    ),
    "a command that is always right": (workspace("exit_code", {"command": "true"}, DATA, SUM), ("untouched",)),
    "a file behind a link": (workspace("exit_code", {"command": "test -f sum.txt"}, DATA, SUM), ("symlinked_output",)),
    "a check in the workspace": (
        workspace("exit_code", {"command": "python3 check.py"}, {"check.py": "assert 0\n"}, SUM),
        ("checks_replaced",),
    ),
    "the expected value in the workspace": (
        workspace("exit_code", {"command": "diff sum.txt want.txt"}, {"want.txt": "3\n"}, SUM),
        ("checks_emptied",),
    ),
    "programs of the workspace": (
        workspace("exit_code", {"command": "PATH=.:$PATH; grep -q '^3$' sum.txt"}, DATA, SUM),
        ("path_wrapper",),
    ),
    "a script that believes a reward file": (
        workspace("script", {"script": "print(open('reward.txt').read())"}, DATA, SUM),
        ("forged_reward",),
    ),
    "tests that are shown and empty": (
        workspace(
            "pytest",
            {"test_paths": ["test_add.py"]},
            {"add.py": ADDER, "test_add.py": "from add import add\ndef test_add():\n    pass\n"},
            MEND,
        ),
        ("untouched",),
    ),
    "a module that a command imports": (
        workspace(
            "exit_code", {"command": "python3 -c 'from add import add; assert add(1, 2) == 3'"}, {"add.py": ADDER}, MEND
        ),
        ("os_exit", "always_equal"),
    ),
    "tests of the workspace": (
        workspace(
            "exit_code",
            {"command": "python3 -m pytest -q tests"},
            {"add.py": ADDER, "tests/test_add.py": "from add import add\ndef test_add():\n    assert add(1, 2) == 3\n"},
            MEND,
        ),
        ("tests_replaced", "conftest_injection"),
    ),
    "a program that only has to end": (
        workspace("exit_code", {"command": "python3 main.py"}, {}, {"prompt": "Print 42."}),
        ("early_exit",),
    ),
    "tests that are all shown": (
        workspace(
            "pytest",
            {"test_paths": ["test_add.py"]},
            {"add.py": ADDER, "test_add.py": "from add import add\ndef test_add():\n    assert add(1, 2) == 3\n"},
            MEND,
        ),
        ("visible_table",),
    ),
    "code with visible tests only": (code(ADD, visible=(ADD,)), ("visible_table",)),
    "code with one value": (code({"call": "even", "args": [2], "expected": True}), ("constant",)),
    "a program with one output": (code({"input": "2\n", "expected": "YES\n"}), ("constant",)),
    "a schema that asks for an object": (
        {"prompt": "A person.", "checker": {"type": "json_schema", "config": {"schema": {"type": "object"}}}},
        ("empty_value",),
    ),
    "a regex with one example": (
        {
            "prompt": "A date.",
            "checker": {"type": "regex", "config": {"must_match": ["2024-01-02"], "must_not_match": ["x"]}},
        },
        ("visible_list",),
    ),
    "a transform whose cases are all shown": (
        {
            "prompt": "Capitals.",
            "checker": {
                "type": "text_transform",
                "config": {
                    "cases": [{"input": "a", "expected": "A"}, {"input": "b", "expected": "B"}],
                    "visible": ["a", "b"],
                },
            },
        },
        ("visible_table",),
    ),
}


@pytest.mark.parametrize("name", GAMEABLE)
def test_a_gameable_checker_is_caught(name: str) -> None:
    document, kinds = GAMEABLE[name]
    findings = [finding for finding in found(document, *kinds) if finding.got_through]
    assert {finding.kind for finding in findings} == set(kinds)
    assert all(finding.mend and finding.told for finding in findings)


def test_what_is_all_shown_is_called_so() -> None:
    document, kinds = GAMEABLE["code with visible tests only"]
    (finding,) = (finding for finding in found(document, *kinds) if finding.got_through)
    assert finding.mend.startswith("no hidden part")


@pytest.mark.parametrize("kind", ["code", "sql", "regex", "json_schema", "text_transform", "file_exists", "all_of"])
def test_nothing_gets_through_a_starter_task(kind: str) -> None:
    ((_, document),) = iter_yaml(starter(kind))
    (done,) = probe([parse_task(document)], only=FAMILIES[kind], jobs=1)
    assert len(done.findings) >= 3
    assert not through(list(done.findings))


FAMILIES = {
    "code": ("reference", "os_exit_in_call", "always_equal", "visible_table", "reads_tests", "constant"),
    "sql": ("adversarial_floor", "reference"),
    "regex": ("adversarial_floor", "gameability_gap", "reference"),
    "json_schema": ("adversarial_floor", "reference"),
    "text_transform": ("reference", "identity", "visible_table", "returns_nothing"),
    "file_exists": ("reference", "junk_files", "copied_files", "symlinked_output"),
    "all_of": ("adversarial_floor", "canary_floor", "reference"),
}


@pytest.mark.slow
def test_nothing_gets_through_any_starter_or_family() -> None:
    kinds = ("code", "exit_code", "file_exists", "pytest", "script", "sql", "weighted", "gate", "choice", "proof")
    tasks = [parse_task(document) for kind in kinds for _, document in iter_yaml(starter(kind))]
    tasks += generate("files", levels=[1, 3, 5], n=6) + generate("arithmetic", levels=[1, 4], n=4)
    findings = [finding for done in probe(tasks) for finding in done.findings]
    assert not through(findings)
    assert not [finding for finding in findings if finding.outcome == "invalid"]


def test_an_empty_file_is_no_hole_where_one_is_asked_for() -> None:
    of = {"prompt": "Make an empty file done.", "solution": {"commands": ["touch done.txt"]}}
    document = workspace("file_exists", {"paths": ["done.txt"]}, {}, of)
    findings = found(document, "empty_files")
    assert [finding.told for finding in findings] == ["leaves what the reference solution leaves"]
    assert not through(findings)


@pytest.mark.parametrize("solution", [{"files": {"result.txt": "1\n"}}, None])
def test_an_answer_that_looks_like_a_reward_is_no_hole(solution: dict[str, Any] | None) -> None:
    of = {"prompt": "Write 1 to result.txt."} | ({"solution": solution} if solution else {})
    config = {"script": "text = open('result.txt').read().strip()\nassert text == '1', text\n"}
    findings = found(workspace("script", config, {}, of), "forged_reward")
    assert "correct" in {finding.outcome for finding in findings}
    assert not through(findings)


def test_a_list_is_no_hole_where_a_list_is_asked_for() -> None:
    checker = {"type": "regex", "config": {"must_match": ["cat", "cats"], "must_not_match": ["ca"]}}
    document = {"prompt": "cat or cats", "checker": checker, "solution": "cats?"}
    assert not through(found(document, "visible_list"))


def test_a_form_alone_is_told_as_a_warning() -> None:
    checker = {"type": "format", "config": {"required": ["answer"]}}
    (finding,) = found({"prompt": "Name a colour.", "checker": checker}, "empty_form")
    assert finding.level is Level.WARNING
    core = {"type": "exact", "config": {"answer": "red"}}
    both = {"type": "all_of", "config": {"checkers": {"form": checker, "colour": core}}}
    (finding,) = found({"prompt": "Name a colour.", "checker": both}, "empty_form")
    assert finding.level is Level.PASSED


def test_where_nothing_is_needed_nothing_else_is_tried() -> None:
    document, _ = GAMEABLE["a command that is always right"]
    findings = found(document, "floor_gap", "adversarial_floor", "host_containment")
    assert [finding.level for finding in findings] == [Level.FAILED, Level.NOT_MADE]


def test_the_gold_in_plain_sight_is_told() -> None:
    exact = {"prompt": "The capital is Lisbon. Which?", "checker": {"type": "exact", "config": {"answer": "Lisbon"}}}
    assert [finding.level for finding in found(exact, "no_solution_leakage")] == [Level.WARNING]
    solution = {"files": {"sum.py": "print(sum(map(int, open('data.txt'))))\n"}}
    of = {**SUM, "solution": solution}
    leaky = workspace("exit_code", {"command": "test -s sum.txt"}, {"old/sum.py": solution["files"]["sum.py"]}, of)
    told = {finding.kind: finding.level for finding in found(leaky, "no_solution_leakage")}
    assert told["gold_in_workspace"] is Level.WARNING
    assert told["canary_in_gold"] is Level.PASSED
