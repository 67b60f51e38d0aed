from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lydite.errors import InputError
from lydite.policies import SamplingParams, load_local, open_policy
from lydite.policies.tiny import BUILT_IN, tiny_folder
from lydite.rollout import Tool, ToolCall
from policies.contract import ask

pytest.importorskip("torch")
pytestmark = pytest.mark.train


@pytest.mark.parametrize("spec", BUILT_IN)
def test_the_package_carries_it_and_it_is_small(spec: str) -> None:
    assert sum(path.stat().st_size for path in tiny_folder(spec).iterdir()) < 4 * 2**20


async def test_it_answers_a_sum_in_words_of_its_own() -> None:
    policy = open_policy("builtin:tiny")
    [row] = await policy.generate([ask("What is 2 + 3?")], [range(8)], SamplingParams(max_tokens=120))
    assert policy.id.startswith("builtin:tiny@")
    assert all(attempt.error is None and attempt.completion[0].content for attempt in row)
    await policy.aclose()


async def test_an_adapter_goes_on_top_of_it(tmp_path: Path) -> None:
    peft: Any = pytest.importorskip("peft")
    model, _ = load_local("builtin:tiny")
    peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules=["q_proj"])).save_pretrained(str(tmp_path))
    policy = open_policy(f"hf:builtin:tiny+{tmp_path}")
    assert policy.id.startswith("hf:builtin:tiny+")
    [[attempt]] = await policy.generate([ask("What is 2 + 3?")], [[1]], SamplingParams(max_tokens=8))
    assert attempt.error is None
    await policy.aclose()


def tool(name: str, *arguments: str) -> Tool:
    values = {argument: {"type": "string"} for argument in arguments}
    return Tool(name=name, description="", parameters={"type": "object", "properties": values})


@pytest.mark.parametrize(
    ("asked", "call"),
    [
        ("Run mv a.txt k.txt.", ToolCall(name="run_command", arguments={"command": "mv a.txt k.txt"})),
        (
            "Call write_file with path q.txt and content moon.",
            ToolCall(name="write_file", arguments={"path": "q.txt", "content": "moon"}),
        ),
    ],
)
async def test_the_one_for_tools_calls_what_it_is_told(asked: str, call: ToolCall) -> None:
    tools = (
        tool("list_dir", "path"),
        tool("read_file", "path"),
        tool("run_command", "command"),
        tool("write_file", "path", "content"),
    )
    policy = open_policy("builtin:tiny-tools")
    params = SamplingParams(max_tokens=60, temperature=0.0, tools=tools)
    [[attempt]] = await policy.generate([ask(asked)], [[0]], params)
    assert policy.id.startswith("builtin:tiny-tools@")
    assert attempt.completion[0].tool_calls == (call,)
    await policy.aclose()


def test_a_built_in_model_that_is_not_there() -> None:
    with pytest.raises(InputError, match="tiny-tool'"):
        load_local("builtin:tiny-tool")


@pytest.mark.parametrize("spec", BUILT_IN)
def test_its_template_is_the_one_that_models_without_tools_are_given(spec: str) -> None:
    pytest.importorskip("trl")
    from lydite.training.trl.templates import RESPONSE_TEMPLATE, TOOL_TEMPLATE

    tokenizer = load_local(spec)[1]
    assert (tokenizer.chat_template, tokenizer.response_template) == (TOOL_TEMPLATE, RESPONSE_TEMPLATE)
