"""The contract suite of environments: what every one, built in or a user's own, is held to.

Covered: tools that a policy can be told of; calls of any kind are answered; attempts start alike and share nothing;
what is left behind stays as it is; nothing is left when all is closed. Not covered: whether the world is the right one
for its tasks, and what its tools do when they are used well: give a task and calls, and look.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lydite.environments.protocol import Answer, Environment, Episode
from lydite.errors import LyditeError
from lydite.rollout import Message, Tool
from lydite.task import Checker, Task

LONGEST = 1 << 20
"""Characters of an answer: more is no answer that a policy can be shown."""
PATIENCE = 10.0
"""Seconds that processes have to be gone after ``close``."""
_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_ODD: tuple[Any, ...] = (
    *("", "x", "..", "../lydite-outside", "/nowhere/lydite", "a\0b", "\ud800", "-x", "x" * 100_000, "é/ü"),
    *(0, -1, 10**30, 1.5, float("nan"), True, None, [], [["a"]], {}, {"a": {"b": [1]}}),
)


class BrokenError(Exception):
    """A promise that was not kept; the text is the evidence."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one check: ``evidence`` says why it failed, and is empty where it passed."""

    check: str
    promise: str
    passed: bool
    evidence: str = ""


def run_contract(environment: Environment, task: Task | None = None) -> Iterator[Finding]:
    """What the suite finds, check by check. The environment is closed at the end.

    Args:
        environment: as a registry gives it.
        task: one to start it with; one that only names the environment, when not given.

    Raises:
        LyditeError: the task's set-up fails, or there is no sandbox: then nothing can be said.
    """
    task = task or blank(str(getattr(environment, "name", "env")))
    on = _Subject(environment, task, _children())
    try:
        environment.start(task).close()
    except LyditeError:  # the task is at fault, or this machine
        raise
    except Exception:  # noqa: S110  (a check will say so)
        pass
    for name, (promise, check) in CHECKS.items():
        try:
            check(on)
        except BrokenError as error:
            yield Finding(check=name, promise=promise, passed=False, evidence=str(error))
        except Exception as error:
            told = f"raised {type(error).__name__}: {str(error)[:300]}"
            yield Finding(check=name, promise=promise, passed=False, evidence=told)
        else:
            yield Finding(check=name, promise=promise, passed=True)


def blank(env: str) -> Task:
    """A task that only names its environment."""
    checker = Checker(type="exit_code", config={"command": "true"})
    return Task(id="contract", prompt=(Message(role="user", content="Work."),), checker=checker, env=env)


class _Subject(NamedTuple):
    environment: Environment
    task: Task
    before: set[str]
    """Processes below this one before the suite began."""


def _named(on: _Subject) -> None:
    if not isinstance(on.environment.name, str) or not re.fullmatch(r"\w[\w.-]{0,79}", on.environment.name):
        raise BrokenError(f"its name is {on.environment.name!r:.100}")
    if not isinstance(on.environment.version, int) or on.environment.version < 1:
        raise BrokenError(f"its version is {on.environment.version!r:.100}")


def _tools(on: _Subject) -> None:
    tools = tuple(on.environment.tools)
    if not tools:
        raise BrokenError("it has no tools: a task that is answered in text alone has env: none")
    if tools != tuple(on.environment.tools):
        raise BrokenError("its tools are others when asked again")
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise BrokenError(f"two tools have one name: {', '.join(names)}")
    for tool in tools:
        _tool(tool)


def _tool(tool: Tool) -> None:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", tool.name):
        raise BrokenError(f"no policy can call {tool.name!r:.100}")
    if not tool.description.strip():
        raise BrokenError(f"{tool.name} has no description")
    schema = tool.parameters
    if schema.get("type") != "object" or not isinstance(schema.get("properties", {}), dict):
        raise BrokenError(f"parameters of {tool.name} are no JSON schema of an object")
    for name, field in schema.get("properties", {}).items():
        if not ({"anyOf", "$ref", "enum"} & field.keys() or field.get("type") in _TYPES):
            raise BrokenError(f"{tool.name}.{name} has no type")
    if missing := set(schema.get("required", ())) - set(schema.get("properties", {})):
        raise BrokenError(f"{tool.name} requires {min(missing)}, which it does not describe")
    try:
        msgspec.json.encode(schema)
    except (TypeError, ValueError) as error:
        raise BrokenError(f"parameters of {tool.name} are no JSON: {error}") from None


def _starts(on: _Subject) -> None:
    with _episode(on) as episode:
        if episode.done is not False:
            raise BrokenError(f"done is {episode.done!r} at the start")
    with ThreadPoolExecutor(4) as pool:
        episodes = list(pool.map(lambda _: on.environment.start(on.task), range(4)))
    try:
        if len({id(episode) for episode in episodes}) < 4:
            raise BrokenError("two attempts got one episode")
    finally:
        for episode in episodes:
            episode.close()


