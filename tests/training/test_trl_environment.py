"""Environments as classes for TRL."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.environments import Answer
from lydite.environments.workspace import WorkspaceEnvironment
from lydite.errors import InputError
from lydite.rollout import Message, Tool
from lydite.task import Checker, Task

pytest.importorskip("trl")
pytestmark = pytest.mark.train


class Counter:
    """An environment that counts what is open."""

    name, version = "counter", 1
    tools = (
        Tool(
            name="add",
            description="Add a number.",
            parameters={"type": "object", "properties": {"by": {"type": "integer"}}, "required": ["by"]},
        ),
    )
    open = 0
    broken = False

    def start(self, task: Task) -> Any:
        if self.broken:
            raise InputError("set-up fails", field="setup_commands.0")
        return _Count(self)

    def close(self) -> None:
        return None


class _Count:
    done = False

    def __init__(self, owner: Counter) -> None:
        self.owner, self.total, self.closed = owner, 0, False
        owner.open += 1

    def call(self, name: str, arguments: dict[str, Any]) -> Answer:
        self.total += arguments.get("by", 0)
        return Answer(text=str(self.total))

    def freeze(self) -> None:
        return None

    def close(self) -> None:
        self.owner.open -= not self.closed
        self.closed = True


TASK = Task(
    id="t",
    prompt=(Message(role="user", content="Count."),),
    checker=Checker(type="exact", config={"answer": "3"}),
    env="counter",
    max_steps=2,
)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def made(environment: Any, threads: ThreadPoolExecutor) -> Any:
    from lydite.training.trl.environment import environment_class

    return environment_class(environment, [TASK], threads, limit=8)


def test_public_methods_are_the_tools_in_alphabetical_order(threads: ThreadPoolExecutor) -> None:
    environment = WorkspaceEnvironment()
    members = inspect.getmembers(made(environment, threads), predicate=inspect.isfunction)
    public = [name for name, _ in members if not name.startswith("_") and name != "reset"]
    assert public == [tool.name for tool in environment.tools] == sorted(public)


def test_transformers_reads_the_same_schema_from_the_methods(threads: ThreadPoolExecutor) -> None:
    from transformers.utils import get_json_schema

    environment = WorkspaceEnvironment()
    world = made(environment, threads)()
    for tool in environment.tools:
        schema = get_json_schema(getattr(world, tool.name))["function"]
        assert schema["description"] == tool.description
        assert list(schema["parameters"]["properties"]) == list(tool.parameters["properties"])
        assert set(schema["parameters"].get("required", ())) == set(tool.parameters["required"])


def test_reset_adds_nothing_to_the_prompt_and_leaves_the_world_before(threads: ThreadPoolExecutor) -> None:
    environment = Counter()
    world = made(environment, threads)()
    for _ in range(3):
        assert world.reset(task=0, prompt="whatever", environment="counter") is None
        assert world.add(by=2) == "2"
    assert environment.open == 1
    world._close()
    world._close()
    assert environment.open == 0


def test_a_task_s_own_budget_of_calls_holds(threads: ThreadPoolExecutor) -> None:
    world = made(Counter(), threads)()
    world.reset(task=0)
    assert [world.add(by=1) for _ in range(3)] == ["1", "2", "error: no more calls are allowed"]
    world._close()


def test_a_world_that_cannot_be_set_up_never_raises_from_reset(threads: ThreadPoolExecutor) -> None:
    environment = Counter()
    environment.broken = True
    world = made(environment, threads)()
    world.reset(task=0)
    assert world._begin(100).error.startswith("environment: setup_commands.0: set-up fails")
    world._finish()
    assert world._ended.attempt.error is not None


@given(text=st.text(max_size=300), room=st.integers(-5, 200))
def test_what_is_fitted_has_room(text: str, room: int) -> None:
    from lydite.training.trl.environment import CUT, fit

    def measure(some: str) -> int:
        return len(some.encode("utf-8", "surrogatepass"))

    fitted = fit(text, room, measure)
    assert measure(fitted) <= max(0, room)
    assert fitted == text or fitted.endswith(CUT) or fitted == ""
