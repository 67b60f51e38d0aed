"""``hf:PATH``: a causal language model from a local folder, sampled with transformers on CPU or GPU."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lydite.errors import InputError
from lydite.policies.protocol import Attempt, Prompt, SamplingParams, check_rows, check_sampling
from lydite.policies.tiny import BUILT_IN
from lydite.policies.toolcalls import Said, parsed, templated
from lydite.policies.weights import load_folders, resolve
from lydite.rollout import FinishReason, Message, Tool, prompt_text


def open_hf(spec: str, *, plain: bool = False, batch: int = 32, device: str | None = None) -> HFPolicy:
    """Load ``PATH``, ``BASE+ADAPTER``, a built-in model or ``smollm2`` as a policy.

    Args:
        spec: see :func:`lydite.policies.weights.resolve`.
        plain, batch: see :class:`HFPolicy`.
        device: see :func:`lydite.policies.weights.load_local`.

    Raises:
        InputError: the folder cannot be loaded, or has no chat template and ``plain`` is not set.
        MissingExtraError, UnavailableError: what it needs is not there.
    """
    folders = resolve(spec)
    model, tokenizer = load_folders(folders, device=device)
    prefix = "" if folders.name in (*BUILT_IN, "smollm2") else "hf:"
    return HFPolicy(prefix + folders.id, model, tokenizer, plain=plain, batch=batch)


class HFPolicy:
    """A transformers model and its tokenizer as a policy.

    Every attempt is sampled with its own random numbers, see
    :class:`~lydite.policies.decoding.SeededSampler`: which batch it is in changes nothing but the last bits of its
    logits. The work runs in one thread of its own; one call is under way at a time.

    Prompts go through the tokenizer's chat template. A base model has none: the plain-prompt mode (``plain=True``, in a
    spec ``hf:PATH?plain=1``) gives the prompt's text to the model as it stands and takes what follows as the answer.

    An attempt ends with ``stop`` at the model's end token or at a stop text (which is cut off), with ``length`` when
    ``max_tokens`` or the model's context is used up. Token counts are without padding; the completion's count has the
    end token. A prompt that leaves no room for an answer gives attempts with error ``prompt_too_long``.
    Log-probabilities are those of the model at temperature 1.

    Args:
        policy_id: identity that goes into every rollout.
        model, tokenizer: as :func:`~lydite.policies.weights.load_local` returns them. Generation settings and
            training mode of the model are put back after each call.
        plain: use no chat template.
        batch: rows (attempts) in one forward pass; bounds the memory.

    Raises:
        InputError: the tokenizer has no chat template and ``plain`` is not set.
    """

    def __init__(self, policy_id: str, model: Any, tokenizer: Any, *, plain: bool = False, batch: int = 32) -> None:
        if batch < 1:
            raise InputError("must be at least 1", field="batch")
        if not plain and not getattr(tokenizer, "chat_template", None):
            raise InputError(
                f"the model {policy_id} has no chat template",
                remedy="to give it prompts as plain text, add ?plain=1 to the policy: hf:PATH?plain=1",
            )
        self.id = policy_id + ("?plain=1" if plain else "")
        self.batch = batch
        self.concurrency = 1
        self._model, self._tokenizer, self._plain = model, tokenizer, plain
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="lydite-hf")

    def __repr__(self) -> str:
        return f"HFPolicy({self.id!r})"

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
        cancelled = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._worker, self._generate, prompts, seeds, params, cancelled)
        except asyncio.CancelledError:
            cancelled.set()  # the thread stops at its next token
            raise

    async def aclose(self) -> None:
        """End the thread and let go of the model."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        self._model = self._tokenizer = None

    def _generate(
        self,
        prompts: Sequence[Prompt],
        seeds: Sequence[Sequence[int]],
        params: SamplingParams,
        cancelled: threading.Event,
    ) -> list[list[Attempt]]:
        from lydite.policies.decoding import Row, sample_rows

        context = context_length(self._model)
        answers: list[list[Attempt | None]] = [[None] * len(row) for row in seeds]
        waiting: list[tuple[Row, int, int]] = []
        for i, (prompt, row) in enumerate(zip(prompts, seeds, strict=True)):
            tokens = prompt_tokens(self._tokenizer, prompt, plain=self._plain, tools=params.tools)
            budget = params.max_tokens if context is None else min(params.max_tokens, context - len(tokens))
            for j, seed in enumerate(row):
                if budget < 1:
                    answers[i][j] = _too_long(len(tokens))
                else:
                    waiting.append((Row(tokens=tokens, seed=seed, budget=budget), i, j))
        # Rows of one pass share a budget, so that no row's length depends on its neighbours; and are of similar width.
        waiting.sort(key=lambda item: (item[0].budget, len(item[0].tokens)))
        while waiting and not cancelled.is_set():
            size = 1
            while size < min(self.batch, len(waiting)) and waiting[size][0].budget == waiting[0][0].budget:
                size += 1
            part, waiting = waiting[:size], waiting[size:]
            sampled = sample_rows(self._model, self._tokenizer, [row for row, _, _ in part], params, cancelled)
            for (asked, i, j), item in zip(part, sampled, strict=True):
                answers[i][j] = self._attempt(asked.tokens, item, params)
        return [[answer for answer in row if answer is not None] for row in answers]

    def _attempt(self, tokens: tuple[int, ...], sampled: Any, params: SamplingParams) -> Attempt:
        from lydite.policies.decoding import completion_text

        text = completion_text(self._tokenizer, sampled.tokens)
        found = [place for place in map(text.find, params.stop) if place >= 0]
        text = text[: min(found)] if found else text
        said = parsed(self._tokenizer, text, params.tools) if params.tools else Said(text, ())
        return Attempt(
            completion=(Message(role="assistant", content=said.content, tool_calls=said.calls),),
            finish=FinishReason.STOP if sampled.ended else FinishReason.LENGTH,
            prompt_tokens=len(tokens),
            completion_tokens=len(sampled.tokens),
            logprobs=sampled.logprobs,
        )


def prompt_tokens(tokenizer: Any, prompt: Prompt, *, plain: bool, tools: Sequence[Tool] = ()) -> tuple[int, ...]:
    """A prompt as token ids: through the chat template, with the opening of the answer; or as plain text.

    Raises:
        InputError: the template refuses the conversation (some take no system message), the prompt is empty, or there
            are tools and no template that they could go through.
    """
    if plain:
        if tools:
            raise InputError("a plain prompt tells of no tools", field="tools", remedy="leave out ?plain=1")
        tokens = tokenizer(prompt_text(prompt))["input_ids"]
    else:
        from jinja2.exceptions import TemplateError

        messages, told = templated(tokenizer, prompt, tools)
        try:
            tokens = tokenizer.apply_chat_template(
                messages, tools=told, tokenize=True, add_generation_prompt=True, return_dict=True
            )["input_ids"]
        except TemplateError as error:
            raise InputError(f"the model's chat template refuses it: {error}", field="prompt") from None
    if not tokens:
        raise InputError("is empty", field="prompt")
    return tuple(tokens)


def context_length(model: Any) -> int | None:
    """How many tokens prompt and answer may have together, or ``None`` where the model sets no limit."""
    length = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return length if isinstance(length, int) and length > 0 else None


def _too_long(prompt_tokens: int) -> Attempt:
    return Attempt(finish=FinishReason.ERROR, error="prompt_too_long", prompt_tokens=prompt_tokens)
