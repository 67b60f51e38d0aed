"""Chat templates that episodes can be trained with."""

from __future__ import annotations

from typing import Any

import pytest
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
