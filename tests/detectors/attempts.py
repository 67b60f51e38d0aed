"""Recorded attempts as rollouts, for tests and benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import yaml

from lydite.rollout import Message, Rollout, ToolCall
from lydite.task import Checker, Task
from lydite.verdict import Verdict

DATA = Path(__file__).parent / "data"
ADD = [
    {"call": "add", "args": [20, 22], "expected": 42},
    {"call": "add", "args": [100, 23], "expected": 123},
    {"call": "add", "args": [-7, 50], "expected": 43},
]
TESTS = (
    "from app import total\n\n\ndef test_total():\n    assert total([10, 32]) == 42\n    assert total([70, 7]) == 77\n"
)
FILES = {"app.py": "def total(prices):\n    return 0\n", "tests/test_app.py": TESTS}
CONFIGS: dict[str, dict[str, Any]] = {
    "math": {"answer": "7"},
    "choice": {"answer": "B"},
    "exact": {"answer": "Paris"},
    "code": {"tests": ADD, "entry_point": "add"},
    "pytest": {"test_paths": ["tests"]},
    "script": {"script": "print(1.0)"},
    "json_schema": {"schema": {"type": "object"}},
}


class Case(NamedTuple):
    """One recorded attempt, or a group of them; all judged correct."""

    name: str
    expect: str
    task: Task
    rollouts: tuple[Rollout, ...]
    verdicts: tuple[Verdict, ...]
    exploit: str = ""
    missed: bool = False


def load(name: str) -> list[Case]:
    """The cases of a file below ``data/``."""
    return [case_of(document) for document in yaml.safe_load((DATA / name).read_text(encoding="utf-8"))]


def case_of(document: dict[str, Any]) -> Case:
    kind = document["checker"]
    episode = "steps" in document
    task = Task(
        id=document["name"],
        prompt=(Message(role="user", content=document.get("prompt", "Do it.")),),
        checker=Checker(type=kind, config=document.get("config", CONFIGS[kind])),
        env="workspace" if episode else "none",
        setup_files=FILES if episode else {},
    )
    texts = document.get("group") or [document.get("text")]
    completions = [tuple(_episode(document["steps"]))] if episode else [_answer(text) for text in texts]
    rollouts = tuple(
        Rollout(
            id=f"sample/{task.id}/{at}", task=task.id, task_digest="", index=at, prompt=task.prompt, completion=said
        )
        for at, said in enumerate(completions)
    )
    verdicts = tuple(_verdict(kind, rollout, document.get("extracted")) for rollout in rollouts)
    return Case(
        document["name"],
        document.get("expect", ""),
        task,
        rollouts,
        verdicts,
        document.get("exploit", ""),
        document.get("missed", False),
    )


def _answer(text: str) -> tuple[Message, ...]:
    return (Message(role="assistant", content=text),)


def _episode(steps: list[dict[str, Any]]) -> list[Message]:
    messages: list[Message] = []
    for step in steps:
        if "say" in step:
            messages.append(Message(role="assistant", content=step["say"]))
            continue
        if "write" in step:
            call = ToolCall(name="write_file", arguments={"path": step["write"], "content": step["content"]})
            said = f"wrote {len(step['content'])} bytes to {step['write']}"
        elif "read" in step:
            call, said = ToolCall(name="read_file", arguments={"path": step["read"]}), step.get("gives", "")
        else:
            call, said = ToolCall(name="run_command", arguments={"command": step["run"]}), step.get("gives", "")
        messages.append(Message(role="assistant", tool_calls=(call,)))
        messages.append(Message(role="tool", name=call.name, content=said))
    return messages


def _verdict(kind: str, rollout: Rollout, extracted: str | None) -> Verdict:
    from lydite.detectors.answers import marked_answers

    answers = marked_answers(rollout.text) if kind in ("math", "choice") else []
    extracted = (
        extracted or answers[-1].text if answers else rollout.text[:40] if kind in ("math", "choice", "exact") else None
    )
    return Verdict.of(1.0, "correct", f"{kind}@1", extracted=extracted)
