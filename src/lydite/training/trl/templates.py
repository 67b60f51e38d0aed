"""Chat templates that episodes can be trained with.

A template has to render tools, calls and answers; what stands before must stay as it is when a turn is added
(prefix-preserving), for tokens of turns are put behind each other; and calls have to be readable again. A tokenizer
that lacks the first gets the short template below, which needs ChatML's ``<|im_start|>`` and ``<|im_end|>`` only: one
line a tool, its name and the names of its arguments. It is saved with the model. The built-in models have the same one.
"""

from __future__ import annotations

from typing import Any

from trl.chat_template_utils import (
    get_training_chat_template,
    is_chat_template_prefix_preserving,
    supports_tool_calling,
)

from lydite.errors import InputError

TOOL_TEMPLATE = r"""{%- if tools %}<|im_start|>tools
{%- for t in tools %}{% set f = t.function if t.function is defined else t %}{{ '\n' + f.name }}({{ f.parameters.properties | list | join(',') }}){% endfor %}{{ '<|im_end|>\n' }}
{%- endif %}
{%- for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}
{%- for c in m.tool_calls or [] %}{% set f = c.function if c.function is defined else c %}<tool_call>{{ {'name': f.name, 'arguments': f.arguments} | tojson }}</tool_call>{% endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""  # noqa: E501

_TEXT = r'"(?:[^"\\\x00-\x1f<]|<(?!/tool_call>)|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
_VALUE = rf"(?:{_TEXT}|-?(?:0|[1-9]\d*)(?:\.\d+)?|true|false|null)"
_PAIR = rf"{_TEXT}: ?{_VALUE}"
_CALL = rf'\{{"name": ?{_TEXT}, ?"arguments": ?\{{(?:{_PAIR}(?:, ?{_PAIR})*)?\}}\}}'

# A parser of the library fails on a call that is no JSON, and a server with it: the attempt would be lost by what the
# policy wrote. So only a call that is JSON beyond doubt is taken for one; any other stays text, which is looked through
# for calls, and those that cannot be read are counted.
RESPONSE_TEMPLATE: dict[str, Any] = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "tool_calls": {
            "open_pattern": rf"<tool_call>(?={_CALL}</tool_call>)",
            "close_pattern": r"</tool_call>\s*",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"<\|im_end\|>\s*", "content": "text"},
    },
}


def offer_tools(tokenizer: Any) -> str:
    """Make a tokenizer's chat template fit for episodes, where it is not.

    Returns:
        What was done, in words; empty when it was fit already.

    Raises:
        InputError: it is not fit, and what we have does not suit it.
    """
    done = ""
    if tokenizer.chat_template == TOOL_TEMPLATE:
        tokenizer.response_template = RESPONSE_TEMPLATE
    if not _renders_tools(tokenizer):
        control = ("<|im_start|>", "<|im_end|>")
        if any(token not in tokenizer.get_vocab() for token in control) or tokenizer.eos_token != control[1]:
            raise InputError(
                "the model's chat template renders no tools, and its tokens are not those of ChatML",
                field="policy",
                remedy="give the tokenizer a chat template with tools, or take another model (lydite models check)",
            )
        tokenizer.chat_template, tokenizer.response_template = TOOL_TEMPLATE, RESPONSE_TEMPLATE
        done = "its chat template renders no tools: it was given Lydite's short one"
    if not is_chat_template_prefix_preserving(tokenizer):
        try:
            tokenizer.chat_template = get_training_chat_template(tokenizer) or tokenizer.chat_template
        except ValueError as error:
            raise InputError(
                f"the model's chat template changes earlier turns when one is added: {error}",
                field="policy",
                remedy="give the tokenizer a template that is prefix-preserving (lydite models check)",
            ) from None
        done = "its chat template changed earlier turns: it was given TRL's training variant"
    return done


def _renders_tools(tokenizer: Any) -> bool:
    """Whether a template renders a conversation with tools, and the tools themselves."""
    if not tokenizer.chat_template or not supports_tool_calling(tokenizer):
        return False
    tool = {
        "type": "function",
        "function": {
            "name": "find_lydite",
            "description": "Finds it.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        },
    }
    text = tokenizer.apply_chat_template([{"role": "user", "content": "x"}], tools=[tool], tokenize=False)
    return "find_lydite" in text
