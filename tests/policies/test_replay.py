from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lydite.errors import InputError
from lydite.policies import SamplingParams, open_policy
from lydite.rollout import FinishReason, Message
from lydite.task import Checker, Task
from policies.contract import PARAMS, ask, texts


def _file(folder: Path, *lines: Any) -> Path:
    file = folder / "answers.jsonl"
    file.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return file


def _line(prompt: Any, completion: Any) -> dict[str, Any]:
    return {"prompt": prompt, "completion": completion}


async def test_attempts_are_dealt_in_file_order_to_their_own_prompt(tmp_path: Path) -> None:
    file = _file(tmp_path, _line("a", "a0"), _line("b", "b0"), "", _line("a", "a1"))
    rows = await open_policy(f"replay:{file}").generate([ask("b"), ask("a")], [[9], [8, 7]], PARAMS)
    assert texts(rows) == [["b0"], ["a0", "a1"]]


async def test_a_resumed_run_gets_the_attempts_that_it_misses(tmp_path: Path) -> None:
    file = _file(tmp_path, *(_line("a", f"a{i}") for i in range(4)))
    rows = await open_policy(f"replay:{file}").generate([ask("a")], [[1, 2]], PARAMS, indices=[[3, 1]])
    assert texts(rows) == [["a3", "a1"]]


async def test_what_the_file_does_not_hold_is_an_error_and_no_answer(tmp_path: Path) -> None:
    file = _file(tmp_path, _line("a", "a0"))
    rows = await open_policy(f"replay:{file}").generate([ask("a"), ask("z")], [[1, 2], [3]], PARAMS)
    assert [[attempt.error for attempt in row] for row in rows] == [[None, "replay_exhausted"], ["replay_missing"]]
    assert rows[1][0].finish is FinishReason.ERROR


async def test_messages_are_prompts_and_completions_too(tmp_path: Path) -> None:
    prompt = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    file = _file(tmp_path, _line(prompt, [{"role": "assistant", "content": "one"}, {"role": "tool", "content": "t"}]))
    asked = (Message(role="system", content="s"), Message(role="user", content="u"))
    [[attempt]] = await open_policy(f"replay:{file}").generate([asked], [[1]], PARAMS)
    assert [(message.role, message.content) for message in attempt.completion] == [("assistant", "one"), ("tool", "t")]


async def test_a_task_is_found_by_its_bare_question(tmp_path: Path) -> None:
    file = _file(tmp_path, _line("How many?", "four"))
    prompt = ask("How many?\nPut the answer in a box.")
    task = Task(id="t", prompt=prompt, checker=Checker(type="math"), metadata={"question": "How many?"})
    with_tasks = open_policy(f"replay:{file}", tasks=[task])
    assert texts(await with_tasks.generate([prompt], [[1]], PARAMS)) == [["four"]]
    without = open_policy(f"replay:{file}")
    assert (await without.generate([prompt], [[1]], PARAMS))[0][0].error == "replay_missing"


async def test_a_file_that_holds_the_full_prompt_goes_before_the_question(tmp_path: Path) -> None:
    file = _file(tmp_path, _line("How many?", "by question"), _line("How many? Box it.", "by prompt"))
    prompt = ask("How many? Box it.")
    task = Task(id="t", prompt=prompt, checker=Checker(type="math"), metadata={"question": "How many?"})
    assert texts(await open_policy(f"replay:{file}", tasks=[task]).generate([prompt], [[1]], PARAMS)) == [["by prompt"]]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("{", "not JSON"),
        ("[]", "must be an object"),
        ('{"prompt": "a"}', "completion: is missing"),
        ('{"prompt": 1, "completion": "x"}', "prompt: must be text"),
        ('{"prompt": "a", "completion": [{"role": "assistant", "content": 5}]}', r"completion\.0\.content"),
        ('{"prompt": "a", "completion": []}', "completion: must be"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_bad_line_is_named(bad: str, said: str, tmp_path: Path) -> None:
    file = _file(tmp_path, _line("a", "b"), bad)
    with pytest.raises(InputError, match=rf"answers\.jsonl:2: .*{said}"):
        open_policy(f"replay:{file}")


def test_no_file_and_no_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        open_policy(f"replay:{tmp_path / 'none'}")
    with pytest.raises(InputError, match="no line"):
        open_policy(f"replay:{_file(tmp_path, '', '')}")


async def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    file = _file(tmp_path, _line("a", "b"))
    policy = open_policy(f"replay:{file}")
    with file.open("a") as more:
        more.write('{"prompt": "a", "completion": "c"}\n')
    with pytest.raises(InputError, match="changed"):
        await policy.generate([ask("a")], [[1]], PARAMS)


def test_the_id_tells_the_contents(tmp_path: Path) -> None:
    first = open_policy(f"replay:{_file(tmp_path, _line('a', 'b'))}").id
    second = open_policy(f"replay:{_file(tmp_path, _line('a', 'c'))}").id
    assert first != second
    assert first.startswith("replay:answers.jsonl@")


@pytest.mark.parametrize("params", [SamplingParams(logprobs=True), SamplingParams(stop=("x",))])
async def test_what_a_record_cannot_honour_raises(params: SamplingParams, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot honour"):
        await open_policy(f"replay:{_file(tmp_path, _line('a', 'b'))}").generate([ask("a")], [[1]], params)
