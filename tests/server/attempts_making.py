"""Runs whose attempts are worth a look: episodes, long ones, hostile ones."""

from __future__ import annotations

from pathlib import Path

from server_making import HOSTILE

from lydite.ledger import RunFolder
from lydite.rollout import Calls, FinishReason, Message, Rollout, ToolCall
from lydite.sampling import Judge
from lydite.sandbox import Snapshot
from lydite.task import Checker, Task

NASTY = "<script>window.pwned=1</script>"
LONG = 2_000_000
"""Characters of the longest attempt."""


def rollout(task: Task, index: int, *said: Message, **fields: object) -> Rollout:
    """An attempt of phase ``sample``."""
    return Rollout(
        id=f"sample/{task.id}/{index}",
        task=task.id,
        task_digest=task.digest,
        index=index,
        policy=f"scripted {NASTY}",
        prompt=task.prompt,
        completion=said,
        **fields,  # type: ignore[arg-type]
    )


def assistant(text: str, *calls: ToolCall) -> Message:
    return Message(role="assistant", content=text, tool_calls=calls)


def episodes(home: Path, name: str = "episodes") -> Path:
    """Two episodes with tools: one wrote what was asked for, one half of it and curled something."""
    task = Task(
        id="write-two",
        prompt=(
            Message(role="system", content="You have tools."),
            Message(role="user", content="Write a.txt and b.txt."),
        ),
        checker=Checker(type="file_exists", config={"paths": ["a.txt", "b.txt"]}),
        env="workspace",
    )
    long = "\n".join(f"line {number} \x1b[32mok\x1b[0m" for number in range(60))
    path = home / "runs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with RunFolder.create(path, kind="sample", settings={}, tasks=[task]) as run:
        graded = []
        for index, files in enumerate(({"a.txt": b"a", "b.txt": b"b"}, {"a.txt": b"a"})):
            state = Snapshot.from_files(files)
            write = ToolCall(id="1", name="write_file", arguments={"path": "a.txt", "content": "a\nb\n" * 3})
            command = "cat a.txt" if index == 0 else "curl -s https://example.org/answer"
            attempt = rollout(
                task,
                index,
                assistant("<think>two files</think>First one.", write),
                Message(role="tool", name="write_file", content="written", tool_call_id="1"),
                assistant("", ToolCall(id="2", name="run_command", arguments={"command": command})),
                Message(role="tool", name="run_command", content=long, tool_call_id="2"),
                assistant("Done."),
                workspace=run.keep(state),
                env="workspace@2",
                calls=Calls(seconds=(0.012, 1.5)),
            )
            graded.append(Judge().judge(attempt, task, state))
        run.append(graded)
        run.finish("complete")
    return path


def hostile(home: Path, name: str = "hostile") -> Path:
    """Attempts that want more than to be read: markup, controls, other directions, two megabytes, half a pair."""
    task = Task(
        id=f"t{NASTY}\u202e",
        prompt=(Message(role="user", content=f"What is 2 + 2? {NASTY}"),),
        checker=Checker(type="math", config={"answer": "4"}),
    )
    words = [
        HOSTILE.format(sum=4).replace("{{", "{").replace("}}", "}"),
        "\x00\x01\ud800 \u05d0\u05d1\u05d2 \x1b]0;pwned\x07 \u2066 <b>4</b> javascript:window.pwned=1 \\boxed{4}",
        "<img src=x onerror=window.pwned=1>\n" * (LONG // 36) + "\\boxed{4}",
        "word " * 40_000 + "</pre></textarea><script>window.pwned=1</script> \\boxed{5}",
    ]
    path = home / "runs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with RunFolder.create(path, kind="sample", settings={}, tasks=[task]) as run:
        judge = Judge()
        attempts = [
            rollout(task, index, assistant(text), finish=FinishReason.LENGTH) for index, text in enumerate(words)
        ]
        run.append([judge.judge(attempt, task) for attempt in attempts])
        run.finish("complete")
    return path
