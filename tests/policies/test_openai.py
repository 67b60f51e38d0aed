from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.policies import Policy, SamplingParams
from lydite.policies.openai import OpenAIPolicy
from lydite.policies.openai_wire import read_refusal, read_reply, retry_after
from lydite.rollout import FinishReason, Message, ToolCall
from policies import contract
from policies.contract import PARAMS, ask, texts
from policies.misbehaving import MisbehavingServer, answer, choice, completion, cut, refuse, slow

KEY = "sk-a-secret-that-stays-one"


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MisbehavingServer]:
    async with MisbehavingServer() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield running


def _policy(**options: Any) -> OpenAIPolicy:
    return OpenAIPolicy("m", **{"retry_wait": 0.001, "retries": 2, "timeout": 20.0, **options})


async def _one(policy: OpenAIPolicy, params: SamplingParams = PARAMS, seeds: tuple[int, ...] = (1,)) -> Any:
    [row] = await policy.generate([ask("hello")], [seeds], params)
    await policy.aclose()
    return row if len(seeds) > 1 else row[0]


@pytest.mark.parametrize("check", contract.EVERY)
async def test_contract(check: Callable[[Policy], Awaitable[None]], server: MisbehavingServer) -> None:
    await check(_policy())


@pytest.mark.parametrize("check", contract.SEEDED)
async def test_with_one_choice_a_request_seeds_hold(
    check: Callable[[Policy], Awaitable[None]], server: MisbehavingServer
) -> None:
    await check(_policy(n_max=1))


async def test_a_group_is_one_request_and_its_prompt_is_counted_once(server: MisbehavingServer) -> None:
    policy = _policy(price_prompt=2.0, price_completion=10.0)
    row = await _one(policy, seeds=(5, 6, 7))
    assert texts([row]) == [["5/0", "5/1", "5/2"]]
    assert [body["n"] for body in server.bodies] == [3]
    assert policy.totals.requests == 1
    assert (policy.totals.prompt_tokens, policy.totals.completion_tokens) == (7, 15)
    assert policy.totals.cost == pytest.approx((7 * 2 + 15 * 10) / 1e6)
    assert policy.totals.models == {"served-2024"}
    # the server counts the group's tokens together, so no attempt has a count of its own
    assert {attempt.completion_tokens for attempt in row} == {None}


async def test_where_n_is_ignored_the_missing_are_asked_for_with_their_own_seeds(server: MisbehavingServer) -> None:
    def one_only(body: dict[str, Any], writer: Any) -> None:
        answer(completion(choice(str(body["seed"]))))(body, writer)

    server.otherwise = one_only
    policy = _policy()
    assert texts([await _one(policy, seeds=(5, 6, 7))]) == [["5", "6", "7"]]
    assert [body.get("n", 1) for body in server.bodies] == [3, 1, 1]
    await _one(policy, seeds=(8, 9))
    assert [body.get("n", 1) for body in server.bodies[3:]] == [1, 1], "the policy remembers"


async def test_where_n_is_refused_it_is_left_out(server: MisbehavingServer) -> None:
    server.script = [refuse(400, "n must be 1 for this model", param="n")]
    assert texts([await _one(_policy(), seeds=(5, 6))]) == [["5/0", "6/0"]]


async def test_where_n_is_capped_groups_come_in_parts(server: MisbehavingServer) -> None:
    server.script = [answer(completion(choice("a"), choice("b")))]
    row = await _one(_policy(), seeds=(1, 2, 3, 4, 5))
    assert texts([row]) == [["a", "b", "3/0", "3/1", "5/0"]]


