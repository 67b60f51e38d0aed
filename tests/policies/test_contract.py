"""The contract, for every policy that can run here. The served one has its own module, with its server."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from lydite.policies import Policy, ScriptedPolicy, open_policy
from policies import contract

Check = Callable[[Policy], Awaitable[None]]


def _replay(folder: Path) -> Policy:
    file = folder / "answers.jsonl"
    lines = [
        {"prompt": prompt[0].content, "completion": f"answer {number}"}
        for prompt, row in zip(contract.PROMPTS, contract.SEEDS, strict=True)
        for number in range(len(row))
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    return open_policy(f"replay:{file}")


@pytest.mark.parametrize("check", [*contract.EVERY, *contract.SEEDED])
async def test_scripted(check: Check) -> None:
    await check(ScriptedPolicy(lambda prompt, seed, index: f"{prompt[0].content} {seed}"))


@pytest.mark.parametrize("check", [*contract.EVERY, *contract.SEEDED])
async def test_replay(check: Check, tmp_path: Path) -> None:
    await check(_replay(tmp_path))


@pytest.mark.train
@pytest.mark.parametrize("check", [*contract.EVERY, *contract.SEEDED])
async def test_hf(check: Check, tiny_llama: Path) -> None:
    await check(open_policy(f"hf:{tiny_llama}"))


@pytest.mark.train
@pytest.mark.parametrize("check", [*contract.EVERY, *contract.SEEDED])
async def test_hf_with_an_adapter(check: Check, tiny_llama: Path, tiny_adapter: Path) -> None:
    await check(open_policy(f"hf:{tiny_llama}+{tiny_adapter}"))


@pytest.mark.train
@pytest.mark.parametrize("check", [*contract.EVERY, *contract.SEEDED])
async def test_builtin_tiny(check: Check) -> None:
    pytest.importorskip("torch")
    await check(open_policy("builtin:tiny"))
