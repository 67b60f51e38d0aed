"""A policy whose answers are given: for tests, and for benchmarks that must not wait for a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lydite.errors import InputError
from lydite.policies.protocol import Attempt, Prompt, SamplingParams, check_rows
from lydite.rollout import Message

Answer = str | Attempt


class ScriptedPolicy:
    """Answers from a function of (prompt, seed, index), or from a list that is dealt by attempt index, round and round.

    Args:
        answers: the function or the list. Text becomes one assistant message that ended by itself.
        name: the policy's id.
        batch, concurrency: see :class:`~lydite.policies.protocol.Policy`.
    """

    def __init__(
        self,
        answers: Callable[[Prompt, int, int], Answer] | Sequence[Answer],
        *,
        name: str = "scripted",
        batch: int = 64,
        concurrency: int = 4,
    ) -> None:
        if not callable(answers) and not answers:
            raise InputError("a scripted policy needs at least one answer")
        self.id = name
        self.batch = batch
        self.concurrency = concurrency
        self._answers = answers

    async def generate(
        self,
        prompts: Sequence[Prompt],
        seeds: Sequence[Sequence[int]],
        params: SamplingParams,
        *,
        indices: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Attempt]]:
        """See :meth:`lydite.policies.protocol.Policy.generate`. Sampling parameters do not change a script."""
        places = check_rows(prompts, seeds, indices)
        if params.logprobs:
            raise InputError("a scripted policy has no log-probabilities", field="logprobs")
        return [
            [self._answer(prompt, seed, index) for seed, index in zip(row, place, strict=True)]
            for prompt, row, place in zip(prompts, seeds, places, strict=True)
        ]

    def _answer(self, prompt: Prompt, seed: int, index: int) -> Attempt:
        answers = self._answers
        answer = answers(prompt, seed, index) if callable(answers) else answers[index % len(answers)]
        return answer if isinstance(answer, Attempt) else text_attempt(answer)

    async def aclose(self) -> None:
        """Nothing is held."""


def text_attempt(text: str) -> Attempt:
    """Text as an attempt that ended by itself."""
    return Attempt(completion=(Message(role="assistant", content=text),))
