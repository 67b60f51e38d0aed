"""``vllm:PATH``: a local model sampled with vLLM's offline engine, on a machine that has one."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lydite.errors import InputError, UnavailableError
from lydite.policies.hf import prompt_tokens
from lydite.policies.protocol import Attempt, Prompt, SamplingParams, check_rows, check_sampling
from lydite.policies.toolcalls import Said, parsed
from lydite.policies.weights import resolve
from lydite.rollout import FinishReason, Message

_FINISH = {"stop": FinishReason.STOP, "length": FinishReason.LENGTH}


def open_vllm(path: str, *, plain: bool = False, batch: int = 64, max_model_len: int | None = None) -> VLLMPolicy:
    """Load a model folder into vLLM.

    Args:
        path: folder in Hugging Face layout (``builtin:tiny`` and ``smollm2`` work too). Adapters: merge them first.
        plain: use no chat template.
        batch: prompts in one call; vLLM schedules their attempts itself.
        max_model_len: shorter context than the model's own, to save memory.

    Raises:
        UnavailableError: vLLM is not installed, finds no device it can run on, or does not start; before anything is
            loaded in the first two cases.
        InputError: no such folder, an adapter, or a model without a chat template.
    """
    folders = resolve(path)
    if folders.adapter is not None:
        raise InputError(
            "vllm: takes a whole model", field="policy", remedy="merge the adapter, or use hf:BASE+ADAPTER"
        )
    if importlib.util.find_spec("vllm") is None:
        raise UnavailableError(
            "vllm: needs the package vllm, which is not installed (pip install vllm; it needs Linux, usually a GPU). "
            "hf:PATH runs the same model without it"
        )
    vllm = importlib.import_module("vllm")
    if importlib.import_module("vllm.platforms").current_platform.is_unspecified():
        raise UnavailableError(
            "vllm: is installed, but finds no device on this machine that it can run on; use hf:PATH"
        )
    options = {} if max_model_len is None else {"max_model_len": max_model_len}
    try:
        llm = vllm.LLM(model=str(folders.base), seed=0, **options)
    except Exception as error:
        raise UnavailableError(f"vllm: does not start with {path}: {error}") from error
    return VLLMPolicy(f"vllm:{folders.id}", llm, vllm.SamplingParams, plain=plain, batch=batch)


class VLLMPolicy:
    """A vLLM engine as a policy.

    Every attempt is a request of its own with its own seed, and vLLM's prefix cache shares the prompt among them; the
    random numbers of an attempt are its own, its logits depend on the batch in the last bits. Prompts go through the
    chat template here, not in vLLM, so that one that is too long becomes an attempt with ``prompt_too_long`` and not
    the end of the whole batch. Log-probabilities are vLLM's: of the model at temperature 1.

    Args:
        policy_id: identity that goes into every rollout.
        llm: a ``vllm.LLM``.
        sampling_params: ``vllm.SamplingParams``, or what makes its like.
        plain: use no chat template.
        batch: prompts in one call.
    """

    def __init__(
        self, policy_id: str, llm: Any, sampling_params: Callable[..., Any], *, plain: bool = False, batch: int = 64
    ) -> None:
        self._tokenizer = llm.get_tokenizer()
        if not plain and not getattr(self._tokenizer, "chat_template", None):
            raise InputError(f"the model {policy_id} has no chat template", remedy="vllm:PATH?plain=1 gives plain text")
        self.id = policy_id + ("?plain=1" if plain else "")
        self.batch = batch
        self.concurrency = 1
        self._llm, self._sampling_params, self._plain = llm, sampling_params, plain
        self._context = int(llm.llm_engine.model_config.max_model_len)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="lydite-vllm")

    async def generate(
        self,
        prompts: Sequence[Prompt],
        seeds: Sequence[Sequence[int]],
        params: SamplingParams,
        *,
        indices: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Attempt]]:
        """See :meth:`lydite.policies.protocol.Policy.generate`."""
        check_rows(prompts, seeds, indices)
        check_sampling(params)
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._generate, prompts, seeds, params)

    async def aclose(self) -> None:
        """End the thread and let go of the engine."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        self._llm = None

    def _generate(
        self, prompts: Sequence[Prompt], seeds: Sequence[Sequence[int]], params: SamplingParams
    ) -> list[list[Attempt]]:
        requests: list[tuple[dict[str, Any], Any, int]] = []
        sizes: list[int] = []
        for i, (prompt, row) in enumerate(zip(prompts, seeds, strict=True)):
            tokens = prompt_tokens(self._tokenizer, prompt, plain=self._plain, tools=params.tools)
            sizes.append(len(tokens))
            budget = min(params.max_tokens, self._context - len(tokens))
            if budget >= 1:
                requests += [
                    ({"prompt_token_ids": list(tokens)}, self._request(seed, budget, params), i) for seed in row
                ]
        answers: list[list[Attempt]] = [[] for _ in prompts]
        if requests:
            outputs = self._llm.generate([r[0] for r in requests], [r[1] for r in requests], use_tqdm=False)
            for (_, _, i), output in zip(requests, outputs, strict=True):
                answers[i].append(self._attempt(output.outputs[0], sizes[i], params))
        for i, row in enumerate(seeds):
            if not answers[i]:
                too_long = Attempt(finish=FinishReason.ERROR, error="prompt_too_long", prompt_tokens=sizes[i])
                answers[i] = [too_long] * len(row)
        return answers

    def _request(self, seed: int, budget: int, params: SamplingParams) -> Any:
        return self._sampling_params(
            temperature=params.temperature,
            top_p=params.top_p,
            top_k=params.top_k or -1,  # older versions know only -1 as "off"
            max_tokens=budget,
            stop=list(params.stop) or None,
            seed=seed % 2**63,
            logprobs=0 if params.logprobs else None,  # 0 further candidates: the chosen token's alone
        )

    def _attempt(self, output: Any, prompt_size: int, params: SamplingParams) -> Attempt:
        finish = _FINISH.get(output.finish_reason)
        if finish is None:  # aborted by the engine
            return Attempt(finish=FinishReason.ERROR, error="aborted", prompt_tokens=prompt_size)
        logprobs = None
        if params.logprobs:
            pairs = zip(output.token_ids, output.logprobs, strict=True)
            logprobs = tuple(float(step[token].logprob) for token, step in pairs)
        said = parsed(self._tokenizer, output.text, params.tools) if params.tools else Said(output.text, ())
        return Attempt(
            completion=(Message(role="assistant", content=said.content, tool_calls=said.calls),),
            finish=finish,
            prompt_tokens=prompt_size,
            completion_tokens=len(output.token_ids),
            logprobs=logprobs,
        )