async def test_more_choices_than_asked_for_are_left(server: MisbehavingServer) -> None:
    server.script = [answer(completion(choice("a"), choice("b"), choice("c")))]
    assert texts([await _one(_policy(), seeds=(1, 2))]) == [["a", "b"]]


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (refuse(429, headers={"Retry-After": "0"}), "http_429"),
        (refuse(500), "http_500"),
        (refuse(503), "http_503"),
        (answer(b"<html>gateway</html>", 502), "http_502"),
        (answer({"error": {"message": "upstream", "code": 504}}), "http_504"),
        (cut, "connection"),
        (answer(completion()), "empty_choice"),
        (answer({}), "empty_choice"),
        (answer(completion(choice(None))), "null_content"),
        (answer({"choices": [{"message": "text"}]}), "bad_json"),
        (answer(b'{"choices": ['), "bad_json"),
        (answer(b"[1]"), "bad_json"),
        (answer(b"[" * 100_000), "bad_json"),
    ],
)
class TestPassingFaults:
    async def test_one_is_retried(self, fault: Any, code: str, server: MisbehavingServer) -> None:
        server.script = [fault]
        policy = _policy()
        attempt = await _one(policy)
        assert attempt.error is None
        assert attempt.completion[0].content == "1/0"
        assert (policy.totals.requests, policy.totals.retries) == (2, 1)

    async def test_one_too_many_is_an_attempt_with_its_reason(
        self, fault: Any, code: str, server: MisbehavingServer
    ) -> None:
        server.otherwise = fault
        policy = _policy()
        row = await _one(policy, seeds=(1, 2, 3))
        assert [(attempt.error, attempt.finish) for attempt in row] == [(code, FinishReason.ERROR)] * 3
        assert policy.totals.retries >= 2


async def test_a_slow_server_times_out_as_a_whole(server: MisbehavingServer) -> None:
    server.otherwise = slow
    assert (await _one(_policy(timeout=0.4, retries=1))).error == "timeout"


async def test_a_huge_answer_is_not_read_to_its_end(server: MisbehavingServer) -> None:
    server.otherwise = answer(completion(choice("x" * 100_000)))
    assert (await _one(_policy(max_bytes=1000))).error == "too_large"
    assert len(server.bodies) == 1


async def test_nobody_there_is_a_connection_error_after_the_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{free.getsockname()[1]}/v1")
        policy = _policy()
        assert (await _one(policy)).error == "connection"
        assert policy.totals.requests == 3


async def test_one_failing_prompt_leaves_the_others_alone(server: MisbehavingServer) -> None:
    def only_bad(body: dict[str, Any], writer: Any) -> None:
        bad = body["messages"][0]["content"] == "bad"
        (refuse(500) if bad else answer(completion(choice("fine"))))(body, writer)

    server.otherwise = only_bad
    rows = await _policy().generate([ask("good"), ask("bad"), ask("good")], [[1], [2], [3]], PARAMS)
    assert [row[0].error for row in rows] == [None, "http_500", None]


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_what_no_retry_mends_is_an_input_error_at_once(status: int, server: MisbehavingServer) -> None:
    server.otherwise = refuse(status, f"Incorrect key {KEY}")
    with pytest.raises(InputError, match=f"HTTP {status}") as caught:
        await _one(_policy())
    assert len(server.bodies) == 1
    assert KEY not in str(caught.value)


async def test_a_refused_parameter_is_told_in_the_servers_words(server: MisbehavingServer) -> None:
    server.otherwise = refuse(400, "temperature does not support 0.3 with this model")
    with pytest.raises(InputError, match="temperature does not support"):
        await _one(_policy())


async def test_a_used_up_quota_is_not_retried(server: MisbehavingServer) -> None:
    server.otherwise = refuse(429, "You exceeded your current quota", code="insufficient_quota")
    with pytest.raises(InputError, match="quota"):
        await _one(_policy())


@pytest.mark.parametrize(
    "fault",
    [
        refuse(400, "This model's maximum context length is 8192 tokens."),
        refuse(400, "too big", code="context_length_exceeded"),
        refuse(422, "the prompt is too long: 9000 tokens"),
    ],
)
async def test_a_prompt_that_does_not_fit_is_its_own_error(fault: Any, server: MisbehavingServer) -> None:
    server.otherwise = fault
    assert (await _one(_policy())).error == "context_length"
    assert len(server.bodies) == 1


