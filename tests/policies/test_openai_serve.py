"""The served policy against a real server: ``transformers serve`` with a tiny model, in a process of its own."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from lydite.errors import InputError
from lydite.policies import Policy, SamplingParams
from lydite.policies.openai import OpenAIPolicy
from policies import contract
from policies.contract import PARAMS, ask, texts

pytestmark = [pytest.mark.train, pytest.mark.slow]


@pytest.fixture(scope="module")
def address(tiny_llama: Path) -> Iterator[str]:
    for name in ("torch", "transformers", "fastapi", "uvicorn", "openai"):
        pytest.importorskip(name)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(tiny_llama)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    log = tiny_llama.parent / "serve.log"
    with log.open("w") as out:
        server = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        _wait(f"http://127.0.0.1:{port}/health", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(20)


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        assert server.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise AssertionError(log.read_text())


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
