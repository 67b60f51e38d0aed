"""Whether a model can be trained with rewards, and in episodes with tools: what its tokenizer and its template allow.

Only the tokenizer and the settings are looked at; no weights are loaded.
"""

from __future__ import annotations

import copy
from typing import Any

import msgspec
from transformers import AutoTokenizer, GenerationConfig
from trl.chat_template_utils import is_chat_template_prefix_preserving, supports_tool_calling

from lydite.errors import InputError
from lydite.policies.toolcalls import offered, parsed
from lydite.policies.weights import first_line, resolve
from lydite.rollout import Tool, ToolCall
from lydite.training.trl.rows import tokens_of
from lydite.training.trl.templates import offer_tools

_TOOL = Tool(
    name="read_file",
    description="Read a file.",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
_CALL = ToolCall(id="call_1_1", name="read_file", arguments={"path": "a/b.txt"})


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    passed: bool
    about: str


class ModelCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What was found.

    Attributes:
        model: what was checked.
        supports_rl: whether episodes with tools can be trained, with our own template where its own is not fit.
        own_template: whether its own template is fit.
        reasons: why not; or what is done so that it can be.
        checks: of its own template.
    """

    model: str
    supports_rl: bool
    own_template: bool
    reasons: tuple[str, ...]
    checks: tuple[Finding, ...]


def check_model(spec: str) -> ModelCheck:
    """Look at a model.

    Args:
        spec: ``builtin:tiny``, ``smollm2``, ``hf:PATH`` or a path.

    Raises:
        InputError: there is no such model, or its tokenizer cannot be loaded.
    """
    folders = resolve(spec)
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folders.base), local_files_only=True)
    except Exception as error:  # a broken folder fails in as many ways as there are file formats in it
        raise InputError(f"its tokenizer cannot be loaded: {first_line(error)}", path=folders.base) from error
    ends = _ends(folders.base, tokenizer)
    checks = tuple(_checks(tokenizer, ends))
    failed = [f"{check.name}: {check.about}" for check in checks if not check.passed]
    if not failed:
        return ModelCheck(model=spec, supports_rl=True, own_template=True, reasons=(), checks=checks)
    helped = copy.deepcopy(tokenizer)
    try:
        done = offer_tools(helped)
    except InputError as error:
        reasons = (*failed, error.message)
        return ModelCheck(model=spec, supports_rl=False, own_template=False, reasons=reasons, checks=checks)
    left = [f"{check.name}: {check.about}" for check in _checks(helped, ends) if not check.passed]
    return ModelCheck(
        model=spec, supports_rl=not left, own_template=False, reasons=tuple(left or [*failed, done]), checks=checks
    )


def _ends(folder: Any, tokenizer: Any) -> set[int]:
    """Tokens at which the model's answers end."""
    found: Any = None
    if (folder / "generation_config.json").is_file():
        found = GenerationConfig.from_pretrained(str(folder)).eos_token_id
    listed = set(found) if isinstance(found, list | tuple) else {found}
    return {token for token in (*listed, tokenizer.eos_token_id) if token is not None}


def _checks(tokenizer: Any, ends: set[int]) -> list[Finding]:
    if not tokenizer.chat_template:
        return [Finding(name="chat_template", passed=False, about="the tokenizer has no chat template")]
    found = [Finding(name="chat_template", passed=True, about="there is one")]
    tools = supports_tool_calling(tokenizer)
    about = "renders tools' calls and answers" if tools else "drops calls of tools, or their answers"
    found.append(Finding(name="tools", passed=tools, about=about))
    kept = bool(_quietly(lambda: is_chat_template_prefix_preserving(tokenizer)))
    about = "what stands stays when a turn is added" if kept else "changes earlier turns when one is added"
    found.append(Finding(name="prefix_preserving", passed=kept, about=about))
    learned = _learned(tokenizer) if tools and kept else []
    read = _quietly(lambda: parsed(tokenizer, tokenizer.decode(learned, skip_special_tokens=True), (_TOOL,)).calls)
    same = bool(read) and (read[0].name, read[0].arguments) == (_CALL.name, _CALL.arguments)
    about = "a call that the template writes is read again" if same else "a call that the template writes is not read"
    found.append(Finding(name="calls_parse", passed=same, about=about))
    stops = bool(learned) and learned[-1] in ends
    about = "a turn ends with a token that ends an answer" if stops else "no turn ends with a token that ends an answer"
    found.append(Finding(name="stop_token", passed=stops, about=about))
    return found


def _learned(tokenizer: Any) -> list[int]:
    """Tokens of a turn with a call, as training learns them."""
    function = {"name": _CALL.name, "arguments": _CALL.arguments}
    turn = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": _CALL.id, "type": "function", "function": function}],
    }
    row = {"prompt": [{"role": "user", "content": "x"}], "completion": [turn], "tools": offered((_TOOL,))}
    labels = _quietly(lambda: tokens_of(tokenizer, row)[1]) or []
    return [label for label in labels if label != -100]


def _quietly(look: Any) -> Any:
    """What a look at a template comes to; nothing where the template refuses: templates raise what they like."""
    try:
        return look()
    except Exception:
        return None