async def test_the_budgets_other_name_is_learned_once(server: MisbehavingServer) -> None:
    server.script = [refuse(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")]
    policy = _policy()
    await policy.generate([ask("a")], [[1]], PARAMS)
    await policy.generate([ask("b")], [[1]], PARAMS)
    await policy.aclose()
    sent = [[name for name in body if name.startswith("max_")] for body in server.bodies]
    assert sent == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]


async def test_retry_after_is_waited_for_and_capped(server: MisbehavingServer) -> None:
    policy = _policy()
    assert policy._pause(1, 2.0) >= 2.0
    assert policy._pause(1, 1e9) == 60.0
    server.script = [refuse(429, headers={"Retry-After": "0.3"})]
    start = asyncio.get_running_loop().time()
    await _one(policy)
    assert asyncio.get_running_loop().time() - start >= 0.3


def test_retry_after_reads_seconds_and_dates() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert retry_after("2.5") == 2.5
    assert retry_after(format_datetime(now + timedelta(seconds=30), usegmt=True), now) == 30.0
    assert retry_after(format_datetime(now - timedelta(seconds=30), usegmt=True), now) == 0.0
    assert [retry_after(text) for text in (None, "soon", "nan")] == [None, None, None]


async def test_no_more_requests_at_once_than_allowed(server: MisbehavingServer) -> None:
    server.delay = 0.02
    policy = _policy(concurrency=3, n_max=1)
    await policy.generate([ask("a"), ask("b")], [range(6), range(6)], PARAMS)
    await policy.aclose()
    assert server.most_at_once == 3


async def test_the_key_goes_to_the_server_and_nowhere_else(server: MisbehavingServer) -> None:
    policy = _policy()
    await policy.generate([ask("a")], [[1]], PARAMS)
    assert f"bearer {KEY}" in server.headers[0].lower()
    assert KEY not in policy.id
    assert KEY not in repr(policy)
    assert KEY not in repr(vars(policy))
    await policy.aclose()


async def test_a_key_that_the_server_echoes_is_kept_nowhere(server: MisbehavingServer) -> None:
    server.otherwise = answer(completion(choice(f"Bearer {KEY}")))
    policy = _policy()
    [[attempt]] = await policy.generate([ask("a")], [[1]], PARAMS)
    assert KEY not in repr(attempt)
    server.otherwise = refuse(400, "x" * 380 + f" Bearer {KEY} " + "y" * 50)
    with pytest.raises(InputError) as caught:
        await policy.generate([ask("a")], [[1]], PARAMS)
    assert KEY[:6] not in str(caught.value)
    await policy.aclose()


@pytest.mark.parametrize("finish", ["error", "abort", "cancelled", ["a"], 7])
async def test_an_answer_that_was_broken_off_is_no_answer(finish: Any, server: MisbehavingServer) -> None:
    server.otherwise = answer(completion(choice("par", finish)))
    policy = _policy()
    [[attempt]] = await policy.generate([ask("a")], [[1]], PARAMS)
    assert attempt.error is not None
    await policy.aclose()


async def test_a_local_server_may_be_asked_without_a_key(
    server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert (await _one(_policy())).error is None
    assert "authorization" not in server.headers[0].lower()


def test_openai_itself_wants_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        OpenAIPolicy("gpt-4o")


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://x/v1", "http://", "::"])
def test_an_address_that_is_none_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(InputError, match="OPENAI_BASE_URL"):
        OpenAIPolicy("m")


async def test_what_is_asked_is_what_is_sent(server: MisbehavingServer) -> None:
    call = ToolCall(id="c1", name="run", arguments={"command": "ls"})
    prompt = (
        Message(role="system", content="be brief"),
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", content="a.txt", tool_call_id="c1"),
    )
    policy = _policy()
    await policy.generate(
        [prompt], [[2**40 + 3]], SamplingParams(temperature=0.2, top_p=0.9, max_tokens=9, stop=("#",))
    )
    await policy.aclose()
    [body] = server.bodies
    function = {"name": "run", "arguments": '{"command": "ls"}'}
    assert body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be brief"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c1", "type": "function", "function": function}],
            },
            {"role": "tool", "content": "a.txt", "tool_call_id": "c1"},
        ],
        "max_tokens": 9,
        "temperature": 0.2,
        "top_p": 0.9,
        "stop": ["#"],
        "seed": (2**40 + 3) % 2**31,
    }


