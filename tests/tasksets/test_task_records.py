"""Rows of known data sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.tasksets import load_tasks, parse_task
from lydite.tasksets.records import CODE_INSTRUCTION, MATH_INSTRUCTION, last_boxed

GSM = {"question": "How many?", "answer": "3 + 1 = <<3+1=4>>4\n#### 1,004"}
HUMANEVAL = {
    "task_id": "HumanEval/0",
    "prompt": "def add(a, b):\n",
    "canonical_solution": "    return a + b\n",
    "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
    "entry_point": "add",
}
MBPP = {
    "task_id": 601,
    "text": "Write a function to add.",
    "code": "import math\ndef helper(x):\n    return x\ndef add(a, b):\n    return helper(a) + b",
    "test_list": ["assert add(1, 2) == 3", "assert add(0, 0) == 0"],
    "test_setup_code": "",
    "challenge_test_list": [],
}
SANITIZED = {
    "source_file": "x.ipynb",
    "task_id": 2,
    "prompt": "Write a function to add.",
    "code": "def add(a, b):\n    return a + b",
    "test_imports": ["import math"],
    "test_list": ["assert math.isclose(add(1, 2), 3)"],
}


def test_gsm8k() -> None:
    task = parse_task(GSM)
    assert task.prompt_text == f"How many?\n\n{MATH_INSTRUCTION}"
    assert (task.checker.type, task.checker.config) == ("math", {"answer": "1,004"})
    assert task.solution == GSM["answer"]
    assert task.metadata == {"source": "gsm8k", "question": "How many?"}
    assert task.env == "none"


@pytest.mark.parametrize(
    ("row", "gold"),
    [
        ({"solution": "so \\boxed{\\frac{1}{2}}."}, "\\frac{1}{2}"),
        ({"solution": "\\boxed{1} no, \\boxed{2}"}, "2"),
        ({"solution": "\\boxed{2}", "answer": "3"}, "3"),
        ({"answer": 204}, "204"),
    ],
)
def test_math_gold(row: dict[str, Any], gold: str) -> None:
    assert parse_task({"problem": "p", **row}).checker.config == {"answer": gold}


def test_math_labels_and_columns() -> None:
    row = {"problem": "p", "solution": "\\boxed{1}", "level": "Level 5", "type": "Algebra"}
    task = parse_task(row)
    assert task.difficulty == "level-5"
    assert task.metadata == {"source": "math", "level": "Level 5", "type": "Algebra", "question": "p"}
    assert parse_task({**row, "level": "Level ?"}).difficulty == ""
    assert parse_task({**row, "unique_id": "test/algebra/1.json"}).id == "test/algebra/1.json"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("\\boxed{a}", "a"),
        ("\\fbox{a}", "a"),
        ("\\boxed{ {a} }", "{a}"),
        ("\\boxed{\\{1, 2\\}}", "\\{1, 2\\}"),
        ("\\boxed 5$", "5"),
        ("\\boxed{1} \\fbox{2}", "2"),
        ("\\boxed{a", None),
        ("no box", None),
        ("\\boxed", None),
    ],
)
def test_last_boxed(text: str, content: str | None) -> None:
    assert last_boxed(text) == content


@given(
    st.recursive(st.text("ab1", max_size=3), lambda x: st.lists(x, max_size=3).map(lambda i: "{" + "".join(i) + "}"))
)
def test_any_balanced_content_of_a_box_is_found(content: str) -> None:
    assert last_boxed(f"\\boxed{{0}} so $\\boxed{{{content}}}$.") == content


def test_humaneval() -> None:
    task = parse_task(HUMANEVAL)
    assert task.id == "HumanEval/0"
    assert task.prompt_text == HUMANEVAL["prompt"]
    assert task.solution == "def add(a, b):\n    return a + b\n"
    assert task.checker.config["entry_point"] == "add"
    (test,) = task.checker.config["tests"]
    assert test.endswith("\ncheck(add)\n")


def test_mbpp_shows_one_test_and_grades_by_all() -> None:
    task = parse_task(MBPP)
    assert task.id == "MBPP/601"
    assert task.checker.config["tests"] == MBPP["test_list"]
    assert task.checker.config["visible"] == MBPP["test_list"][:1]
    assert task.checker.config["entry_point"] == "add"
    assert task.prompt_text == f"{MBPP['text']}\n\n{CODE_INSTRUCTION}\n\nassert add(1, 2) == 3"
    assert "add(0, 0)" not in task.prompt_text
    assert task.metadata["question"] == MBPP["text"]


def test_sanitized_mbpp_imports_stand_before_each_test() -> None:
    assert parse_task(SANITIZED).checker.config["tests"] == ["import math\nassert math.isclose(add(1, 2), 3)"]


def test_mbpp_setup_code_stands_before_each_test() -> None:
    task = parse_task({**MBPP, "test_setup_code": "x = 1"})
    assert all(test.startswith("x = 1\nassert") for test in task.checker.config["tests"])


def test_an_unparsable_reference_leaves_the_entry_point_open() -> None:
    assert "entry_point" not in parse_task({**MBPP, "code": "def add(a, b"}).checker.config


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"question": "q"}, "answer"),
        ({"question": "q", "answer": "42"}, "answer"),
        ({"question": "q", "answer": "work ####  "}, "answer"),
        ({"question": "", "answer": "#### 1"}, "question"),
        ({"question": 3, "answer": "#### 1"}, "question"),
        ({"problem": "p"}, "solution"),
        ({"problem": "p", "solution": "no box"}, "solution"),
        ({"problem": "p", "solution": "\\boxed{1"}, "solution"),
        ({"problem": "p", "answer": ["1"]}, "answer"),
        ({**HUMANEVAL, "test": None}, "test"),
        ({**HUMANEVAL, "entry_point": "a b"}, "entry_point"),
        ({k: v for k, v in HUMANEVAL.items() if k != "canonical_solution"}, "canonical_solution"),
        ({k: v for k, v in MBPP.items() if k != "code"}, "code"),
        ({**MBPP, "test_list": []}, "test_list"),
        ({**MBPP, "test_list": [3]}, "test_list.0"),
        ({**MBPP, "test_list": "assert"}, "test_list"),
    ],
)
def test_a_row_that_lacks_something_names_the_field(row: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_task(row)
    assert caught.value.field == field
    assert caught.value.remedy


def test_a_document_with_a_checker_is_never_taken_for_a_row() -> None:
    with pytest.raises(InputError, match="question"):
        parse_task({"question": "q", "checker": {"type": "math", "config": {"answer": "1"}}})


@pytest.mark.parametrize(("name", "count"), [("train", 7473), ("test", 1319)])
def test_gsm8k_as_published(shared: Path, name: str, count: int) -> None:
    file = shared / "data" / f"gsm8k_{name}.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    tasks = load_tasks(file)
    assert len(tasks) == len(rows) == count
    for task, row in zip(tasks, rows, strict=True):
        assert task.checker.config == {"answer": row["answer"].split("#### ")[1]}
        assert task.metadata["question"] == row["question"]
        assert task.solution == row["answer"]


def test_humaneval_as_published(shared: Path) -> None:
    tasks = load_tasks(shared / "data" / "HumanEval.jsonl.gz")
    assert [task.id for task in tasks] == [f"HumanEval/{index}" for index in range(164)]
    for task in tasks:
        (test,) = task.checker.config["tests"]
        compile(str(task.solution), task.id, "exec")
        compile(test, task.id, "exec")
        assert f"def {task.checker.config['entry_point']}(" in task.prompt_text
