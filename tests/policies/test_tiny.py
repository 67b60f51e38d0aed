from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lydite.policies import SamplingParams, load_local, open_policy
from lydite.policies.tiny import tiny_folder
from policies.contract import ask

pytest.importorskip("torch")
pytestmark = pytest.mark.train


def test_the_package_carries_it_and_it_is_small() -> None:
    assert sum(path.stat().st_size for path in tiny_folder().iterdir()) < 4 * 2**20


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