@pytest.mark.parametrize("params", [SamplingParams(top_k=5), SamplingParams(logprobs=True)])
async def test_what_the_server_cannot_do_raises(params: SamplingParams, server: MisbehavingServer) -> None:
    with pytest.raises(InputError):
        await _one(_policy(), params)


async def test_logprobs_are_read_and_count_the_tokens(server: MisbehavingServer) -> None:
    scored = [{**choice(text), "logprobs": {"content": [{"token": "x", "logprob": -0.5}] * 3}} for text in "ab"]
    server.script = [answer(completion(*scored))]
    row = await _one(_policy(), SamplingParams(logprobs=True), seeds=(1, 2))
    assert [(a.logprobs, a.completion_tokens) for a in row] == [((-0.5, -0.5, -0.5), 3)] * 2


@pytest.mark.parametrize(
    ("given", "content", "finish"),
    [
        (choice("cut", "length"), "cut", FinishReason.LENGTH),
        (choice("done", "stop"), "done", FinishReason.STOP),
        (choice("x", "content_filter"), "x", FinishReason.CONTENT_FILTER),
        (choice(None, "length"), "", FinishReason.LENGTH),
        (choice(None, "content_filter"), "", FinishReason.CONTENT_FILTER),
        (choice(None, refusal="I will not."), "I will not.", FinishReason.STOP),
        (choice([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "ab", FinishReason.STOP),
        (choice("half \ud800 pair"), "half � pair", FinishReason.STOP),
    ],
)
def test_what_counts_as_an_answer(given: dict[str, Any], content: str, finish: FinishReason) -> None:
    [attempt] = read_reply(completion(given), PARAMS).attempts
    assert attempt.error is None
    assert (attempt.completion[0].content, attempt.finish) == (content, finish)


def test_tool_calls_are_read_and_broken_ones_stay_visible() -> None:
    calls = [
        {"id": "1", "type": "function", "function": {"name": "run", "arguments": '{"a": 1}'}},
        {"id": "2", "type": "function", "function": {"name": "run", "arguments": '{"a": '}},
    ]
    [attempt] = read_reply(completion(choice(None, "tool_calls", tool_calls=calls)), PARAMS).attempts
    [message] = attempt.completion
    assert message.tool_calls == (ToolCall(id="1", name="run", arguments={"a": 1}),)
    assert message.content.startswith("<tool_call>")
    assert '{\\"a\\": ' in message.content


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["choices", "usage", "model", "error", "detail"]), JSON), JSON)
def test_no_answer_of_a_server_makes_the_reader_raise(document: dict[str, Any], message: Any) -> None:
    read_reply(document, PARAMS)
    read_reply({"choices": [{"message": message}, {"message": {"content": message, "tool_calls": message}}]}, PARAMS)
    assert read_refusal(400, document).status == 400


async def test_two_event_loops_in_turn(server: MisbehavingServer) -> None:
    policy = _policy()

    def elsewhere() -> Any:
        return asyncio.run(policy.generate([ask("x")], [[1]], PARAMS))

    first = await asyncio.to_thread(elsewhere)
    second = await asyncio.to_thread(elsewhere)
    assert texts(first) == texts(second)


def test_totals_can_be_written_down(server: MisbehavingServer) -> None:
    import msgspec

    assert json.loads(msgspec.json.encode(_policy().totals))["requests"] == 0
