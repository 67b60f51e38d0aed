"""vLLM itself needs a device that few test machines have. What is ours is tested: the guard, the requests that are made
and how answers are read, against an engine of the same shape that samples with the transformers policy."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lydite.errors import InputError, UnavailableError
from lydite.policies import SamplingParams, open_policy
from policies import contract
from policies.contract import PARAMS, ask

pytest.importorskip("torch")
pytestmark = pytest.mark.train


class EngineOfTheSameShape:
    """``LLM.generate`` over token ids with one set of parameters a prompt, answered by the model in the folder."""

    def __init__(self, folder: Path) -> None:
        from lydite.policies import load_local

        self._model, self._tokenizer = load_local(str(folder))
        self.llm_engine = SimpleNamespace(model_config=SimpleNamespace(max_model_len=96))
        self.asked: list[Any] = []

    def get_tokenizer(self) -> Any:
        return self._tokenizer

    def generate(self, prompts: list[Any], params: list[Any], *, use_tqdm: bool) -> list[Any]:
        import threading

        from lydite.policies.decoding import Row, completion_text, sample_rows

        assert not use_tqdm
        self.asked += params
        outputs = []
        for prompt, one in zip(prompts, params, strict=True):
            row = Row(tokens=tuple(prompt["prompt_token_ids"]), seed=one.seed, budget=one.max_tokens)
            wanted = SamplingParams(temperature=one.temperature, logprobs=True)
            [out] = sample_rows(self._model, self._tokenizer, [row], wanted, threading.Event())
            scores = [{t: SimpleNamespace(logprob=s)} for t, s in zip(out.tokens, out.logprobs or (), strict=True)]
            done = SimpleNamespace(
                text=completion_text(self._tokenizer, out.tokens),
                token_ids=list(out.tokens),
                finish_reason="stop" if out.ended else "length",
                logprobs=scores if one.logprobs is not None else None,
            )
            outputs.append(SimpleNamespace(outputs=[done]))
        return outputs


@pytest.fixture
def policy(tiny_llama: Path) -> Any:
    from lydite.policies.vllm import VLLMPolicy

    return VLLMPolicy("vllm:tiny", EngineOfTheSameShape(tiny_llama), SimpleNamespace)


@pytest.mark.parametrize("check", [*contract.EVERY, *contract.SEEDED])
async def test_contract(check: Any, policy: Any) -> None:
    await check(policy)


async def test_every_attempt_is_a_request_with_its_own_seed(policy: Any) -> None:
    await policy.generate([ask("a"), ask("b")], [[1, 2], [3]], SamplingParams(max_tokens=4, top_p=0.9, stop=("#",)))
    assert [one.seed for one in policy._llm.asked] == [1, 2, 3]
    assert {(one.top_p, one.top_k, tuple(one.stop), one.max_tokens) for one in policy._llm.asked} == {
        (0.9, -1, ("#",), 4)
    }


async def test_logprobs_are_the_chosen_tokens(policy: Any) -> None:
    [[attempt]] = await policy.generate([ask("a")], [[1]], SamplingParams(max_tokens=4, logprobs=True))
    assert len(attempt.logprobs) == attempt.completion_tokens


async def test_a_prompt_that_is_too_long_does_not_end_the_batch(policy: Any) -> None:
    rows = await policy.generate([ask("x" * 100), ask("y")], [[1, 2], [3]], PARAMS)
    assert [[attempt.error for attempt in row] for row in rows] == [["prompt_too_long"] * 2, [None]]


@pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vLLM is installed here")
def test_without_vllm_it_says_so_before_anything_is_loaded(tiny_llama: Path, tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="pip install vllm"):
        open_policy(f"vllm:{tiny_llama}")
    with pytest.raises(InputError, match="no such model folder"):
        open_policy(f"vllm:{tmp_path}/none")
