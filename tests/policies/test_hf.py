from __future__ import annotations

import asyncio
import json
import math
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lydite.errors import InputError
from lydite.policies import SamplingParams, load_local, open_policy
from lydite.policies.weights import resolve
from lydite.rollout import FinishReason, Message
from policies.conftest import save_tiny_llama
from policies.contract import PARAMS, PROMPTS, SEEDS, ask, texts

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.train


def _logits(model: Any, ids: list[int]) -> Any:
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids])).logits[0, -1].float()


async def test_first_tokens_have_the_frequencies_of_the_softmax(tiny_llama: Path) -> None:
    policy = open_policy(f"hf:{tiny_llama}", batch=500)
    params = SamplingParams(temperature=0.7, top_k=4, max_tokens=1, logprobs=True)
    size = 2000
    [row] = await policy.generate([ask("x")], [range(size)], params)
    model, tokenizer = load_local(str(tiny_llama))
    logits = _logits(model, tokenizer("<|user|>x\n<|assistant|>")["input_ids"])
    top = logits.topk(4)
    wanted = dict(zip(top.values.log_softmax(-1).tolist(), (top.values / 0.7).softmax(-1).tolist(), strict=True))
    own = logits.log_softmax(-1)
    seen = Counter(round(attempt.logprobs[0], 3) for attempt in row)
    expected = {round(own[i].item(), 3): p for i, p in zip(top.indices, wanted.values(), strict=True)}
    assert set(seen) <= set(expected)
    for logprob, share in expected.items():
        # five standard errors of a binomial share
        assert abs(seen[logprob] / size - share) < 5 * math.sqrt(share * (1 - share) / size)


async def test_temperature_zero_is_the_models_own_greedy_path(tiny_llama: Path) -> None:
    policy = open_policy(f"hf:{tiny_llama}")
    [[attempt]] = await policy.generate([ask("x")], [[5]], SamplingParams(temperature=0.0, max_tokens=6))
    model, tokenizer = load_local(str(tiny_llama))
    ids = list(tokenizer("<|user|>x\n<|assistant|>")["input_ids"])
    start = len(ids)
    for _ in range(6):
        ids.append(int(_logits(model, ids).argmax()))
        if ids[-1] == tokenizer.eos_token_id:
            break
    assert attempt.completion[0].content == tokenizer.decode(ids[start:], skip_special_tokens=True)


async def test_logprobs_are_the_models_at_temperature_one(tiny_llama: Path) -> None:
    policy = open_policy(f"hf:{tiny_llama}")
    params = SamplingParams(temperature=0.3, top_p=0.8, max_tokens=5, logprobs=True)
    [[attempt], [other]] = await policy.generate([ask("x"), ask("much longer")], [[1], [2]], params)
    assert len(attempt.logprobs or ()) == attempt.completion_tokens
    assert len(other.logprobs or ()) == other.completion_tokens
    assert all(value <= 0 for value in attempt.logprobs or ())


async def test_counts_leave_padding_out_and_take_the_end_token_in(tiny_llama: Path) -> None:
    policy = open_policy(f"hf:{tiny_llama}")
    rows = await policy.generate(PROMPTS, [range(20)] * 3, SamplingParams(max_tokens=40))
    template = len("<|user|>") + len("\n<|assistant|>")
    assert [row[0].prompt_tokens for row in rows] == [len(p[0].content) + template for p in PROMPTS]
    ended = [attempt for row in rows for attempt in row if attempt.finish is FinishReason.STOP]
    assert ended, "a random model over 258 tokens ends some of 60 answers"
    for attempt in ended:
        # bytes that are no UTF-8 merge into one replacement character, so the text may be shorter than its tokens
        assert len(attempt.completion[0].content) <= (attempt.completion_tokens or 0) - 1


async def test_the_models_own_generation_defaults_are_set_aside_and_put_back(tiny_llama: Path) -> None:
    model, tokenizer = load_local(str(tiny_llama))
    from lydite.policies.hf import HFPolicy

    before = model.generation_config
    policy = HFPolicy("mine", model, tokenizer)
    [[attempt]] = await policy.generate([ask("x")], [[5]], SamplingParams(temperature=0.0, max_tokens=12))
    assert model.generation_config is before
    assert before.repetition_penalty == 1.5
    model.generation_config.repetition_penalty = 9.0
    [[again]] = await policy.generate([ask("x")], [[5]], SamplingParams(temperature=0.0, max_tokens=12))
    assert again == attempt


async def test_a_stop_text_ends_the_answer_and_is_cut_off(tiny_llama: Path) -> None:
    policy = open_policy(f"hf:{tiny_llama}")
    params = SamplingParams(max_tokens=30)
    plain = await policy.generate([ask("x")], [range(8)], params)
    # Random bytes are seldom text: take two neighbouring ASCII characters from wherever there are some.
    found = [
        (i, m) for i, text in enumerate(texts(plain)[0]) if (m := re.search(r"(?<=.{2})[!-~]{2}", text, re.DOTALL))
    ]
    place, match = found[0]
    whole, stop = texts(plain)[0][place], match[0]
    rows = await policy.generate(
        [ask("x"), ask("y")], [range(8), range(3)], SamplingParams(max_tokens=30, stop=(stop,))
    )
    answer = rows[0][place]
    assert answer.completion[0].content == whole[: whole.index(stop)]
    assert answer.finish is FinishReason.STOP
    assert (answer.completion_tokens or 0) < (plain[0][place].completion_tokens or 0)


