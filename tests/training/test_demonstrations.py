"""Demonstrations of reference solutions, and the tokens that they become."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lydite.environments import Environments
from lydite.exports.formats import Format, sft_row
from lydite.policies.toolcalls import offered
from lydite.rollout import Message
from lydite.sampling import Judge
from lydite.task import Checker, Task
from lydite.tasksets import generate
from lydite.training.demonstrations import demonstrable, demonstrate, demonstrations


@pytest.fixture
def environments() -> Iterator[Environments]:
    made = Environments()
    yield made
    made.close()


def count(**changes: Any) -> Task:
    fields = {
        "id": "count",
        "prompt": (Message(role="user", content="Count the lines of a.txt. Write the number to b.txt."),),
        "checker": Checker(type="script", config={"script": "print(float(open('b.txt').read().strip() == '2'))"}),
        "env": "workspace",
        "setup_files": {"a.txt": "x\ny\n"},
        "solution": {"files": {"note.txt": "n"}, "commands": ["wc -l < a.txt > b.txt", "cat b.txt"]},
    }
    return Task(**{**fields, **changes})  # type: ignore[arg-type]


def test_files_are_written_then_commands_run_and_tools_answer_for_real(environments: Environments) -> None:
    shown = demonstrate(count(), environments.find("workspace"), Judge())
    assert shown.correct
    assert [message.role for message in shown.completion] == ["assistant", "tool"] * 3 + ["assistant"]
    assert [call.name for message in shown.completion for call in message.tool_calls] == [
        "write_file",
        "run_command",
        "run_command",
    ]
    assert shown.completion[5].content == "2\n"


def test_a_solution_that_is_wrong_teaches_nothing(environments: Environments) -> None:
    wrong = count(solution={"commands": ["echo 3 > b.txt"]})
    long = count(max_steps=2)
    broken = count(setup_commands=("false",))
    with ThreadPoolExecutor(2) as threads:
        shown = list(demonstrations([wrong, long, broken], environments.find, Judge(), threads))
    assert [one.correct for one in shown] == [False] * 3
    assert shown[1].why == "more calls than max_steps"
    assert "setup_commands.0" in shown[2].why


def test_tasks_without_a_solution_for_tools_are_left_out() -> None:
    assert demonstrable(count())
    for solution in (None, "text", {}, {"files": {}, "commands": []}):
        assert not demonstrable(count(solution=solution))
    assert not demonstrable(count(env="none"))


@pytest.mark.train
def test_what_is_learned_is_what_the_policy_would_write(environments: Environments) -> None:
    pytest.importorskip("trl")
    from lydite.policies.hf import prompt_tokens
    from lydite.policies.weights import load_local
    from lydite.training.trl.rows import tokens_of

    tokenizer = load_local("builtin:tiny")[1]
    environment = environments.find("workspace")
    for task in generate("files", levels=[1, 2], n=10, seed=3):
        shown = demonstrate(task, environment, Judge())
        assert shown.correct
        row = {**sft_row(task.prompt, shown.completion, Format.TRL), "tools": offered(environment.tools)}
        ids, labels = tokens_of(tokenizer, row)
        assert len(ids) == len(labels)
        asked = list(prompt_tokens(tokenizer, task.prompt, plain=False, tools=environment.tools))
        assert ids[: len(asked)] == asked  # the very prompt of sampling and of GRPO
        assert labels[: len(asked)] == [-100] * len(asked)
        learned = tokenizer.decode([label for label in labels if label != -100])
        turns = [message for message in shown.completion if message.role == "assistant"]
        assert learned.count("<|im_end|>") == len(turns)
        assert learned.endswith("Done.<|im_end|>")
        for message in turns:
            for call in message.tool_calls:
                assert f'"name": "{call.name}"' in learned