def _answers(on: _Subject) -> None:
    with _episode(on) as episode:
        if not _answered(episode, "no_such_tool", {}).failed:
            raise BrokenError("a tool that is not there was called, and that is no failure")
        for tool in on.environment.tools:
            names = list(tool.parameters.get("properties", {}))
            calls = [{}, {"no_such_argument": 1}, *(dict.fromkeys(names, odd) for odd in _ODD)]
            for given in calls:
                answer = _answered(episode, tool.name, given)
                wrong = set(given) - set(names) or set(tool.parameters.get("required", ())) - set(given)
                if wrong and not answer.failed:
                    raise BrokenError(f"{tool.name} takes {str(given)[:60]}, and that is no failure")


def _answered(episode: Episode, name: str, given: dict[str, Any]) -> Answer:
    if episode.done:
        return Answer(text="", failed=True)
    try:
        answer = episode.call(name, given)
    except Exception as error:
        told = f"{type(error).__name__}: {str(error)[:200]}"
        raise BrokenError(f"{name}({ascii(given)[:80]}) raised {told}") from None
    if not isinstance(answer, Answer) or not isinstance(answer.text, str):
        raise BrokenError(f"{name}({ascii(given)[:80]}) gave {type(answer).__name__}, no Answer with a text")
    if len(answer.text) > LONGEST:
        raise BrokenError(f"{name}({ascii(given)[:80]}) answered with {len(answer.text)} characters")
    try:
        answer.text.encode()
    except UnicodeEncodeError:
        raise BrokenError(f"{name}({ascii(given)[:80]}) answered with what is no UTF-8") from None
    if not answer.seconds >= 0:
        raise BrokenError(f"{name} took {answer.seconds} seconds")
    return answer


def _alike(on: _Subject) -> None:
    digests = []
    for _ in range(2):
        with _episode(on) as episode:
            digests.append(_digest(episode))
    if digests[0] != digests[1]:
        raise BrokenError("two attempts that did nothing left different states")


def _apart(on: _Subject) -> None:
    with _episode(on) as one, _episode(on) as other, _episode(on) as third:
        before = _digest(third)
        for tool in on.environment.tools:
            for odd in ("x", "touched", 1):
                _answered(one, tool.name, dict.fromkeys(tool.parameters.get("properties", {}), odd))
        if _digest(other) != before:
            raise BrokenError("what one attempt did is there in another")


def _frozen(on: _Subject) -> None:
    with _episode(on) as episode:
        for tool in on.environment.tools:
            _answered(episode, tool.name, dict.fromkeys(tool.parameters.get("properties", {}), "x"))
        first, second = _digest(episode), _digest(episode)
    if first != second:
        raise BrokenError("freeze gives another state the second time")


def _closed(on: _Subject) -> None:
    episode = on.environment.start(on.task)
    episode.close()
    episode.close()
    on.environment.close()
    on.environment.close()
    end = time.monotonic() + PATIENCE
    while left := _children() - on.before:
        if time.monotonic() > end:
            raise BrokenError(f"{len(left)} processes are left: {', '.join(sorted(left))[:200]}")
        time.sleep(0.02)


def _children() -> set[str]:
    """Names and numbers of the processes below this one."""
    found: dict[int, tuple[int, str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            head, _, rest = path.read_text().rpartition(")")
            if rest.split()[0] != "Z":
                found[int(path.parent.name)] = (int(rest.split()[1]), head.partition("(")[2])
    own: set[int] = {os.getpid()}
    while more := {pid for pid, (parent, _) in found.items() if parent in own} - own:
        own |= more
    return {f"{found[pid][1]} {pid}" for pid in own - {os.getpid()} if pid in found}


@contextlib.contextmanager
def _episode(on: _Subject) -> Iterator[Episode]:
    episode = on.environment.start(on.task)
    try:
        yield episode
    finally:
        episode.close()


def _digest(episode: Episode) -> str | None:
    state = episode.freeze()
    return None if state is None else state.digest


CHECKS: dict[str, tuple[str, Callable[[_Subject], None]]] = {
    "named": ("It has a name and a version.", _named),
    "tools": ("Its tools can be told to a policy: names, descriptions, typed parameters.", _tools),
    "starts": ("It starts episodes, several at a time, each its own and not done.", _starts),
    "answers": (
        "Every call is answered in well-formed text, whatever a policy asks; what cannot be is failed.",
        _answers,
    ),
    "alike": ("Attempts at a task start from the same state.", _alike),
    "apart": ("What one attempt does reaches no other.", _apart),
    "frozen": ("Freezing twice gives the same state.", _frozen),
    "closed": ("Closing twice is fine, and leaves no process.", _closed),
}
"""Name of a check: what it promises, and how that is looked at."""
