"""What a policy is: something that answers prompts, several times each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from lydite.errors import InputError
from lydite.rollout import FinishReason, Message, Tool

Prompt = tuple[Message, ...]


class SamplingParams(msgspec.Struct, frozen=True, kw_only=True):
    """How to sample. ``temperature`` 0 is greedy.

    An option that a back end cannot honour raises ``InputError``; it is never silently ignored. ``tools`` are what the
    policy is told that it may call; its calls come back as ``Message.tool_calls``, and calls that cannot be read stay
    in the content as ``<tool_call>…``.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    tools: tuple[Tool, ...] = ()


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One answer.

    Attributes:
        completion: the assistant's message(s).
        finish: why it ended; ``error`` together with ``error`` below when the policy could not be asked.
        prompt_tokens, completion_tokens: counts as the policy reports them, else ``None``.
        logprobs: log-probability of each completion token, where asked for and available.
        error: a short reason such as ``http_429`` or ``empty_choice``; such an attempt is graded ``invalid``.
    """

    completion: tuple[Message, ...] = ()
    finish: FinishReason = FinishReason.STOP
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    logprobs: tuple[float, ...] | None = None
    error: str | None = None


class Policy(Protocol):
    """One protocol for built-in, local, served and replayed models.

    Attributes:
        id: identity that goes into every rollout: name and digest of the weights, or the served model's name.
        batch: how many prompts it likes in one call.
        concurrency: how many calls may be under way at once.
    """

    id: str
    batch: int
    concurrency: int

    async def generate(
        self,
        prompts: Sequence[Prompt],
        seeds: Sequence[Sequence[int]],
        params: SamplingParams,
        *,
        indices: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Attempt]]:
        """Answer every prompt ``len(seeds[i])`` times.

        Args:
            prompts: P conversations.
            seeds: P rows; attempt ``j`` of prompt ``i`` is sampled with ``seeds[i][j]`` alone, so that it comes out the
                same whatever else is in the batch (where the back end can honour seeds at all).
            params: sampling parameters.
            indices: same shape as ``seeds``: which attempts of their groups these are (0, 1, ... when not given). A
                resumed run asks for the missing ones only; a replayed policy deals by index.

        Returns:
            P rows; row ``i`` has exactly ``len(seeds[i])`` attempts. A failing request becomes attempts with ``error``.

        Raises:
            InputError: unusable parameters, wrong key or model name: nothing that a retry would mend.
        """
        ...

    async def aclose(self) -> None:
        """Release what is held: connections, processes, memory."""
        ...


def check_rows(
    prompts: Sequence[Prompt], seeds: Sequence[Sequence[int]], indices: Sequence[Sequence[int]] | None
) -> Sequence[Sequence[int]]:
    """The attempt indices, filled in when not given.

    Raises:
        InputError: ``seeds`` or ``indices`` do not have the shape that ``generate`` asks for.
    """
    if len(seeds) != len(prompts):
        raise InputError(f"{len(prompts)} prompts came with {len(seeds)} rows of seeds", field="seeds")
    if indices is None:
        return [range(len(row)) for row in seeds]
    if [len(row) for row in indices] != [len(row) for row in seeds]:
        raise InputError("must have the shape of the seeds", field="indices")
    return indices


def check_sampling(params: SamplingParams) -> None:
    """Refuse parameters that mean nothing anywhere.

    Raises:
        InputError: names the field and its range.
    """
    for field, holds, wanted in (
        ("temperature", 0.0 <= params.temperature < float("inf"), "at least 0"),
        ("top_p", 0.0 < params.top_p <= 1.0, "above 0 and at most 1"),
        ("top_k", params.top_k >= 0, "0 (off) or more"),
        ("max_tokens", params.max_tokens >= 1, "at least 1"),
        ("stop", all(params.stop), "texts that are not empty"),
    ):
        if not holds:
            raise InputError(f"must be {wanted}", field=field)
