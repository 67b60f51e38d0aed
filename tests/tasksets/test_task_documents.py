"""One document to a task and back."""

from __future__ import annotations

import json
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.rollout import Message, ToolCall
from lydite.task import Checker, Task
from lydite.tasksets import parse_task, task_document
from lydite.tasksets.checkers import ANSWER, CHECKERS, STATE, default_env
from lydite.tasksets.documents import FIELDS

MATH = {"type": "math", "config": {"answer": "4"}}
MINIMAL = {"prompt": "What is 2 + 2?", "checker": MATH}

CONFIGS: dict[str, dict[str, Any]] = {
    "exit_code": {"command": "true"},
    "file_exists": {"paths": ["a"]},
    "pytest": {"test_paths": ["tests"]},
    "script": {"script": "print(1.0)"},
    "math": {"answer": "4"},
    "exact": {"answer": "yes"},
    "choice": {"answer": "B"},
    "code": {"tests": ["assert f(1) == 2"]},
    "json_schema": {"schema": {}},
    "sql": {"setup": ["create table t (x)"], "reference": "select 1"},
    "regex": {"must_match": ["a"], "must_not_match": []},
    "text_transform": {"cases": [{"input": "a", "expected": "A"}]},
    "steps": {},
    "proof": {"system": "lean4", "statement": "theorem t : True"},
    "format": {"required": ["answer"]},
    "grader": {"grader": {"type": "string_check"}},
    "all_of": {"checkers": {"a": MATH}},
    "weighted": {"checkers": {"a": MATH}, "weights": {"a": 2}},
    "gate": {"checkers": {"a": MATH}, "gate": "a"},
}


def failure(document: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_task(document, path="tasks.jsonl", line=7)
    assert caught.value.path == "tasks.jsonl"
    assert caught.value.line == 7
    assert caught.value.remedy
    return caught.value


def test_defaults() -> None:
    task = parse_task(MINIMAL)
    assert task.prompt == (Message(role="user", content="What is 2 + 2?"),)
    assert (task.env, task.max_steps, task.setup_files, task.setup_commands) == ("none", 16, {}, ())
    assert (task.solution, task.split, task.difficulty, task.metadata) == (None, "", "", {})


def test_every_listed_checker_is_a_valid_document() -> None:
    assert CONFIGS.keys() == CHECKERS.keys()
    for kind, config in CONFIGS.items():
        assert parse_task({"prompt": "p", "checker": {"type": kind, "config": config}}).checker.type == kind


@pytest.mark.parametrize("kind", sorted(STATE))
def test_state_checkers_default_to_a_workspace(kind: str) -> None:
    assert parse_task({"prompt": "p", "checker": {"type": kind, "config": CONFIGS[kind]}}).env == "workspace"


@pytest.mark.parametrize("kind", sorted(ANSWER))
def test_answer_checkers_default_to_no_environment(kind: str) -> None:
    assert parse_task({"prompt": "p", "checker": {"type": kind, "config": CONFIGS[kind]}}).env == "none"


def test_a_composite_needs_a_workspace_when_any_part_does() -> None:
    state = {"type": "exit_code", "config": {"command": "true"}}
    inner = {"type": "all_of", "config": {"checkers": {"x": state}}}
    parts = {"type": "weighted", "config": {"checkers": {"a": MATH, "b": inner}}}
    assert parse_task({"prompt": "p", "checker": parts}).env == "workspace"


def test_tfcode_is_another_name_of_workspace() -> None:
    assert parse_task({**MINIMAL, "env": "tfcode"}).env == "workspace"


def test_the_platform_example_is_read_as_printed() -> None:
    spec = {
        "prompt": "Create a Python file named add.py that prints the sum of 2 and 3",
        "env": "tfcode",
        "max_steps": 8,
        "setup_files": {"README.md": "hello"},
        "setup_commands": ["true"],
        "checker": {"type": "exit_code", "config": {"command": "python3 add.py | grep -q 5", "expected_code": 0}},
    }
    wrapped = {"autoParse": True, "rawTrainingData": {"task_spec": spec}, "type": "rlTask", "userid": "u", "topics": []}
    task = parse_task(wrapped)
    assert task == parse_task(spec) == parse_task({"task_spec": spec})
    assert (task.env, task.max_steps, task.setup_files) == ("workspace", 8, {"README.md": "hello"})


def test_an_envelope_keeps_what_it_says_of_the_task() -> None:
    task = parse_task({"id": "d1", "title": "Sum", "topics": ["a"], "task_spec": MINIMAL, "status": "published"})
    assert (task.id, task.metadata) == ("d1", {"title": "Sum", "topics": ["a"]})


def test_errors_inside_a_wrapper_name_the_whole_field() -> None:
    error = failure({"type": "rlTask", "rawTrainingData": {"task_spec": {**MINIMAL, "max_steps": 65}}})
    assert error.field == "rawTrainingData.task_spec.max_steps"


def test_another_type_of_document_is_no_task() -> None:
    assert failure({"type": "chat", "rawTrainingData": {"task_spec": MINIMAL}}).field == "type"


def test_messages_in_both_forms_of_tool_calls() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "run", "arguments": '{"x": 1}'}}
    own = {"id": "c", "name": "run", "arguments": {"x": 1}}
    question = {"role": "user", "content": "q"}
    prompts = [
        parse_task(
            {**MINIMAL, "prompt": [question, {"role": "assistant", "content": None, "tool_calls": [form]}]}
        ).prompt
        for form in (call, own)
    ]
    assert prompts[0] == prompts[1]
    assert prompts[0][1].tool_calls == (ToolCall(id="c", name="run", arguments={"x": 1}),)


