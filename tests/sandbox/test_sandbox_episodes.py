"""Nothing of an episode is left on the machine, however the program that ran it ends: counted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from traces import Traces, traces, until

PROGRAM = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    from lydite.ledger import RunFolder
    from lydite.policies.protocol import Attempt, SamplingParams
    from lydite.policies.scripted import ScriptedPolicy
    from lydite.rollout import Message, ToolCall
    from lydite.sampling import Judge, sample
    from lydite.tasksets import parse_task

    folder, way = sys.argv[1:]
    LAST = {"ends": "true", "fails": "true", "killed": "echo > ../tmp/x; sleep 60"}[way]
    COMMANDS = ["sleep 600 & echo started", "mkdir -p a/b; mkfifo a/pipe; ln -s / a/root", LAST]

    def answer(prompt, seed, index):
        turn = sum(message.role == "assistant" for message in prompt)
        if turn == 2 and way == "killed":
            print("now", flush=True)
        if turn == 3 and way == "fails":
            raise RuntimeError("the policy is gone")
        if turn == 3:
            return Attempt(completion=(Message(role="assistant", content="Done."),))
        call = ToolCall(name="run_command", arguments={"command": COMMANDS[turn]})
        return Attempt(completion=(Message(role="assistant", tool_calls=(call,)),))

    task = parse_task({"id": "t", "prompt": "Work.", "env": "workspace", "setup_commands": ["true"],
                       "checker": {"type": "file_exists", "config": {"paths": ["a/b"]}}})
    with RunFolder.create(folder, kind="sample", settings={}, tasks=[task]) as run:
        totals = asyncio.run(sample([task], ScriptedPolicy(answer), run, phase="sample", n=6,
                                    params=SamplingParams(), seed=0, judge=Judge()))
        print(totals.rollouts)
    """
)


@pytest.mark.parametrize("way", ["ends", "fails", "killed"])
def test_no_process_mount_group_or_folder_is_left(way: str, tmp_path: Path) -> None:
    before = traces()
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "run"), way]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        if way == "killed":
            assert program.stdout is not None
            assert program.stdout.readline() == "now\n"
            assert until(lambda: _at_work(program.pid) >= 7, 60)  # a keeper, six worlds, and what runs in them
            os.kill(program.pid, signal.SIGKILL)
        said, errors = program.communicate(timeout=120)
    if way == "ends":
        assert (program.returncode, said) == (0, "6\n"), errors
    if way == "fails":
        assert "the policy is gone" in errors
    assert until(lambda: not _left(before)), _left(before)


def _left(before: Traces) -> Traces:
    return (traces() - before)._replace(descriptors=frozenset())


def _at_work(pid: int) -> int:
    """Processes below this one."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return len(found)
