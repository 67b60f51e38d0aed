"""Chat completions: the real ``openai`` client, a real server, a real model in the process at the side."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import numpy as np
import openai
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from server_asking import Asked, asking

from lydite.policies import SamplingParams
from lydite.policies.protocol import Attempt
from lydite.rollout import Message
from lydite.server.errors import RefusedError
from lydite.server.models import worker
from lydite.server.models.frames import Answer, Ask, Bye, Cancel, Failed, Place, Reply, read
from lydite.server.models.octets import octets
from lydite.server.models.process import GoneError, Process
from lydite.server.openai.chat_asked import HARMLESS, NEUTRAL, READ, REFUSED, read_asked

QUESTION: list[Any] = [{"role": "user", "content": "What is 2 + 3?"}]
ADAPTER = {
    "peft_type": "LORA",
    "task_type": "CAUSAL_LM",
    "r": 2,
    "lora_alpha": 64,
    "target_modules": ["q_proj", "o_proj"],
    "base_model_name_or_path": "builtin:tiny",
    "inference_mode": True,
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    home = tmp_path_factory.mktemp("chat") / "home"
    trained(home, "a")
    with asking(home) as made:
        yield made
        pid = made.service.models.pid
    assert pid is None or not Path(f"/proc/{pid}").exists()


def trained(home: Path, slug: str) -> None:
    """A run whose adapter makes another model of ``builtin:tiny``; written by hand, so that no torch is needed here."""
    adapter = home / "runs" / slug / "adapter"
    adapter.mkdir(parents=True)
    (adapter.parent / "run.json").write_text(json.dumps({"kind": "train", "settings": {"policy": "builtin:tiny"}}))
    (adapter / "adapter_config.json").write_text(json.dumps(ADAPTER))
    tensors = {
        f"base_model.model.model.layers.{layer}.self_attn.{name}.lora_{part}.weight": np.full(shape, 0.5, np.float32)
        for layer in range(4)
        for name in ("q_proj", "o_proj")
        for part, shape in (("A", (2, 128)), ("B", (128, 2)))
    }
    header, data = {}, b""
    for name, value in tensors.items():
        start = len(data)
        data += value.tobytes()
        header[name] = {"dtype": "F32", "shape": value.shape, "data_offsets": [start, len(data)]}
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    (adapter / "adapter_model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def say(asked: Asked, **more: Any) -> Any:
    given = {"model": "builtin:tiny", "messages": QUESTION, "max_completion_tokens": 48, "seed": 7, **more}
    return asked.client.chat.completions.create(**given)


def until(true: Callable[[], object], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def test_a_process_that_is_killed_is_told_once_and_replaced(asked: Asked) -> None:
    """First of all, as it is killed while it loads: so that weights are loaded once for this file."""
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(say, asked)
        until(lambda: asked.service.models.pid is not None)
        killed = asked.service.models._process
        assert killed is not None
        until(lambda: killed._open)
        os.kill(killed.pid, signal.SIGKILL)
        with pytest.raises(openai.InternalServerError) as caught:
            waiting.result()
    assert (caught.value.status_code, caught.value.code) == (503, "model_process_lost")
    assert say(asked).choices[0].message.content
    assert asked.service.models.pid not in (None, killed.pid)


def test_an_answer_in_the_shape_that_clients_read(asked: Asked) -> None:
    answer = say(asked, n=3)
    assert (answer.object, answer.model, len(answer.choices)) == ("chat.completion", "builtin:tiny", 3)
    assert [choice.index for choice in answer.choices] == [0, 1, 2]
    assert len({choice.message.content for choice in answer.choices}) > 1
    assert all(choice.finish_reason in ("stop", "length") for choice in answer.choices)
    usage = answer.usage
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert 3 <= usage.completion_tokens <= 3 * 48
    assert answer.system_fingerprint.startswith("fp_")


def test_a_seed_gives_the_same_answer_alone_and_among_others(asked: Asked) -> None:
    alone = [say(asked, seed=seed).choices[0].message.content for seed in range(6)]
    with ThreadPoolExecutor(6) as threads:
        together = list(threads.map(lambda seed: say(asked, seed=seed).choices[0].message.content, range(6)))
    assert together == alone
    assert len(set(alone)) > 1


def test_a_stream_says_the_same_in_chunks(asked: Asked) -> None:
    whole = say(asked, n=2)
    chunks = list(say(asked, n=2, stream=True, stream_options={"include_usage": True}))
    for index in (0, 1):
        mine = [choice for chunk in chunks for choice in chunk.choices if choice.index == index]
        assert mine[0].delta.role == "assistant"
        assert "".join(choice.delta.content or "" for choice in mine) == whole.choices[index].message.content
        assert [choice.finish_reason for choice in mine if choice.finish_reason] == [whole.choices[index].finish_reason]
    assert chunks[-1].choices == []
    assert chunks[-1].usage == whole.usage
    assert all(chunk.usage is None for chunk in chunks[:-1])
    assert len({chunk.id for chunk in chunks}) == 1


def test_a_stream_ends_with_done(asked: Asked) -> None:
    body = {"model": "builtin:tiny", "messages": QUESTION, "max_tokens": 4, "stream": True}
    answer = httpx2.post(f"{asked.url}/v1/chat/completions", json=body, timeout=60)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.endswith("data: [DONE]\n\n")
    assert all(json.loads(line[6:]) for line in answer.text.split("\n\n")[:-2])


def test_log_probabilities_of_each_token(asked: Asked) -> None:
    choice = say(asked, logprobs=True).choices[0]
    content = choice.logprobs.content
    assert "".join(token.token for token in content).startswith(choice.message.content)
    assert all(token.logprob <= 0 for token in content)
    assert bytes(byte for token in content for byte in token.bytes).decode().startswith(choice.message.content)


def test_the_bytes_of_a_part_of_a_character_are_told() -> None:
    class Names:
        def convert_ids_to_tokens(self, token: int) -> str:
            return ("ðŁ", "<0xE2>", "odd ☃")[token]

    assert [octets(Names(), token, "\ufffd") for token in range(3)] == [b"\xf0\x9f", b"\xe2", None]
    assert octets(Names(), 0, "é") == "é".encode()


def test_length_stop_and_parts_of_content(asked: Asked) -> None:
    assert say(asked, max_completion_tokens=3).choices[0].finish_reason == "length"
    said = say(asked).choices[0].message.content
    cut = said[4:6]
    stopped = say(asked, stop=[cut]).choices[0]
    assert (stopped.message.content, stopped.finish_reason) == (said[: said.index(cut)], "stop")
    parts = [{"type": "text", "text": "What is "}, {"type": "text", "text": "2 + 3?"}]
    assert say(asked, messages=[{"role": "user", "content": parts}]).choices[0].message.content == said


def test_tools_can_be_called(asked: Asked) -> None:
    function = {"name": "shell", "description": "Run.", "parameters": {"type": "object", "properties": {}}}
    command = '<tool_call>{"name": "shell", "arguments": {"command": "ls"}}</tool_call>'
    answer = say(
        asked,
        model="builtin:tiny-tools",
        messages=[{"role": "user", "content": f"Say: {command}"}],
        tools=[{"type": "function", "function": function}],
        temperature=0,
        n=2,
        max_completion_tokens=64,
    )
    for choice in answer.choices:
        if choice.finish_reason == "tool_calls":
            assert json.loads(choice.message.tool_calls[0].function.arguments) is not None
            assert choice.message.tool_calls[0].type == "function"
    again = say(
        asked, model="builtin:tiny-tools", tools=[{"type": "function", "function": function}], tool_choice="none"
    )
    assert again.choices[0].message.tool_calls is None


def test_what_a_run_trained_can_be_talked_to(asked: Asked) -> None:
    assert "run:a" in [model.id for model in asked.client.models.list()]
    assert asked.client.models.retrieve("run:a").parent == "builtin:tiny"
    own, base = say(asked, model="run:a", temperature=0), say(asked, temperature=0)
    assert own.choices[0].message.content != base.choices[0].message.content
    assert own.system_fingerprint != base.system_fingerprint


@pytest.mark.parametrize("times", [600, 500_000])
def test_a_prompt_without_room_for_an_answer_is_refused(asked: Asked, times: int) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        say(asked, messages=[{"role": "user", "content": "1 + " * times}])
    assert (caught.value.code, caught.value.param) == ("context_length_exceeded", "messages")


def test_a_client_that_goes_away_is_not_answered(asked: Asked) -> None:
    say(asked, max_completion_tokens=1)
    process = asked.service.models._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    try:
        body = {"model": "builtin:tiny", "messages": QUESTION}
        with pytest.raises(httpx2.TimeoutException):
            httpx2.post(f"{asked.url}/v1/chat/completions", json=body, timeout=0.5)
        until(lambda: not process._open)
        assert httpx2.get(f"{asked.url}/v1/models", timeout=10).status_code == 200  # the service goes on meanwhile
    finally:
        os.kill(process.pid, signal.SIGCONT)
    assert say(asked, max_completion_tokens=1).choices


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"model": None}, "model"),
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": "hello"}, "messages"),
        ({"messages": [{"role": "wizard", "content": "x"}]}, "messages.0"),
        ({"messages": ["x"]}, "messages.0"),
        ({"messages": [{"role": "user", "content": 4}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}, "messages.0.content"),
        ({"n": 17}, "n"),
        ({"n": 0}, "n"),
        ({"n": 1.5}, "n"),
        ({"temperature": 2.1}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 5, "max_completion_tokens": 6}, "max_completion_tokens"),
        ({"stop": ["a"] * 5}, "stop"),
        ({"stop": [""]}, "stop"),
        ({"seed": "x"}, "seed"),
        ({"stream": 1}, "stream"),
        ({"stream_options": {"include_usage": "yes"}}, "stream_options.include_usage"),
        ({"tools": [{"type": "web"}]}, "tools.0"),
        ({"tools": [{"type": "function", "function": {"name": "f", "strict": True}}]}, "tools.0.function.strict"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"top_logprobs": 3}, "top_logprobs"),
        ({"logit_bias": {"5": 1}}, "logit_bias"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"frequency_penalty": 0.5}, "frequency_penalty"),
        ({"reasoning_effort": "high"}, "reasoning_effort"),
        ({"functions": []}, "functions"),
        ({"best_of": 3}, "best_of"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(client: TestClient, change: dict[str, Any], param: str) -> None:
    body = {"model": "builtin:tiny", "messages": QUESTION, **change}
    answer = client.post("/v1/chat/completions", json=body)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)
    assert param in answer.json()["error"]["message"] or param == "messages.0"


@given(
    st.dictionaries(
        st.sampled_from(sorted(READ | HARMLESS | NEUTRAL.keys() | REFUSED.keys())),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["role", "content", "type", "function", "name", "text"]), inner)
            ),
            max_leaves=8,
        ),
    )
)
def test_any_request_is_read_or_refused(change: dict[str, Any]) -> None:
    with contextlib.suppress(RefusedError):
        read_asked({"model": "m", "messages": QUESTION, **change})


def test_every_parameter_of_the_client_is_known() -> None:
    from openai.types.chat.completion_create_params import CompletionCreateParamsBase

    mine = HARMLESS | NEUTRAL.keys() | REFUSED.keys() | READ
    assert set(CompletionCreateParamsBase.__annotations__) <= mine


@pytest.mark.parametrize("model", ["gpt-4o", "run:none", "hf:/etc", "../x"])
def test_an_unknown_model_is_not_found(client: TestClient, model: str) -> None:
    answer = client.post("/v1/chat/completions", json={"model": model, "messages": QUESTION})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "model_not_found")


@pytest.mark.parametrize("body", ["[]", "null", '"x"', "{", '{"messages": 1e999}'])
def test_a_body_that_is_no_request_is_refused(client: TestClient, body: str) -> None:
    answer = client.post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400


def test_a_model_that_cannot_be_loaded_says_so_without_a_path(asked: Asked) -> None:
    place = asked.service.home.path / "models" / "broken"
    place.mkdir(parents=True)
    (place / "config.json").write_text("{}")
    with pytest.raises(openai.InternalServerError) as caught:
        say(asked, model="models/broken")
    assert caught.value.code == "model_not_loaded"
    assert str(asked.service.home.path) not in str(caught.value)


class Scripted:
    """A policy that counts what it is asked."""

    def __init__(self, name: str) -> None:
        self.id, self.pieces, self.octets = name, {}, {}
        self.asked: list[int] = []
        self.closed = False
        self.go = asyncio.Event()
        self.go.set()

    async def generate(self, prompts: Any, seeds: Any, params: SamplingParams) -> list[list[Attempt]]:
        self.asked.append(sum(map(len, seeds)))
        await self.go.wait()
        said = [Message(role="assistant", content=prompt[0].content) for prompt in prompts]
        return [[Attempt(completion=(one,))] * len(row) for one, row in zip(said, seeds, strict=True)]

    async def aclose(self) -> None:
        self.closed = True


class Office:
    """A desk in this process, its models scripted, its words in a pipe."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.models: dict[str, Scripted] = {}
        monkeypatch.setattr(worker, "load", self.load)
        reading, writing = os.pipe()
        self.source = os.fdopen(reading, "rb")
        self.desk = worker.Desk(writing, 0.05)

    def load(self, place: Place) -> Scripted:
        return self.models.setdefault(place.name, Scripted(place.name))

    def ask(self, number: int, model: str = "m", seeds: int = 1, text: str = "x", **params: Any) -> None:
        prompt = (Message(role="user", content=text),)
        place = Place(name=model, base=model)
        question = Ask(number=number, place=place, prompt=prompt, seeds=(0,) * seeds, params=SamplingParams(**params))
        self.desk.take(question)

    def said(self) -> list[Any]:
        """Everything up to the goodbye."""
        replies: list[Any] = []
        while not replies or not isinstance(replies[-1], Bye):
            data = read(self.source)
            assert data is not None
            replies.append(msgspec.json.decode(data, type=Reply))
        return replies[:-1]


