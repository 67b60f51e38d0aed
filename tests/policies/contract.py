"""What every policy promises, whatever stands behind it. Each check takes an open policy and fails by assertion."""

from __future__ import annotations

from lydite.policies import Attempt, Policy, Prompt, SamplingParams
from lydite.rollout import FinishReason, Message

PARAMS = SamplingParams(max_tokens=12)


def ask(text: str) -> Prompt:
    return (Message(role="user", content=text),)


PROMPTS = [ask("What is 1 + 1?"), ask("Say something rather longer than that, please."), ask("Hm?")]
SEEDS = [[11, 12, 13], [21], [31, 32]]


def texts(rows: list[list[Attempt]]) -> list[list[str]]:
    return [[attempt.completion[-1].content if attempt.completion else "" for attempt in row] for row in rows]


async def check_one_attempt_a_seed(policy: Policy) -> None:
    rows = await policy.generate(PROMPTS, SEEDS, PARAMS)
    assert [len(row) for row in rows] == [3, 1, 2]


async def check_nothing_asked_nothing_answered(policy: Policy) -> None:
    assert await policy.generate([], [], PARAMS) == []
    assert await policy.generate(PROMPTS[:1], [[]], PARAMS) == [[]]


async def check_attempts_are_answers(policy: Policy) -> None:
    for row in await policy.generate(PROMPTS, SEEDS, PARAMS):
        for attempt in row:
            assert attempt.error is None
            assert [message.role for message in attempt.completion] == ["assistant"]
            assert attempt.finish in (FinishReason.STOP, FinishReason.LENGTH)


async def check_counts_are_counts(policy: Policy) -> None:
    for row in await policy.generate(PROMPTS, SEEDS, PARAMS):
        for attempt in row:
            assert attempt.prompt_tokens is None or attempt.prompt_tokens > 0
            assert attempt.completion_tokens is None or 0 < attempt.completion_tokens <= PARAMS.max_tokens


async def check_length_means_the_budget_was_used(policy: Policy) -> None:
    for row in await policy.generate(PROMPTS, SEEDS, PARAMS):
        for attempt in row:
            if attempt.finish is FinishReason.LENGTH and attempt.completion_tokens is not None:
                assert attempt.completion_tokens == PARAMS.max_tokens


async def check_seeds_reproduce(policy: Policy) -> None:
    assert texts(await policy.generate(PROMPTS, SEEDS, PARAMS)) == texts(await policy.generate(PROMPTS, SEEDS, PARAMS))


async def check_an_attempt_is_independent_of_its_batch(policy: Policy) -> None:
    together = texts(await policy.generate(PROMPTS, SEEDS, PARAMS))
    for prompt, row, expected in zip(PROMPTS, SEEDS, together, strict=True):
        for index, seed in enumerate(row):
            alone = await policy.generate([prompt], [[seed]], PARAMS, indices=[[index]])
            assert texts(alone) == [[expected[index]]]


async def check_closing_twice_is_fine(policy: Policy) -> None:
    await policy.aclose()
    await policy.aclose()


async def check_it_says_what_it_is(policy: Policy) -> None:
    assert policy.id
    assert policy.batch >= 1
    assert policy.concurrency >= 1


EVERY = [
    check_one_attempt_a_seed,
    check_nothing_asked_nothing_answered,
    check_attempts_are_answers,
    check_counts_are_counts,
    check_length_means_the_budget_was_used,
    check_closing_twice_is_fine,
    check_it_says_what_it_is,
]
SEEDED = [check_seeds_reproduce, check_an_attempt_is_independent_of_its_batch]