async def test_batches_bound_the_rows_and_change_no_answer(tiny_llama: Path) -> None:
    one = open_policy(f"hf:{tiny_llama}", batch=1)
    many = open_policy(f"hf:{tiny_llama}", batch=100)
    assert texts(await one.generate(PROMPTS, SEEDS, PARAMS)) == texts(await many.generate(PROMPTS, SEEDS, PARAMS))


async def test_a_prompt_beyond_the_context_is_an_attempt_with_an_error(tiny_llama: Path) -> None:
    policy = open_policy(f"hf:{tiny_llama}")
    rows = await policy.generate([ask("x" * 200), ask("y")], [[1, 2], [3]], PARAMS)
    assert [attempt.error for attempt in rows[0]] == ["prompt_too_long"] * 2
    assert rows[1][0].error is None


async def test_an_answer_ends_where_the_context_does(tiny_llama: Path) -> None:
    policy = open_policy(f"hf:{tiny_llama}")
    long = ask("x" * 100)
    rows = await policy.generate([long, ask("y")], [range(6), [3]], SamplingParams(max_tokens=500))
    for attempt in rows[0]:
        used = (attempt.prompt_tokens or 0) + (attempt.completion_tokens or 0)
        assert used <= 128
        assert attempt.finish is FinishReason.STOP or used == 128


async def test_without_a_chat_template_the_plain_mode_is_named(tmp_path: Path) -> None:
    folder = save_tiny_llama(tmp_path / "base", template=None)
    with pytest.raises(InputError, match=r"no chat template.*\?plain=1"):
        open_policy(f"hf:{folder}")
    policy = open_policy(f"hf:{folder}?plain=1")
    [[attempt]] = await policy.generate([ask("abc")], [[1]], PARAMS)
    assert attempt.prompt_tokens == 3
    assert policy.id.endswith("?plain=1")


async def test_a_template_that_refuses_the_conversation_is_an_input_error(tmp_path: Path) -> None:
    folder = save_tiny_llama(tmp_path / "strict", template="{{ raise_exception('no system message') }}")
    policy = open_policy(f"hf:{folder}")
    with pytest.raises(InputError, match="no system message"):
        await policy.generate([(Message(role="system", content="be nice"), *ask("x"))], [[1]], PARAMS)


def test_one_changed_weight_changes_the_id(tiny_llama: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "model"
    shutil.copytree(tiny_llama, folder)
    before = resolve(str(folder)).id
    (folder / "README.md").write_text("a card is not a weight")
    assert resolve(str(folder)).id == before
    weights = load_file(folder / "model.safetensors")
    weights["model.norm.weight"][0] += 1
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert resolve(str(folder)).id != before


def test_an_adapter_is_part_of_the_id_and_of_the_answers(tiny_llama: Path, tiny_adapter: Path) -> None:
    spec = f"{tiny_llama}+{tiny_adapter}"
    assert resolve(spec).digest != resolve(str(tiny_llama)).digest
    base, tokenizer = load_local(f"hf:{tiny_llama}")
    adapted, _ = load_local(spec)
    ids = tokenizer("hello")["input_ids"]
    assert not torch.allclose(_logits(base, ids), _logits(adapted, ids))
    assert type(adapted) is type(base)


def test_a_folder_with_a_plus_in_its_name_is_a_folder(tiny_llama: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a+b"
    shutil.copytree(tiny_llama, folder)
    assert resolve(f"hf:{folder}").adapter is None


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("{tmp}/nowhere", "no such model folder"),
        ("{tmp}", "no config.json"),
        ("{tmp}/adapter", "looks like an adapter"),
        ("{llama}+{tmp}", "adapter_config.json"),
    ],
)
def test_what_is_no_model_says_so(spec: str, said: str, tiny_llama: Path, tmp_path: Path) -> None:
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter" / "adapter_config.json").write_text("{}")
    with pytest.raises(InputError, match=said):
        resolve(spec.format(tmp=tmp_path, llama=tiny_llama))


def test_broken_weights_name_their_folder(tiny_llama: Path, tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(tiny_llama, folder)
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(InputError, match="broken"):
        load_local(str(folder))


def test_code_of_a_model_folder_is_not_run(tiny_llama: Path, tmp_path: Path) -> None:
    folder = tmp_path / "trap"
    shutil.copytree(tiny_llama, folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "trap", "auto_map": {"AutoConfig": "trap.Config", "AutoModelForCausalLM": "trap.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "trap.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Config: pass\nclass Model: pass\n")
    with pytest.raises(InputError):
        load_local(str(folder))
    assert not (tmp_path / "ran").exists()


async def test_a_cancelled_call_stops_its_thread(tiny_llama: Path) -> None:
    folder = tiny_llama
    policy = open_policy(f"hf:{folder}", batch=4)
    call = asyncio.create_task(policy.generate([ask("x")], [range(4000)], SamplingParams(max_tokens=100)))
    await asyncio.sleep(0.3)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    # The one thread is free again soon: a thousand batches would hold it for minutes.
    [[attempt]] = await asyncio.wait_for(policy.generate([ask("y")], [[1]], PARAMS), 30)
    assert attempt.error is None


@pytest.mark.parametrize(
    "params",
    [SamplingParams(temperature=-1), SamplingParams(top_p=0), SamplingParams(max_tokens=0), SamplingParams(top_k=-1)],
)
async def test_parameters_out_of_range_are_refused(params: SamplingParams, tiny_llama: Path) -> None:
    with pytest.raises(InputError, match="must be"):
        await open_policy(f"hf:{tiny_llama}").generate([ask("x")], [[1]], params)