def test_questions_that_come_together_are_answered_in_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> Office:
        office = Office(monkeypatch)
        for number in range(5):
            office.ask(number, seeds=2)
        office.ask(5, max_tokens=9)
        office.ask(6, model="n")
        await office.desk.run()
        return office

    office = asyncio.run(go())
    assert office.models["m"].asked == [10, 1]
    assert office.models["n"].asked == [1]
    assert {reply.number: len(reply.attempts) for reply in office.said()} == {**dict.fromkeys(range(5), 2), 5: 1, 6: 1}


def test_two_models_are_in_memory_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> Office:
        office = Office(monkeypatch)
        for number, model in enumerate("abac"):
            office.ask(number, model=model, max_tokens=number + 1)
        await office.desk.run()
        return office

    office = asyncio.run(go())
    assert [name for name, model in office.models.items() if model.closed] == ["b"]
    assert len(office.said()) == 4


def test_an_answer_that_nobody_waits_for_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> Office:
        office = Office(monkeypatch)
        office.models["m"] = Scripted("m")
        office.models["m"].go.clear()
        office.ask(0)
        office.ask(1, max_tokens=5)
        running = asyncio.create_task(office.desk.run())
        while not office.models["m"].asked:
            await asyncio.sleep(0.005)
        office.desk.take(Cancel(number=0))
        office.models["m"].go.set()
        await running
        return office

    office = asyncio.run(go())
    assert [reply.number for reply in office.said()] == [1]


