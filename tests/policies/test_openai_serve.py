"""The served policy against a real server: ``transformers serve`` with a tiny model, in a process of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from lydite.errors import InputError
from lydite.policies import Policy, SamplingParams
from lydite.policies.openai import OpenAIPolicy
from policies import contract
from policies.contract import PARAMS, ask, texts
from policies.serving import serving

pytestmark = [pytest.mark.train, pytest.mark.slow]


@pytest.fixture(scope="module")
def address(tiny_llama: Path) -> Iterator[str]:
    with serving(tiny_llama) as found:
        yield found


@pytest.fixture
def policy(address: str, tiny_llama: Path, monkeypatch: pytest.MonkeyPatch) -> OpenAIPolicy:
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return OpenAIPolicy(str(tiny_llama), concurrency=2, retry_wait=0.01, retries=1)


@pytest.mark.parametrize("check", contract.EVERY)
async def test_contract(check: Callable[[Policy], Awaitable[None]], policy: OpenAIPolicy) -> None:
    await check(policy)


async def test_this_server_ignores_n_and_every_attempt_still_comes(policy: OpenAIPolicy) -> None:
    [row] = await policy.generate([ask("hello")], [[1, 2, 3]], PARAMS)
    assert [attempt.error for attempt in row] == [None] * 3
    assert policy.totals.requests == 3
    assert all(attempt.completion_tokens for attempt in row)
    await policy.aclose()


async def test_greedy_answers_repeat(policy: OpenAIPolicy) -> None:
    params = SamplingParams(temperature=0.0, max_tokens=8)
    rows = await policy.generate([ask("hello")], [[1, 2]], params)
    assert texts(rows)[0][0] == texts(rows)[0][1]
    await policy.aclose()


async def test_a_model_that_is_not_served_is_an_input_error(policy: OpenAIPolicy) -> None:
    other = OpenAIPolicy("another-model", retries=0)
    with pytest.raises(InputError, match="another-model"):
        await other.generate([ask("x")], [[1]], PARAMS)
    await other.aclose()


async def test_logprobs_that_do_not_come_are_an_input_error(policy: OpenAIPolicy) -> None:
    with pytest.raises(InputError, match="log-probabilities"):
        await policy.generate([ask("x")], [[1]], SamplingParams(max_tokens=4, logprobs=True))
    await policy.aclose()
