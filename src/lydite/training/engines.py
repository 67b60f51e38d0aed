"""What generates the completions of a GRPO stage, and whether it can run on this machine.

| engine | what it is | needs |
|---|---|---|
| ``plain`` | transformers' ``generate``, the whole batch padded | nothing else |
| ``continuous_batching`` | transformers' paged cache: rows that end make room | a CUDA device |
| ``vllm`` | vLLM in the trainer's process | vLLM, and a CUDA device that computes in bfloat16 |

An engine that cannot run here is an error before any model is loaded. ``auto`` takes the fastest one that can.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.training.recipe_stages import EngineName

_ORDER: tuple[EngineName, ...] = ("vllm", "continuous_batching", "plain")


class Engine(msgspec.Struct, frozen=True):
    """The engine that is used, and why, in words."""

    name: EngineName
    why: str


def choose_engine(asked: EngineName, *, field: str = "generation_engine") -> Engine:
    """The engine for what a recipe asks.

    Raises:
        InputError: the engine cannot run on this machine; says what is missing.
    """
    if asked != "auto":
        lacking = _lacking(asked)
        if lacking:
            raise InputError(f"{asked} cannot run here: {lacking}", field=field, remedy="use auto or plain")
        return Engine(asked, "asked for")
    passed: list[str] = []
    for name in _ORDER:
        lacking = _lacking(name)
        if not lacking:
            return Engine(name, "; ".join(passed) or "the fastest there is")
        passed.append(f"{name}: {lacking}")
    raise AssertionError("plain needs nothing")


def _lacking(name: EngineName) -> str:
    """What an engine lacks on this machine; empty when it can run."""
    if name == "plain":
        return ""
    if name == "vllm" and importlib.util.find_spec("vllm") is None:
        return "vllm is not installed"
    import torch

    if not torch.cuda.is_available():
        return "there is no CUDA device"
    if name == "vllm" and not torch.cuda.is_bf16_supported():
        return "the device does not compute in bfloat16"
    return ""


def engine_fields(name: EngineName) -> dict[str, Any]:
    """The fields of ``trl.GRPOConfig`` that switch an engine on."""
    return {
        "use_vllm": name == "vllm",
        "use_transformers_continuous_batching": name == "continuous_batching",
        **({"vllm_mode": "colocate"} if name == "vllm" else {}),
    }
