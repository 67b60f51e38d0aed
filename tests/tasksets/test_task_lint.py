"""What lint finds, and what it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lydite.rollout import Message
from lydite.task import Checker, Task
from lydite.tasksets import generate
from lydite.tasksets.lint import Finding, lint_files, lint_tasks


def task(prompt: str = "What is 2 + 2?", kind: str = "math", name: str = "a", **more: Any) -> Task:
    config = more.pop("config", {"answer": "4"})
    return Task(
        id=name,
        prompt=(Message(role="user", content=prompt),),
        checker=Checker(type=kind, config=config),
        **more,
    )


def rules(*tasks: Task) -> list[str]:
    return [finding.rule for finding in lint_tasks(tasks)]


def test_good_tasks_have_no_findings() -> None:
    assert rules(task()) == []
    assert rules(*generate("arithmetic", levels=[1, 2, 3, 4, 5, 6], n=120, seed=0)) == []


@pytest.mark.parametrize(
    ("prompt", "kind", "config", "solution"),
    [
        ("What is 2 + 2? The answer is 4.", "math", {"answer": "4"}, None),
        ("2 + 2? Answer: $4", "math", {"answer": 4}, None),
        ("2 + 2? \\boxed{4}", "math", {"answer": "4"}, None),
        ("... #### 4", "math", {"answer": "4"}, None),
        ("The capital of France (Paris)?", "exact", {"answer": "Paris"}, None),
        ("Do it. assert add(1, 2) == 3 must hold", "code", {"tests": ["assert add(1, 2) == 3"]}, None),
        ("Write: select count(*) from t where x > 3", "sql",
         {"setup": ["create"], "reference": "select count(*) from t where x > 3"}, None),
        ("Well: 2 and 2 make 4, so \\boxed{4}", "math", {"answer": "5"}, "2 and 2 make 4, so \\boxed{4}"),
        ("2 + 2? The answer is 4.", "all_of", {"checkers": {"x": {"type": "math", "config": {"answer": "4"}}}}, None),
        ("run def test_a(): assert add(1, 2) == 3", "pytest",
         {"test_paths": ["t"], "files": {"t.py": "def test_a(): assert add(1, 2) == 3"}}, None),
    ],
)  # fmt: skip
def test_a_gold_in_the_prompt(prompt: str, kind: str, config: dict[str, Any], solution: str | None) -> None:
    env = "workspace" if kind == "pytest" else "none"
    assert rules(task(prompt, kind, config=config, solution=solution, env=env)) == ["gold_in_prompt"]


@pytest.mark.parametrize(
    ("prompt", "kind", "config"),
    [
        ("Tom has 4 apples and eats none. How many?", "math", {"answer": "4"}),
        ("The answer is 45 less than what?", "math", {"answer": "4"}),
        ("Paris or London?", "exact", {"answer": "Paris", "choices": ["Paris", "London"]}),
        ("It must pass: assert add(1, 2) == 3", "code",
         {"tests": ["assert add(1, 2) == 3", "assert add(0, 5) == 5"], "visible": ["assert add(1, 2) == 3"]}),
        ("Parisians live where?", "exact", {"answer": "Paris"}),
    ],
)  # fmt: skip
def test_a_text_that_gives_nothing_away(prompt: str, kind: str, config: dict[str, Any]) -> None:
    assert rules(task(prompt, kind, config=config)) == []


def test_an_empty_prompt() -> None:
    assert rules(task(" ")) == ["empty_prompt"]


@pytest.mark.parametrize(("kind", "config"), [("math", {}), ("mth", {}), ("code", {"tests": []}), ("regex", {})])
def test_a_checker_that_cannot_judge(kind: str, config: dict[str, Any]) -> None:
    assert rules(task(kind=kind, config=config)) == ["checker"]


def test_a_state_checker_without_a_workspace() -> None:
    assert rules(task(kind="exit_code", config={"command": "true"})) == ["env"]


def test_pairs_in_a_set() -> None:
    story = "Anna has many red apples in a basket and gives some of them to her brother before they walk home"
    found = lint_tasks(
        [
            task(story, name="a"),
            task(story.upper(), name="b"),
            task(f"{story} again", name="c"),
            task("Else?", name="c"),
        ]
    )
    assert [(item.rule, item.task, item.other) for item in found] == [
        ("duplicate_prompt", "b", "a"),
        ("near_duplicate", "c", "a"),
        ("duplicate_id", "c", ""),
    ]


def test_files_are_linted_past_what_is_malformed(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    good = {"id": "a", "prompt": "The answer is 4.", "checker": {"type": "math", "config": {"answer": "4"}}}
    lines = [json.dumps(good), "{", json.dumps({**good, "promt": 1}), json.dumps({**good, "prompt": "Other?"})]
    path.write_text("\n".join(lines))
    found = lint_files(path)
    assert [(item.rule, item.path, item.line, item.field) for item in found] == [
        ("gold_in_prompt", str(path), 1, "prompt"),
        ("malformed", str(path), 2, None),
        ("malformed", str(path), 3, "promt"),
        ("duplicate_id", str(path), 4, "id"),
    ]
    assert str(found[2]) == f"{path}:3: promt: unknown field [malformed] (did you mean 'prompt'?)"


def test_the_published_sets(shared: Path) -> None:
    found: list[Finding] = lint_files([shared / "data" / "gsm8k_test.jsonl", shared / "data" / "HumanEval.jsonl.gz"])
    assert found == []


@pytest.mark.parametrize(
    ("prompt", "kind", "config"),
    [
        ("Is 7 prime? Answer yes or no.", "exact", {"answer": "yes"}),
        ("Is 7 prime? Answer: Yes/No", "exact", {"answer": "Yes"}),
        ("Say true or false: 1 < 2.", "exact", {"answer": ["true", "True"]}),
        ("Put the letter alone: \\boxed{A}", "math", {"answer": "A"}),
        ("Answer red, green or blue.", "exact", {"answer": "red"}),
        ("Answer red, green, or 'blue'.", "exact", {"answer": "blue"}),
        ("Cities: Paris; London", "exact", {"answer": "paris", "choices": ["Paris", "London"]}),
        ("Cities: Paris; London", "exact", {"answer": "Paris", "choices": {"a": "Paris", "b": "London"}}),
    ],
)
def test_a_gold_that_is_one_of_the_choices_offered(prompt: str, kind: str, config: dict[str, Any]) -> None:
    assert rules(task(prompt, kind, config=config)) == []


@pytest.mark.parametrize(("prompt", "gold"), [("Say yes.", "yes"), ("It is Paris. Where?", ["Rome", "Paris"])])
def test_a_gold_that_is_offered_alone_is_told(prompt: str, gold: Any) -> None:
    assert rules(task(prompt, "exact", config={"answer": gold})) == ["gold_in_prompt"]


def test_findings_about_pairs_say_what_to_do() -> None:
    story = "Anna has many red apples in a basket and gives some of them to her brother before they walk home"
    found = lint_tasks([task(story, name="a"), task(story, name="b"), task(f"{story} again", name="c")])
    assert [item.rule for item in found] == ["duplicate_prompt", "near_duplicate"]
    assert all(item.remedy for item in found)


def test_a_rule_of_the_callers_sees_sound_tasks_only_and_its_findings_are_placed(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    good = {"id": "a", "prompt": "q", "checker": {"type": "math", "config": {"answer": "4"}}}
    path.write_text(json.dumps({**good, "checker": {"type": "mth"}}) + "\n" + json.dumps(good) + "\n")
    found = lint_files(path, rule=lambda item: [Finding(rule="solution", message="no", task=item.id)])
    assert [(item.rule, item.task, item.path, item.line) for item in found] == [
        ("malformed", "", str(path), 1),
        ("solution", "a", str(path), 2),
    ]
