"""Whether the gold stands where a policy can see it: in the prompt, in the workspace, in its environment variables."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from lydite.probes.buried import buried
from lydite.probes.panel.golds import ANSWERS
from lydite.probes.protocol import Check, Finding, Level, Target, leaves
from lydite.probes.world import World
from lydite.sandbox import Snapshot
from lydite.task import Checker, Task

SHORTEST = 4
"""Characters of a gold that is looked for in a prompt; shorter ones, and numbers, stand there by chance."""
WHOLE = 20
"""Characters of a solution or a grader's file that is looked for as a whole."""


def findings(
    target: Target, untouched: Snapshot | None, world: World, claim: Callable[[str, str], bool]
) -> Iterator[Finding]:
    """Warnings: whether what is shown is too much is the author's to say."""
    told = next(iter(_in_prompt(target)), "")
    yield _finding(target.task, "gold_in_prompt", told, "leave it out of the prompt")
    if untouched is None:
        return
    told = next(iter(_in_workspace(target, untouched)), "")
    yield _finding(target.task, "gold_in_workspace", told, "take it out of setup_files and setup_commands")
    if claim("canary_in_gold", target.task.env):
        told = _canary(target.task, world)
        yield _finding(target.task, "canary_in_gold", told, "this is a fault of Lydite's: please report it")


def _finding(task: Task, kind: str, told: str, mend: str) -> Finding:
    level = Level.WARNING if told else Level.PASSED
    return Finding(
        task=task.id, check=Check.LEAKAGE, kind=kind, level=level, told=told, what="the gold in plain sight", mend=mend
    )


def _in_prompt(target: Target) -> Iterator[str]:
    prompt = target.task.prompt_text
    for part in target.of(*ANSWERS):
        if part.type == "choice":
            continue  # options are shown
        for gold in leaves(part.config.get("answer")):
            wordy = len(gold.strip()) >= SHORTEST and re.search(r"[^\W\d]", gold)
            if wordy and re.search(rf"(?<!\w){re.escape(gold.strip())}(?!\w)", prompt):
                yield f"the answer {gold.strip()[:60]!r} stands in the prompt"
    solution = target.solution_text
    if solution is not None and len(solution.strip()) >= WHOLE and solution.strip() in prompt:
        yield "the reference solution stands in the prompt"
    for path, text in target.solution_files.items():
        if len(text.strip()) >= WHOLE and text.strip() in prompt:
            yield f"{path} of the reference solution stands in the prompt"


def _in_workspace(target: Target, untouched: Snapshot) -> Iterator[str]:
    held = {path: data.decode("utf-8", "replace").strip() for path, data in untouched.files.items()}
    for path, text in target.solution_files.items():
        for found, content in held.items():
            if len(text.strip()) >= WHOLE and text.strip() == content:
                yield f"{found} is {path} of the reference solution"
    yield from buried(untouched.files, {name: text for name, text in _gold(target) if len(text.strip()) >= WHOLE})
    shown = set(target.task.setup_files)
    for part in target.of("pytest"):
        for path, text in (part.config.get("files") or {}).items():
            for found, content in held.items():
                if found not in shown and len(text.strip()) >= WHOLE and text.strip() == content:
                    yield f"{found} is the hidden test file {path}"
    for part in target.of("script"):
        script = str(part.config.get("script") or "").strip()
        for found, content in held.items():
            if len(script) >= WHOLE and script == content:
                yield f"{found} is the grader's script"


def _gold(target: Target) -> Iterator[tuple[str, str]]:
    """Files of the reference solution, and hidden ones of the graders."""
    yield from target.solution_files.items()
    for part in target.of("pytest"):
        hidden = part.config.get("files") or {}
        yield from ((path, text) for path, text in hidden.items() if path not in target.task.setup_files)


def _canary(task: Task, world: World) -> str:
    """Set a task up whose solution, gold and metadata are one secret word, and look for that."""
    word = f"canary-{secrets.token_hex(12)}"
    checker = Checker(type=task.checker.type, config=_replaced(task.checker.config, word))
    copy = msgspec.structs.replace(
        task, checker=checker, solution=word, metadata={"canary": word}, setup_commands=(), prompt=()
    )
    state = world.untouched(copy)
    assert state is not None
    seen = world.exec(state, "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; ls -laR . /tmp")
    if word in seen:
        return "the gold is in the environment of the commands of an episode"
    if any(word in entry.path or word.encode() in entry.data for entry in state.entries):
        return "the gold is in the workspace of an episode"
    return ""


def _replaced(value: Any, word: str) -> Any:
    if isinstance(value, str):
        return word
    if isinstance(value, dict):
        return {key: _replaced(item, word) for key, item in value.items()}
    return [_replaced(item, word) for item in value] if isinstance(value, list) else value
