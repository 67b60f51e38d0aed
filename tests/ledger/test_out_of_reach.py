"""Nothing that a sandboxed program does can reach the run folder while it is being written.

Candidates' programs and commands of episodes know where the folder is and who writes it; they look for it by its path,
through links, through every process that they can see, and by its files' names. Some are those of the sandbox's own
battery of attacks, aimed at the ledger.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger_making import SETTINGS, TASKS, grades

from lydite.ledger import RunFolder, verify_run
from lydite.ledger.replay import Match, replay
from lydite.policies.protocol import Attempt, Prompt, SamplingParams
from lydite.policies.scripted import ScriptedPolicy
from lydite.rollout import Message, ToolCall
from lydite.sampling import Judge, rescore, sample
from lydite.sandbox import Sandbox
from lydite.tasksets import parse_task

SANDBOX_TESTS = Path(__file__).parents[1] / "sandbox"
MARK = "OWNED-4711"

SEEK = """
import os
from contextlib import suppress

RUN, WRITER, MARK = @RUN@, @WRITER@, @MARK@
names = ("ledger.jsonl", "rollouts.jsonl", "run.json", "tasks.jsonl", ".lock")
doors = [RUN, "../" * 40 + RUN.lstrip("/"), "/proc/self/cwd/" + "../" * 40 + RUN.lstrip("/")]
processes = {"self", "1", str(os.getppid()), str(WRITER)}
with suppress(OSError):
    processes |= {name for name in os.listdir("/proc") if name.isdigit()}
doors += [f"/proc/{process}/{way}{RUN}" for process in processes for way in ("root", "cwd", "task/1/root")]
with suppress(OSError):
    os.symlink(RUN, "run")
    doors.append("run")
reached = []
for door in doors:
    with suppress(OSError):
        reached += [door + "/" + name for name in os.listdir(door)]
    for name in names:
        for flags in (os.O_RDONLY, os.O_WRONLY | os.O_APPEND, os.O_WRONLY | os.O_TRUNC):
            with suppress(OSError):
                handle = os.open(f"{door}/{name}", flags)
                reached.append(f"{door}/{name}")
                os.write(handle, MARK.encode())
    for change in (
        lambda: os.unlink(door + "/ledger.jsonl"),
        lambda: os.rename(door + "/run.json", door + "/" + MARK),
        lambda: os.truncate(door + "/rollouts.jsonl", 0),
        lambda: os.mkfifo(door + "/" + MARK),
    ):
        with suppress(OSError):
            change()
            reached.append(door)
for process in processes:
    for kind in ("fd", "map_files"):
        with suppress(OSError):
            for number in os.listdir(f"/proc/{process}/{kind}"):
                with suppress(OSError):
                    path = f"/proc/{process}/{kind}/{number}"
                    if any(name in os.readlink(path) for name in names):
                        reached.append(path)
                        with open(path, "ab") as file:
                            file.write(MARK.encode())
for number in range(3, 64):
    with suppress(OSError):
        if any(name in os.readlink(f"/proc/self/fd/{number}") for name in names):
            reached.append(number)
for folder, below, files in os.walk("/"):
    if folder.count("/") > 6 or folder.startswith(("/proc", "/sys", "/usr")):
        below[:] = []
        continue
    reached += [folder for name in ("ledger.jsonl", "rollouts.jsonl") if name in files]
"""

ANSWER = """
def add(a, b):
    return a + b if not reached else 0
