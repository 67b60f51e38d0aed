"""Chat templates that episodes can be trained with."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis.strategies import lists, sampled_from
from tiny_llama import make_tokenizer

from lydite.errors import InputError
from lydite.policies.toolcalls import offered, parsed
from lydite.rollout import Tool, ToolCall

pytest.importorskip("trl")
pytestmark = pytest.mark.train

TOOLS = (
    Tool(
        name="read_file",
        description="Read a file.",
        parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    ),
)


def fit(tokenizer: Any) -> bool:
    from trl.chat_template_utils import is_chat_template_prefix_preserving, supports_tool_calling

    return supports_tool_calling(tokenizer) and is_chat_template_prefix_preserving(tokenizer)


def test_the_built_in_policy_is_fit_as_it_is() -> None:
    from lydite.policies.weights import load_local
    from lydite.training.trl.templates import offer_tools

    tokenizer = load_local("builtin:tiny")[1]
    before = tokenizer.chat_template
    assert offer_tools(tokenizer) == ""
    assert tokenizer.chat_template == before
    assert fit(tokenizer)


def test_a_template_without_tools_is_given_ours(tmp_path: Any) -> None:
    from transformers import AutoTokenizer

    from lydite.training.trl.templates import offer_tools

    tokenizer = make_tokenizer()
    assert "was given" in offer_tools(tokenizer)
    assert fit(tokenizer)
    text = tokenizer.apply_chat_template([{"role": "user", "content": "x"}], tools=offered(TOOLS), tokenize=False)
    assert text == "<|im_start|>tools\nread_file(path)<|im_end|>\n<|im_start|>user\nx<|im_end|>\n"
    assert offer_tools(tokenizer) == ""  # it is fit now
    tokenizer.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    said = parsed(again, '<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>', TOOLS)
    assert said.calls == (ToolCall(name="read_file", arguments={"path": "a"}),)


def test_a_template_that_cannot_be_helped_is_an_error() -> None:
    from lydite.training.trl.templates import offer_tools

    tokenizer = make_tokenizer()
    tokenizer.eos_token = "<|endoftext|>"
    with pytest.raises(InputError, match="renders no tools"):
        offer_tools(tokenizer)


CALLS = [
    '<tool_call>{"name": "read_file", "arguments": {"path": "a \\"b\\" \\u00e9 <c> ü"}}</tool_call>',
    '<tool_call>{"name": "read_file", "arguments": {}}</tool_call>',
    '<tool_call>{"name": "read_file", "arguments": {"n": -1.5, "t": true, "x": null}}</tool_call>',
    '<tool_call>{"name": "read_file", "arguments": {"nested": {"list": [1]}}}</tool_call>',
]
NOT_CALLS = [
    '<tool_call>{"name": "read_file", "arguments": {"path": "d.txt", "content": "bo',
    '<tool_call>{"name": "read_file", "arguments": {"path": 01}}</tool_call>',
    '<tool_call>{"name": "read_file", "arguments": {"path": "\\x"}}</tool_call>',
    '<tool_call>{"name": "read_file", "arguments": {"path": "</tool_call>"}}</tool_call>',
    "<tool_call>read it</tool_call>",
    "<tool_call></tool_call>",
    "<tool_call>",
    "</tool_call>",
    "Done.",
    "",
]


def ours() -> Any:
    from lydite.training.trl.templates import offer_tools

    tokenizer = make_tokenizer()
    offer_tools(tokenizer)
    return tokenizer


@given(parts=lists(sampled_from([*CALLS, *NOT_CALLS, "<|im_end|>", "\n"]), max_size=4))
@settings(max_examples=60)
def test_no_answer_is_too_strange_for_the_rule_by_which_calls_are_read(parts: list[str]) -> None:
    from lydite.policies.toolcalls import read_calls
    from lydite.training.trl.templates import RESPONSE_TEMPLATE

    tokenizer, text = ours(), "".join(parts)
    message = tokenizer.parse_response(text, RESPONSE_TEMPLATE, prefix="<|im_start|>assistant\n")
    assert len(message.get("tool_calls", [])) <= len(read_calls(text).calls)


@pytest.mark.parametrize("text", CALLS)
def test_every_good_call_is_read(text: str) -> None:
    said = parsed(ours(), f"I read.\n{text}{CALLS[0]}", TOOLS)
    assert [call.name for call in said.calls] == ["read_file"] * 2
    assert said.content == "I read."


def test_a_model_with_the_short_template_is_given_its_rule_anew() -> None:
    from lydite.training.trl.templates import RESPONSE_TEMPLATE, offer_tools

    tokenizer = ours()
    tokenizer.response_template = {"fields": {}}
    assert offer_tools(tokenizer) == ""
    assert tokenizer.response_template == RESPONSE_TEMPLATE
