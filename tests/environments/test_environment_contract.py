"""Environments of one's own: found by path and by entry point, with tools of their own, held to the contract."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lydite.environments import Answer, Environments, names
from lydite.environments.contract import CHECKS, run_contract
from lydite.environments.workspace import WorkspaceEnvironment
from lydite.errors import InputError
from lydite.ledger import RunFolder
from lydite.policies.protocol import Attempt, SamplingParams
from lydite.policies.scripted import ScriptedPolicy
from lydite.rollout import Message, Tool, ToolCall
from lydite.sampling import Judge, sample
from lydite.sandbox import Snapshot
from lydite.tasksets import parse_task

COUNTING = '''
from lydite.environments.workspace import WorkspaceEnvironment
from lydite.sandbox import Workspace


def count_words(workspace: Workspace, path: str, least: int = 1) -> str:
    """Count the words of a file.

    Args:
        path: The file.
        least: Letters that a word must have.
    """
    words = workspace.read(path).decode().split()
    workspace.write("counted", str(len(words)))
    return str(sum(len(word) >= least for word in words) // (least > 0))


environment = WorkspaceEnvironment(extra=[count_words], name="counting")
'''


class Note:
    """An environment in memory: a note that can be set."""

    name: Any = "note"
    version: Any = 1
    tools: Any = (Tool(name="set", description="Set it.", parameters={"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}),)  # fmt: skip # noqa: E501

    def __init__(self, **changes: Any) -> None:
        self.__dict__.update(changes)

    def start(self, task: Any) -> Any:
        return self.episode()

    def episode(self) -> Any:
        return NoteEpisode()

    def close(self) -> None:
        pass


class NoteEpisode:
    done = False

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.files = {} if files is None else files

    def call(self, name: str, arguments: dict[str, Any]) -> Answer:
        if name != "set" or set(arguments) != {"to"}:
            return Answer(text="error: set takes to", failed=True)
        self.files["note"] = repr(arguments["to"]).encode("utf-8", "replace")
        return Answer(text="it is set")

    def freeze(self) -> Snapshot:
        return Snapshot.from_files(self.files)

    def close(self) -> None:
        pass


class Raises(NoteEpisode):
    def call(self, name: str, arguments: dict[str, Any]) -> Answer:
        return Answer(text=f"set to {arguments['to'].strip()}")


class Unsafe(NoteEpisode):
    def call(self, name: str, arguments: dict[str, Any]) -> Answer:
        done = super().call(name, arguments)
        return done if done.failed else Answer(text=f"{arguments['to']}")


class Lenient(NoteEpisode):
    def call(self, name: str, arguments: dict[str, Any]) -> Answer:
        super().call(name, arguments)
        return Answer(text="fine")


class Moving(NoteEpisode):
    def freeze(self) -> Snapshot:
        self.files["count"] = self.files.get("count", b"") + b"x"
        return super().freeze()


class Leaving(Note):
    def close(self) -> None:
        subprocess.Popen(["sleep", "3"])


def note(episode: Callable[[], Any], **changes: Any) -> Note:
    return Note(episode=episode, **changes)


ONE = NoteEpisode()
COMMON: dict[str, bytes] = {}
COUNT = itertools.count()
BAD = {
    "named": [note(NoteEpisode, version=0), note(NoteEpisode, name="")],
    "tools": [
        note(NoteEpisode, tools=()),
        note(NoteEpisode, tools=(Tool(name="set", description="", parameters={"type": "object"}),)),
        note(NoteEpisode, tools=(Tool(name="a b", description="x", parameters={"type": "object"}),)),
    ],
    "starts": [note(lambda: ONE)],
    "answers": [note(Raises), note(Unsafe), note(Lenient)],
    "alike": [note(lambda: NoteEpisode({"a": str(next(COUNT)).encode()}))],
    "apart": [note(lambda: NoteEpisode(COMMON))],
    "frozen": [note(Moving)],
    "closed": [Leaving()],
}


def broken(environment: Any) -> set[str]:
    return {finding.check for finding in run_contract(environment) if not finding.passed}


def test_a_good_environment_keeps_every_promise() -> None:
    assert broken(Note()) == set()


def test_the_workspace_keeps_every_promise() -> None:
    assert broken(WorkspaceEnvironment()) == set()


@pytest.mark.parametrize(("check", "number"), [(name, n) for name, some in BAD.items() for n in range(len(some))])
def test_a_promise_that_is_broken_is_found(check: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lydite.environments.contract.PATIENCE", 0.2)
    assert check in broken(BAD[check][number])


def test_every_check_has_an_environment_that_breaks_it() -> None:
    assert set(BAD) == set(CHECKS)


def test_a_task_names_an_environment_in_a_file_with_a_tool_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(COUNTING)
    task = parse_task(
        {
            "id": "t",
            "prompt": "How many words?",
            "env": f"{tmp_path / 'mine.py'}:environment",
            "setup_files": {"a.txt": "one two three"},
            "checker": {"type": "exit_code", "config": {"command": "grep -q 3 counted"}},
        }
    )

    def answer(prompt: Any, seed: int, index: int) -> Attempt:
        turn = sum(message.role == "assistant" for message in prompt)
        given: list[dict[str, Any]] = [{"path": "a.txt", "least": 4}, {"path": "a.txt", "least": 0}, {"path": "none"}]
        if turn == 3:
            return Attempt(completion=(Message(role="assistant", content="3"),))
        call = ToolCall(name="count_words", arguments=given[turn])
        return Attempt(completion=(Message(role="assistant", tool_calls=(call,)),))

    with RunFolder.create(tmp_path / "run", kind="sample", settings={}, tasks=[task]) as run:
        params = SamplingParams()
        asyncio.run(sample([task], ScriptedPolicy(answer), run, phase="s", n=1, params=params, seed=0, judge=Judge()))
        (row,) = run.rows()
    assert row.record.verdict.correct
    assert row.rollout.env == "counting@2"
    said = [message.content for message in row.rollout.completion if message.role == "tool"]
    assert said[0] == "1"
    assert said[1].startswith("error: count_words failed: ZeroDivisionError")
    assert said[2].startswith("error: ")


@pytest.mark.parametrize(("extra", "name"), [("run_command", "mine"), ("other", "workspace")])
def test_tools_that_would_be_taken_for_others_are_refused(extra: str, name: str) -> None:
    def tool(workspace: Any) -> str:
        """Do it."""
        return ""

    tool.__name__ = extra
    with pytest.raises(InputError, match=r"one name|name of its own"):
        WorkspaceEnvironment(extra=[tool], name=name)


def test_an_installed_package_offers_one_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "worlds-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: worlds\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[lydite.environments]\ncounting = counting_world:environment\n")
    (tmp_path / "counting_world.py").write_text(COUNTING)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "counting" in names()
    environments = Environments()
    assert next(tool.name for tool in environments.find("counting").tools) == "count_words"
    environments.close()


def test_the_command_says_which_promise_is_broken(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        COUNTING.replace("from lydite.sandbox import Workspace", "from lydite.sandbox import Workspace\n")
        + "\nenvironment.version = 0\n"
    )
    code = "from lydite.cli import main; main()"
    command = [sys.executable, "-c", code, "environments", "check", f"{tmp_path / 'mine.py'}:environment", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert [one["check"] for one in told["checks"] if not one["passed"]] == ["named"]