def test_text_parts_of_a_message_are_joined() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert parse_task({**MINIMAL, "prompt": [{"role": "user", "content": content}]}).prompt_text == "ab"


def test_the_same_content_has_the_same_id_whatever_its_labels() -> None:
    task = parse_task(MINIMAL)
    assert task.id.startswith("t-")
    assert len(task.id) == 14
    assert parse_task({"checker": MATH, "prompt": "What is 2 + 2?", "difficulty": "level-1"}).id == task.id
    assert parse_task({**MINIMAL, "max_steps": 3}).id != task.id


def test_a_number_is_an_id_too() -> None:
    assert parse_task({**MINIMAL, "id": 7}).id == "7"


def test_null_counts_as_left_out() -> None:
    empty = dict.fromkeys(set(FIELDS) - {"prompt", "checker", "schema"})
    assert parse_task({**empty, **MINIMAL}) == parse_task(MINIMAL)


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"promt": "x"}, "promt", "prompt"),
        ({"setup_file": {}}, "setup_file", "setup_files"),
        ({"prompt": None}, "prompt", "missing"),
        ({"prompt": "  \n"}, "prompt", "empty"),
        ({"prompt": []}, "prompt", "empty"),
        ({"prompt": 5}, "prompt", "text"),
        ({"prompt": [{"role": "usr", "content": "x"}]}, "prompt.0.role", "user"),
        ({"prompt": [{"role": "user", "contnt": "x"}]}, "prompt.0.contnt", "content"),
        ({"prompt": [{"role": "user", "content": [{"type": "image_url"}]}]}, "prompt.0.content.0", "text"),
        ({"prompt": [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": "{"}]}]},
         "prompt.0.tool_calls.0.arguments", "JSON"),
        ({"env": "workspce"}, "env", "workspace"),
        ({"env": 3}, "env", "workspace"),
        ({"max_steps": 0}, "max_steps", "1 to 64"),
        ({"max_steps": 65}, "max_steps", "1 to 64"),
        ({"max_steps": True}, "max_steps", "1 to 64"),
        ({"max_steps": 8.0}, "max_steps", "1 to 64"),
        ({"setup_files": {"a": "x"}}, "setup_files", "workspace"),
        ({"setup_commands": ["ls"]}, "setup_commands", "workspace"),
        ({"env": "workspace", "setup_files": {"/etc/x": ""}}, "setup_files./etc/x", "inside"),
        ({"env": "workspace", "setup_files": {"a/../../x": ""}}, "setup_files.a/../../x", "inside"),
        ({"env": "workspace", "setup_files": {"a": 1}}, "setup_files.a", "text"),
        ({"env": "workspace", "setup_commands": "ls"}, "setup_commands", "list"),
        ({"env": "workspace", "setup_commands": [1]}, "setup_commands.0", "text"),
        ({"solution": 4}, "solution", "object"),
        ({"env": "workspace", "setup_commands": ["ls", " "]}, "setup_commands.1", "empty"),
        ({"env": "workspace", "setup_commands": ["ls\0"]}, "setup_commands.0", "NUL"),
        ({"env": "workspace", "setup_files": {"a": "", "./a": ""}}, "setup_files../a", "same file"),
        ({"env": "workspace", "setup_files": {"b//c": "", "b": ""}}, "setup_files.b", "below"),
        ({"env": "workspace", "setup_files": {"b/": ""}}, "setup_files.b/", "folder"),
        ({"env": "workspace", "setup_files": {"b\0": ""}}, "setup_files.b\0", "NUL"),
        ({"env": "workspace", "setup_files": {"b" * 256: ""}}, "setup_files." + "b" * 60, "255"),
        ({"solution": {}}, "solution", "empty"),
        ({"env": "workspace", "solution": {"files": {}, "commands": []}}, "solution", "empty"),
        ({"env": "workspace", "solution": {"commands": [""]}}, "solution.commands.0", "empty"),
        ({"env": "workspace", "solution": {"files": {"a": "", "a/b": ""}}}, "solution.files.a", "below"),
        ({"env": "none", "solution": {"files": {"a": ""}}}, "solution", "workspace"),
        ({"solution": {"file": {}}}, "solution.file", "files"),
        ({"solution": {"files": {"../x": ""}}}, "solution.files.../x", "inside"),
        ({"metadata": []}, "metadata", "object"),
        ({"metadata": {"flags": {"no_visible_work": 3}}}, "metadata.flags.no_visible_work", "object"),
        ({"split": "test"}, "split", "eval"),
        ({"schema": 2}, "schema", "layout"),
        ({"id": ""}, "id", "name"),
        ({"id": "a\nb"}, "id", "name"),
        ({"id": ["x"]}, "id", "text"),
        ({"checker": None}, "checker", "missing"),
        ({"checker": "math"}, "checker", "object"),
        ({"checker": {"config": {}}}, "checker.type", "math"),
        ({"checker": {"type": "mth", "config": {}}}, "checker.type", "math"),
        ({"checker": {"type": ["math"]}}, "checker.type", "math"),
        ({"checker": {"type": "math", "answer": "4"}}, "checker.answer", "checker.config"),
        ({"checker": {"type": "math", "config": []}}, "checker.config", "object"),
        ({"checker": {"type": "math"}}, "checker.config.answer", "missing"),
        ({"checker": {"type": "exact", "config": {"answer": " "}}}, "checker.config.answer", "empty"),
        ({"checker": {"type": "code", "config": {"tests": []}}}, "checker.config.tests", "empty"),
        ({"checker": {"type": "code", "config": {"tests": "x"}}}, "checker.config.tests", "list"),
        ({"checker": {"type": "exit_code", "config": {"command": ["a"]}}}, "checker.config.command", "text"),
        ({"checker": {"type": "regex", "config": {}}}, "checker.config.must_match", "cases"),
        ({"checker": {"type": "all_of", "config": {"checkers": {}}}}, "checker.config.checkers", "empty"),
        ({"checker": {"type": "all_of", "config": {"checkers": {"a": {"type": "exct"}}}}},
         "checker.config.checkers.a.type", "exact"),
        ({"checker": {"type": "gate", "config": {"checkers": {"work": MATH}, "gate": "wrk"}}},
         "checker.config.gate", "work"),
        ({"checker": {"type": "weighted", "config": {"checkers": {"a": MATH}, "weights": {"b": 1}}}},
         "checker.config.weights.b", "a"),
        ({"checker": {"type": "weighted", "config": {"checkers": {"a": MATH}, "weights": {"a": -1}}}},
         "checker.config.weights.a", "number"),
        ({"metadata": {"x": float("nan")}}, "metadata.x", "number"),
        ({"metadata": {"x": "\ud800"}}, "metadata.x", "surrogate"),
        ({"metadata": {"x": {1: 2}}}, "metadata.x", "text"),
        ({"metadata": {"x": b"raw"}}, "metadata.x", "bytes"),
    ],
)  # fmt: skip
def test_bad_fields_are_named(change: dict[str, Any], field: str, words: str) -> None:
    error = failure({**MINIMAL, **change})
    assert error.field == field
    assert words in str(error)


@pytest.mark.parametrize("document", [None, 3, "text", [], [MINIMAL]])
def test_only_an_object_is_a_task(document: Any) -> None:
    assert "object" in failure(document).message


def test_cycles_and_depth_are_refused() -> None:
    cycle: dict[str, Any] = {**MINIMAL}
    cycle["metadata"] = {"self": cycle}
    assert "nested too deeply" in failure(cycle).message


def test_a_solution_never_shows_in_the_prompt() -> None:
    task = parse_task({**MINIMAL, "solution": "the work: \\boxed{4}"})
    assert "the work" not in task.prompt_text


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAME = st.text(string.ascii_letters + string.digits + "-_./ ", min_size=1, max_size=10).filter(str.strip)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
PATH = st.text(string.ascii_lowercase, min_size=1, max_size=5)
CALL = st.builds(ToolCall, id=TEXT, name=TEXT, arguments=st.dictionaries(TEXT, JSON, max_size=2))
MESSAGE = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=TEXT,
    tool_calls=st.lists(CALL, max_size=2).map(tuple),
    tool_call_id=TEXT,
    name=TEXT,
)
PROMPT = st.lists(MESSAGE, min_size=1, max_size=3).map(tuple).filter(lambda p: any(m.content.strip() for m in p))
CHECKER = st.sampled_from(sorted(CONFIGS)).map(lambda kind: Checker(type=kind, config=CONFIGS[kind]))


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    checker = draw(CHECKER)
    env = draw(st.sampled_from([default_env(checker), "workspace"]))
    files = st.dictionaries(PATH, TEXT, max_size=2)
    commands = st.lists(TEXT.filter(lambda text: text.strip() and "\0" not in text), max_size=2)
    worked = st.fixed_dictionaries({"files": files, "commands": commands}).filter(lambda it: any(it.values()))
    return Task(
        id=draw(NAME),
        prompt=draw(PROMPT),
        checker=checker,
        env=env,
        max_steps=draw(st.integers(1, 64)),
        setup_files=draw(files) if env == "workspace" else {},
        setup_commands=tuple(draw(commands)) if env == "workspace" else (),
        solution=draw(st.none() | TEXT | (worked if env == "workspace" else TEXT)),
        split=draw(st.sampled_from(["", "train", "eval"])),
        difficulty=draw(TEXT),
        metadata=draw(st.dictionaries(TEXT.filter(lambda key: key != "flags"), JSON, max_size=3)),
    )


