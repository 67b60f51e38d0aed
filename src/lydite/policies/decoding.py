"""Sampling from a transformers model so that each attempt depends on its own seed alone. Imports torch."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import msgspec
import torch
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from lydite.policies.protocol import SamplingParams


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to sample: the prompt's tokens, the seed, and how many tokens it may take."""

    tokens: tuple[int, ...]
    seed: int
    budget: int


class Sampled(msgspec.Struct, frozen=True, kw_only=True):
    """What came out: tokens up to and with the end token, and whether the model ended it."""

    tokens: tuple[int, ...]
    ended: bool
    logprobs: tuple[float, ...] | None


def sample_rows(
    model: Any, tokenizer: Any, rows: Sequence[Row], params: SamplingParams, cancelled: threading.Event
) -> list[Sampled]:
    """Sample all rows in one batch. They share one ``budget`` and are padded on the left.

    The model's own generation defaults (a recommended temperature, a repetition penalty) are set aside: what is sampled
    is the model's distribution under ``params`` and nothing else.
    """
    width = max(len(row.tokens) for row in rows)
    pad = tokenizer.pad_token_id
    ids = torch.tensor([[pad] * (width - len(row.tokens)) + list(row.tokens) for row in rows], device=model.device)
    mask = torch.tensor([[0] * (width - len(r.tokens)) + [1] * len(r.tokens) for r in rows], device=model.device)
    ends = end_tokens(model, tokenizer)
    sampler = SeededSampler([row.seed for row in rows], params, model.device)
    stops: list[StoppingCriteria] = [_Cancelled(cancelled)]
    if params.stop:
        stops.append(_StopText(tokenizer, params.stop, width))
    own, training = model.generation_config, model.training
    # generate() fills what a given config leaves open from the model's own one, so that one has to be out of the way.
    model.generation_config = GenerationConfig(eos_token_id=sorted(ends) or None, pad_token_id=pad)
    try:
        model.eval()
        with torch.inference_mode():
            out = model.generate(
                input_ids=ids,
                attention_mask=mask,
                max_new_tokens=rows[0].budget,
                do_sample=False,
                logits_processor=LogitsProcessorList([sampler]),
                stopping_criteria=StoppingCriteriaList(stops),
            )
    finally:
        model.generation_config = own
        model.train(training)
    logprobs = torch.stack(sampler.logprobs, dim=1).tolist() if params.logprobs else [None] * len(rows)
    return [
        _cut(tokens, ends, scores, tokenizer, params.stop)
        for tokens, scores in zip(out[:, width:].tolist(), logprobs, strict=True)
    ]


def end_tokens(model: Any, tokenizer: Any) -> set[int]:
    """Ids that end an answer: the model's and the tokenizer's end tokens."""
    own = model.generation_config.eos_token_id
    found = set(own) if isinstance(own, list | tuple) else {own}
    return {token for token in (*found, tokenizer.eos_token_id) if token is not None}


def completion_text(tokenizer: Any, tokens: Sequence[int]) -> str:
    """Tokens as text, without special tokens and with every space where the model put it."""
    return str(tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False))


def _cut(
    tokens: list[int], ends: set[int], logprobs: list[float] | None, tokenizer: Any, stop: Sequence[str]
) -> Sampled:
    # A row that ended early is filled up with pads until the last row of the batch has ended.
    size, ended = len(tokens), False
    for place, token in enumerate(tokens):
        if token in ends:
            size, ended = place + 1, True
            break
        if stop and _stopped(tokenizer, tokens[: place + 1], stop):
            size, ended = place + 1, True
            break
    return Sampled(
        tokens=tuple(tokens[:size]), ended=ended, logprobs=None if logprobs is None else tuple(logprobs[:size])
    )


def _stopped(tokenizer: Any, tokens: Sequence[int], stop: Sequence[str]) -> bool:
    # A token is at least one byte and a character at most four, so this tail is long enough to hold a whole stop text.
    tail = tokens[-(4 * max(map(len, stop)) + 8) :]
    text = tokenizer.decode(tail, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return any(item in text for item in stop)


class SeededSampler(LogitsProcessor):  # type: ignore[misc]
    """Turns greedy decoding into sampling, each row with its own random numbers.

    Temperature, top-k and top-p come first, in the order transformers applies them. Then every token gets Gumbel noise
    from its row's generator, and the largest sum is a sample of the softmax (the Gumbel-max trick; drawn through
    exponential variables as ``torch.multinomial`` does: log p − log E with E ~ Exp(1)). At temperature 0 the logits
    stay as they are.

    The noise depends on seed and position only, whatever else is in the batch. The logits do so up to floating-point
    rounding, which another batch shape may change in the last bits; a tie that close is decided by them. Seeds give the
    same numbers on the same kind of device.

    ``logprobs`` holds, for each step, the log-probability (natural logarithm) of the chosen token under the model's own
    distribution, at temperature 1 and before top-k and top-p.
    """

    def __init__(self, seeds: Sequence[int], params: SamplingParams, device: Any) -> None:
        self.logprobs: list[Any] = []
        self._keep = params.logprobs
        self._generators = [torch.Generator(device=device).manual_seed(seed % 2**63) for seed in seeds]
        self._noise = params.temperature > 0
        self._warpers = LogitsProcessorList()
        if params.temperature not in (0.0, 1.0):
            self._warpers.append(TemperatureLogitsWarper(float(params.temperature)))
        if params.top_k:
            self._warpers.append(TopKLogitsWarper(params.top_k))
        if params.top_p < 1.0:
            self._warpers.append(TopPLogitsWarper(params.top_p))

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        raw = scores.float()
        chosen = raw
        if self._noise:
            noise = torch.empty_like(raw)
            for row, generator in zip(noise, self._generators, strict=True):
                row.exponential_(generator=generator)
            # A zero would be infinite noise; clamped, it is merely the luckiest draw there is.
            chosen = self._warpers(input_ids, raw) - noise.clamp_min_(torch.finfo(noise.dtype).tiny).log_()
        if self._keep:
            picked = chosen.argmax(dim=-1, keepdim=True)
            self.logprobs.append(raw.log_softmax(dim=-1).gather(1, picked).squeeze(1))
        return chosen


class _StopText(StoppingCriteria):  # type: ignore[misc]
    def __init__(self, tokenizer: Any, stop: Sequence[str], start: int) -> None:
        self._tokenizer, self._stop, self._start = tokenizer, stop, start

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        rows = input_ids[:, self._start :].tolist()
        done = [_stopped(self._tokenizer, row, self._stop) for row in rows]
        return torch.tensor(done, device=input_ids.device, dtype=torch.bool)


class _Cancelled(StoppingCriteria):  # type: ignore[misc]
    def __init__(self, event: threading.Event) -> None:
        self._event = event

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        return torch.full((input_ids.shape[0],), self._event.is_set(), device=input_ids.device, dtype=torch.bool)
