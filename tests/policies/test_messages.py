from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lydite.policies.messages import from_chat, to_chat
from lydite.rollout import Message, ToolCall

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
CALLS = st.builds(
    ToolCall,
    id=TEXT,
    name=TEXT.filter(bool),
    arguments=st.dictionaries(TEXT, st.integers() | TEXT | st.none(), max_size=3),
)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=TEXT,
    tool_calls=st.lists(CALLS, max_size=2).map(tuple),
    tool_call_id=TEXT,
    name=TEXT,
)


@given(MESSAGES)
def test_a_message_comes_back_from_the_wire_as_it_went(message: Message) -> None:
    [document] = to_chat([message])
    assert from_chat(json.loads(json.dumps(document))) == message


def test_templates_get_arguments_as_a_mapping() -> None:
    message = Message(role="assistant", tool_calls=(ToolCall(name="f", arguments={"a": 1}),))
    [document] = to_chat([message], arguments_as_text=False)
    assert document["tool_calls"][0]["function"]["arguments"] == {"a": 1}


def test_calls_that_are_no_calls_stay_visible() -> None:
    broken: list[Any] = [5, {"function": {"arguments": "{}"}}, {"function": {"name": "f", "arguments": "[1]"}}]
    message = from_chat({"role": "assistant", "content": "so:", "tool_calls": broken})
    assert message.tool_calls == ()
    assert message.content.startswith("so:\n<tool_call>")
    assert message.content.count("<tool_call>") == 3