"""
"""Right where nothing was reached: what an attack found shows in its verdict."""

COMMANDS = [
    "python3 seek.py",
    "for p in /proc/[0-9]*; do cat $p/root@RUN@/ledger.jsonl && echo REACHED; ls -l $p/fd | grep jsonl; done; true",
    "ln -s @RUN@/ledger.jsonl answer.txt; echo @MARK@ >> answer.txt; ln -s @RUN@ folder; touch folder/@MARK@; true",
    "find / -path /usr -prune -o -name ledger.jsonl -print | while read f; do echo @MARK@ >> $f; echo REACHED; done",
]


def seek(run: Path) -> str:
    """The program that looks for a run folder."""
    places = {"@RUN@": repr(str(run)), "@WRITER@": str(os.getpid()), "@MARK@": f"{MARK[:5]!r} + {MARK[5:]!r}"}
    text = SEEK
    for name, value in places.items():
        text = text.replace(name, value)
    return text


def tasks(run: Path) -> list[object]:
    tests = [{"call": "add", "args": [2, 3], "expected": 5}]
    config = {"tests": tests, "timeout": 60}  # the search takes its time on a busy machine
    script = "import os\nprint(0.0 if os.path.exists('answer.txt') or os.path.exists('reached') else 1.0)"
    program = seek(run) + "\nif reached:\n    print('REACHED', reached)\n    open('reached', 'w').close()\n"
    return [
        parse_task({"id": "code", "prompt": "x", "checker": {"type": "code", "config": config}}),
        parse_task(
            {
                "id": "files",
                "prompt": "y",
                "env": "workspace",
                "setup_files": {"seek.py": program},
                "checker": {"type": "script", "config": {"script": script}},
            }
        ),
    ]


def answers(run: Path) -> ScriptedPolicy:
    """Attacks in the text of an answer, and in the commands of an episode."""

    def answer(prompt: Prompt, seed: int, index: int) -> Attempt:
        if prompt[0].content == "x":
            text = f"```python\n{seek(run)}{ANSWER}```"
            return Attempt(completion=(Message(role="assistant", content=text),), completion_tokens=1)
        turn = sum(message.role == "assistant" for message in prompt)
        if turn == len(COMMANDS):
            return Attempt(completion=(Message(role="assistant", content="done"),), completion_tokens=1)
        command = COMMANDS[turn].replace("@RUN@", str(run)).replace("@MARK@", MARK)
        call = ToolCall(name="run", arguments={"command": command})
        return Attempt(completion=(Message(role="assistant", tool_calls=(call,)),), completion_tokens=1)

    return ScriptedPolicy(answer)


def test_programs_and_commands_do_not_find_the_run_that_they_are_part_of(tmp_path: Path) -> None:
    run = tmp_path / "run"
    given = tasks(run)
    with RunFolder.create(run, kind="sample", settings={}, tasks=given) as folder:
        params = SamplingParams(max_tokens=10_000)
        work = sample(given, answers(run), folder, phase="sample", n=1, params=params, seed=0, judge=Judge())
        asyncio.run(work)
        folder.finish()
    before = (run / "ledger.jsonl").read_bytes()
    rows = list(RunFolder.open(run).rows())
    told = [message.content for row in rows for message in row.rollout.completion if message.role == "tool"]
    assert len(told) == len(COMMANDS)
    assert not [text for text in told if "REACHED" in text or "jsonl" in text]
    verdict = next(row.record.verdict for row in rows if row.rollout.task == "code")
    assert verdict.correct, (verdict.reason, verdict.parts)
    # The state that is kept holds a link to the ledger; judging it again goes nowhere either.
    assert [item.match for item in replay(RunFolder.open(run))] == [Match.SAME] * 2
    assert rescore(run, lambda task: task, {}, name="again").judged == 2
    assert verify_run(run).problem is None
    assert (run / "ledger.jsonl").read_bytes().startswith(before)
    _untouched(run)


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Path]:
    """A run that is being written all the time by this process."""
    run, stop = tmp_path / "run", threading.Event()

    def write() -> None:
        count = 0
        with RunFolder.create(run, kind="sample", settings=SETTINGS, tasks=TASKS) as folder:
            while not stop.is_set():
                folder.append(grades(phase=f"p{count}"))
                count += 1
                stop.wait(0.005)
            folder.finish()

    thread = threading.Thread(target=write)
    thread.start()
    yield run
    stop.set()
    thread.join()
    assert verify_run(run).problem is None
    _untouched(run)


def test_the_batterys_attacks_aimed_at_a_ledger_do_not_find_it(written: Path) -> None:
    sys.path.insert(0, str(SANDBOX_TESTS))
    try:
        from attack_programs import FOLDER, read
    finally:
        sys.path.remove(str(SANDBOX_TESTS))
    aimed = {
        "@VICTIM@/grader/audit.log": f"{written}/ledger.jsonl",
        "@VICTIM@/grader/tests.json": f"{written}/rollouts.jsonl",
        "@VICTIM@/home/.ssh/id_rsa": f"{written}/ledger.jsonl",
        '"CANARY"': '"prev"',
    }
    programs = [read(FOLDER / "file_system" / f"{name}.py").text for name in ("proc_roots", "links_out")]
    for old, new in aimed.items():
        programs = [text.replace(old, new) for text in programs]
    assert all(str(written) in text for text in programs)
    with Sandbox() as box:
        for text in [*programs, seek(written) + "\nprint('PWNED' if reached else 'nothing', reached)"]:
            done = box.run(text, timeout=60)
            assert done.status in ("ok", "error"), (done.status, done.stderr)
            assert b"PWNED" not in done.stdout, done.stdout


def _untouched(run: Path) -> None:
    """Only what Lydite writes is in the folder, and the attacks' mark is not in it (samples quote it, in commands)."""
    known = {".lock", "ledger.jsonl", "metrics.jsonl", "rollouts.jsonl", "run.json", "tasks.jsonl"}
    assert {path.name for path in run.iterdir()} <= known | {"workspaces", "rescorings"}
    for name in ("ledger.jsonl", "run.json", "metrics.jsonl"):
        assert MARK.encode() not in (run / name).read_bytes(), name