@given(tasks())
@settings(deadline=None)
def test_a_document_of_a_task_is_the_task(task: Task) -> None:
    document = task_document(task)
    assert parse_task(document) == task
    assert parse_task(json.loads(json.dumps(document))) == task


KEYS = st.sampled_from(
    [
        *FIELDS,
        "task_spec",
        "rawTrainingData",
        "type",
        "question",
        "answer",
        "problem",
        "solution",
        "task_id",
        "entry_point",
        "canonical_solution",
        "test",
        "test_list",
        "test_imports",
        "test_setup_code",
        "text",
        "code",
        "level",
        "role",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "config",
        "checkers",
        "weights",
        "gate",
        "flags",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(sorted(CHECKERS))
    | st.sampled_from(["#### 4", "\\boxed{1}", "\\boxed{", "user", "def f(): pass", "assert f() == 1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=5),
    max_leaves=25,
)  # fmt: skip


@given(VALUES)
@settings(deadline=None, max_examples=400)
def test_nothing_but_an_input_error_for_any_value(value: Any) -> None:
    try:
        task = parse_task(value)
    except InputError:
        return
    assert parse_task(task_document(task)) == task


@given(st.dictionaries(KEYS, VALUES, max_size=6))
@settings(deadline=None, max_examples=400)
def test_nothing_but_an_input_error_for_any_change_of_a_good_document(change: dict[str, Any]) -> None:
    try:
        parse_task({**MINIMAL, **change})
    except InputError:
        return