def test_what_is_wrong_with_one_question_is_not_the_others_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    class Picky(Scripted):
        async def generate(self, prompts: Any, seeds: Any, params: SamplingParams) -> list[list[Attempt]]:
            if any(prompt[0].content == "bad" for prompt in prompts):
                raise ValueError("no")
            return await super().generate(prompts, seeds, params)

    async def go() -> Office:
        office = Office(monkeypatch)
        office.models["m"] = Picky("m")
        for number, text in enumerate(("fine", "bad", "also fine")):
            office.ask(number, text=text)
        await office.desk.run()
        return office

    replies = {reply.number: reply for reply in asyncio.run(go()).said()}
    assert isinstance(replies[1], Failed)
    assert [replies[n].attempts[0].completion[0].content for n in (0, 2)] == ["fine", "also fine"]
    assert isinstance(replies[0], Answer)


def test_a_process_that_nobody_asks_leaves_and_ends_with_the_service(tmp_path: Path) -> None:
    idle = Process(0.05, tmp_path / "log")
    until(lambda: idle.gone)
    place = Place(name="m", base="m")
    _, future = idle.ask(Ask(number=0, place=place, prompt=(), seeds=(1,), params=SamplingParams()))
    with pytest.raises(GoneError) as caught:
        future.result(5)
    assert caught.value.left
    staying = Process(600, tmp_path / "log")
    assert os.getpgid(staying.pid) == staying.pid
    ended = threading.Thread(target=staying.end)
    ended.start()
    ended.join(20)
    assert staying.gone
    assert not Path(f"/proc/{staying.pid}").exists()
