"""Episodes: a policy, tools, a workspace, and what is recorded of it."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lydite.environments import Environments
from lydite.errors import InputError
from lydite.ledger import RunFolder
from lydite.policies.protocol import Attempt, Prompt, SamplingParams
from lydite.policies.scripted import ScriptedPolicy
from lydite.rollout import FinishReason, Message, ToolCall
from lydite.sampling import Judge, sample
from lydite.sampling.episodes import Ended, Start, roll_out
from lydite.task import Task
from lydite.tasksets import parse_task

PARAMS = SamplingParams(max_tokens=256)


def call(name: str, **arguments: Any) -> Attempt:
    message = Message(role="assistant", tool_calls=(ToolCall(name=name, arguments=arguments),))
    return Attempt(completion=(message,), completion_tokens=10)


def say(text: str) -> Attempt:
    return Attempt(completion=(Message(role="assistant", content=text),), completion_tokens=5)


def turns(*answers: Attempt) -> Callable[[Prompt, int, int], Attempt]:
    """Answers by the number of the turn."""
    return lambda prompt, seed, index: answers[sum(message.role == "assistant" for message in prompt)]


def task(**fields: Any) -> Task:
    document = {
        "id": "t",
        "prompt": "Write hello into a.txt.",
        "env": "workspace",
        "setup_files": {"given/notes.txt": "some notes\n"},
        "checker": {"type": "file_exists", "config": {"paths": ["a.txt"]}},
    }
    return parse_task({**document, **fields})


def act(answers: Any, *, of: Task | None = None, batch: int = 8, count: int = 1, **options: Any) -> list[Ended]:
    policy = ScriptedPolicy(answers, batch=batch)
    worlds = Environments()
    of = of or task()
    starts = [Start(task=of, seed=index, index=index) for index in range(count)]
    try:
        return asyncio.run(roll_out(policy, worlds.find("workspace"), starts, PARAMS, **options))
    finally:
        worlds.close()


def test_an_episode_ends_with_the_last_answer() -> None:
    (ended,) = act(turns(call("write_file", path="a.txt", content="hello"), say("Done.")))
    assert ended.attempt.finish is FinishReason.STOP
    assert [message.role for message in ended.attempt.completion] == ["assistant", "tool", "assistant"]
    assert ended.attempt.completion_tokens == 15
    assert ended.state is not None
    assert ended.state.files["a.txt"] == b"hello"
    assert len(ended.calls.seconds) == 1


def test_an_answer_names_the_call_that_it_answers() -> None:
    (ended,) = act(turns(call("list_dir"), call("read_file", path="given/notes.txt"), say("Done.")))
    said = ended.attempt.completion
    assert [m.tool_call_id for m in said if m.role == "tool"] == [m.tool_calls[0].id for m in said if m.tool_calls]
    assert [m.content for m in said if m.role == "tool"] == ["given/", "some notes\n"]


def test_what_cannot_be_carried_out_is_told_and_counted() -> None:
    wrong = [call("nope"), call("read_file"), call("read_file", path="/etc/passwd"), call("read_file", path="none")]
    (ended,) = act(turns(*wrong, say("I give up.")))
    assert ended.calls.failed == 4
    assert all(m.content.startswith("error:") for m in ended.attempt.completion if m.role == "tool")


def test_a_call_that_cannot_be_read_is_answered_and_the_episode_goes_on() -> None:
    (ended,) = act(
        turns(say('<tool_call>{"name": </tool_call>'), call("write_file", path="a.txt", content=""), say("ok"))
    )
    assert ended.calls.malformed == 1
    assert ended.attempt.completion[1].content.startswith("error: the tool call could not be read")
    assert ended.attempt.finish is FinishReason.STOP


def test_calls_in_the_text_are_read() -> None:
    text = 'I look.\n<tool_call>{"name": "list_dir", "arguments": {"path": ""}}</tool_call>'
    (ended,) = act(turns(say(text), say("Done.")))
    first = ended.attempt.completion[0]
    assert (first.content, first.tool_calls[0].name) == ("I look.", "list_dir")
    assert ended.attempt.completion[1].content == "given/"
    assert ended.calls.malformed == 0


def test_calls_are_limited() -> None:
    (ended,) = act(lambda prompt, seed, index: call("list_dir"), of=task(max_steps=3))
    assert ended.attempt.finish is FinishReason.TOOL_LIMIT
    assert len(ended.calls.seconds) == 3


def test_calls_beyond_the_limit_are_answered_and_not_made() -> None:
    message = Message(
        role="assistant",
        tool_calls=tuple(ToolCall(name="run_command", arguments={"command": f"echo {n} >> log"}) for n in range(5)),
    )
    (ended,) = act(turns(Attempt(completion=(message,))), of=task(max_steps=2))
    assert ended.attempt.finish is FinishReason.TOOL_LIMIT
    assert ended.calls.left == 3
    assert ended.state is not None
    assert ended.state.files["log"] == b"0\n1\n"


def test_tokens_are_limited_over_all_turns() -> None:
    (ended,) = act(lambda prompt, seed, index: call("list_dir"), of=task(max_steps=64), batch=1)
    assert ended.attempt.finish is FinishReason.LENGTH
    assert ended.attempt.completion_tokens == 260


def test_time_is_limited() -> None:
    (ended,) = act(lambda prompt, seed, index: call("list_dir"), of=task(max_steps=64), seconds=0.0)
    assert ended.attempt.finish is FinishReason.TIME


@pytest.mark.parametrize("batch", [1, 8])
def test_attempts_share_nothing(batch: int) -> None:
    def answers(prompt: Prompt, seed: int, index: int) -> Attempt:
        turn = sum(message.role == "assistant" for message in prompt)
        steps = [call("write_file", path=f"mine-{index}", content="x"), call("list_dir"), say("Done.")]
        return steps[turn]

    for index, ended in enumerate(act(answers, batch=batch, count=5)):
        assert ended.state is not None
        assert sorted(ended.state.files) == ["given/notes.txt", f"mine-{index}"]


def test_a_workspace_that_its_own_programs_lost_is_no_fault_of_ours() -> None:
    fill = 'python3 -c "x = bytearray(4 << 30)"; head -c 700M /dev/zero > big; cat big big > /dev/shm/more'
    (ended,) = act(turns(call("run_command", command=fill), call("run_command", command=fill), say("Done.")))
    assert ended.attempt.error is None


def test_a_fault_of_the_policy_is_an_error() -> None:
    (ended,) = act(turns(call("list_dir"), Attempt(error="http_500", finish=FinishReason.ERROR)))
    assert (ended.attempt.error, ended.attempt.finish) == ("http_500", FinishReason.ERROR)


def test_a_conversation_that_has_grown_too_long_ends_the_episode() -> None:
    (ended,) = act(turns(call("list_dir"), Attempt(error="prompt_too_long", finish=FinishReason.ERROR)))
    assert (ended.attempt.error, ended.attempt.finish) == (None, FinishReason.LENGTH)


def test_a_set_up_that_fails_names_its_command() -> None:
    with pytest.raises(InputError, match=r"setup_commands\.1: fails .* no such thing"):
        act(turns(say("")), of=task(setup_commands=["true", "echo no such thing >&2; exit 4"]))


def test_set_up_files_and_commands_are_there() -> None:
    of = task(setup_commands=["wc -c given/notes.txt > size", "mkdir deep"])
    (ended,) = act(turns(call("run_command", command="cat size; ls"), say("Done.")), of=of)
    assert ended.attempt.completion[1].content == "11 given/notes.txt\ndeep\ngiven\nsize\n"


def test_a_task_is_set_up_once_for_all_attempts_of_a_group() -> None:
    of = task(setup_commands=["date +%s%N > stamp"])
    states = [ended.state for ended in act(turns(say("Done.")), of=of, count=6)]
    assert len({state.digest for state in states if state is not None}) == 1


def test_pytest_is_there_for_the_policy() -> None:
    write = call("write_file", path="test_a.py", content="def test_a():\n    assert 1 + 1 == 3\n")
    (ended,) = act(turns(write, call("run_command", command="pytest -q"), say("Done.")))
    assert "1 failed" in ended.attempt.completion[3].content
    assert "[exit code 1]" in ended.attempt.completion[3].content


def test_output_is_cut_with_a_mark_and_made_safe() -> None:
    (ended,) = act(turns(call("run_command", command="printf '\\377\\0'; yes | head -c 100000"), say("Done.")))
    text = ended.attempt.completion[1].content
    assert len(text) < 11_000
    assert "of 100002 characters left out" in text
    assert text.startswith("\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}y\n")


def test_nothing_is_left_running(tmp_path: Path) -> None:
    act(turns(call("run_command", command="sleep 4242 & echo started"), say("Done.")), count=3)
    assert "sleep 4242" not in subprocess.run(["ps", "ax"], capture_output=True, text=True, check=True).stdout


def test_a_run_keeps_what_was_left_behind(tmp_path: Path) -> None:
    def answers(prompt: Prompt, seed: int, index: int) -> Attempt:
        turn = sum(message.role == "assistant" for message in prompt)
        return [call("write_file", path="a.txt" if index % 2 else "b.txt", content="hello"), say("Done.")][turn]

    of = task()
    with RunFolder.create(tmp_path / "run", kind="sample", settings={}, tasks=[of]) as run:
        asyncio.run(
            sample([of], ScriptedPolicy(answers), run, phase="sample", n=4, params=PARAMS, seed=0, judge=Judge())
        )
        run.finish()
    rows = list(RunFolder.open(tmp_path / "run").rows())
    assert len(rows) == 4
    assert len(list((tmp_path / "run" / "workspaces").iterdir())) == 2
    for row in rows:
        state = RunFolder.open(tmp_path / "run").state(row.rollout.workspace)
        assert state is not None
        assert ("a.txt" if row.rollout.index % 2 else "b.txt") in state.files
        assert row.rollout.env == "workspace@2"
