"""The turns of episodes within TRL's trainer: the same loop as in sampling, on the trainer's tokens.

TRL's own loop ends an attempt silently when a call cannot be read, runs tools one after another on the main thread,
drops answers that do not fit, and knows no end of an episode. This one asks ``Trail`` what comes next, as sampling
does: what is trained is what is measured. Tokens are never made anew: prompt, answers of the policy and answers of
tools are put together as they were generated; those of tools have mask 0 and are not learned from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from lydite.codec import well_formed
from lydite.policies.decoding import completion_text
from lydite.policies.messages import to_chat
from lydite.policies.protocol import Attempt
from lydite.policies.toolcalls import parsed
from lydite.rollout import FinishReason, Message
from lydite.sampling.episodes import Trail
from lydite.training.trl.environment import Fitted, TrlEnvironment

SPARE = 16
"""Tokens that an answer of a tool leaves to the policy, so that it can end."""


@dataclass
class Row:
    """One completion: its tokens so far, 1 in ``mask`` where the policy wrote them, and its episode."""

    prompt: list[int]
    ids: list[int]
    mask: list[int]
    room: int
    logprobs: list[float] | None
    world: TrlEnvironment
    trail: Trail
    seen: int = 0
    turn: list[int] = field(default_factory=list)


def play(
    trainer: Any, prompts: Sequence[list[int]], completions: Sequence[list[int]], logprobs: Any, threads: Executor
) -> list[Row | None]:
    """Carry every episode of a batch to its end, from the first answers that are there already.

    Args:
        trainer: whose ``environments`` are at work; it generates the further answers.
        prompts: tokens of each prompt.
        completions: tokens of each first answer.
        logprobs: of the first answers, from engines that give them, else ``None``.
        threads: where calls of tools are carried out, those of different attempts at the same time.

    Returns:
        A row for each attempt with an environment, ``None`` for those without. The worlds are closed.
    """
    tokenizer = trainer._tokenizer
    overhead = len(suffix(trainer, [Message(role="tool", name="read_file")]))

    def measure(text: str) -> int:
        return len(tokenizer(text, add_special_tokens=False)["input_ids"])

    rows: list[Row | None] = []
    for number, (prompt, first, world) in enumerate(zip(prompts, completions, trainer.environments, strict=True)):
        if world._environment is None:
            rows.append(None)
            continue
        room = min(trainer.max_completion_length, (_context(trainer) or 1 << 30) - len(prompt))
        trail = world._begin(room, measure)
        scores = None if logprobs is None else list(logprobs[number])
        row = Row(list(prompt), list(first[:room]), [], room, scores, world, trail, turn=list(first[:room]))
        row.mask = [1] * len(row.ids)
        rows.append(row)
    everyone = [row for row in rows if row is not None]
    live = [row for row in everyone if row.trail.finish is None]
    while live:
        for row in live:
            _hear(trainer, row, overhead)
        list(threads.map(lambda row: row.trail.step(), [row for row in live if row.trail.finish is None]))
        for row in live:
            _extend(trainer, row)
        live = [row for row in live if row.trail.finish is None]
        if live:
            _generate(trainer, live)
    list(threads.map(lambda row: row.world._finish(), everyone))
    return rows


def _hear(trainer: Any, row: Row, overhead: int) -> None:
    """Tell the episode what the policy has just said."""
    tokenizer, world = trainer._tokenizer, row.world
    ended = bool(row.turn) and row.turn[-1] in trainer.eos_token_ids
    assert world._environment is not None
    said = parsed(tokenizer, well_formed(completion_text(tokenizer, row.turn)), tuple(world._environment.tools))
    row.trail.heard(
        Attempt(
            completion=(Message(role="assistant", content=said.content, tool_calls=said.calls),),
            finish=FinishReason.STOP if ended else FinishReason.LENGTH,
            prompt_tokens=len(row.prompt),
            completion_tokens=len(row.turn),
        )
    )
    row.seen = len(row.trail.said)
    if isinstance(row.trail.episode, Fitted):
        row.trail.episode.room = row.room - len(row.ids) - SPARE
        row.trail.episode.overhead = overhead


def _extend(trainer: Any, row: Row) -> None:
    """Put the answers of tools behind the policy's tokens, if it is to go on."""
    if row.trail.finish is not None:
        return
    added = suffix(trainer, row.trail.said[row.seen :])
    room = row.room - len(row.ids)
    if len(added) >= room:  # no token left for the policy: cut off, and seen to be
        added = added[: max(0, room)]
        row.trail.finish = FinishReason.LENGTH
    row.ids += added
    row.mask += [0] * len(added)
    if row.logprobs is not None:
        row.logprobs += [0.0] * len(added)


def _generate(trainer: Any, live: Sequence[Row]) -> None:
    """The next answer of each."""
    rooms = [row.room - len(row.ids) for row in live]
    with _at_most(trainer, max(rooms)):
        turns, scores = trainer._generate_single_turn([row.prompt + row.ids for row in live], None, {}, 1)
    for number, (row, turn) in enumerate(zip(live, turns, strict=True)):
        row.turn = list(turn[: rooms[number]])
        row.ids += row.turn
        row.mask += [1] * len(row.turn)
        if row.logprobs is not None:
            row.logprobs += list(scores[number][: len(row.turn)])


@contextmanager
def _at_most(trainer: Any, tokens: int) -> Iterator[None]:
    """No engine generates what would be thrown away, where it can be told."""
    config = getattr(trainer, "generation_config", None)
    before = getattr(config, "max_new_tokens", None)
    if config is None or before is None or tokens >= before:
        yield
        return
    config.max_new_tokens = tokens
    try:
        yield
    finally:
        config.max_new_tokens = before


def _context(trainer: Any) -> int | None:
    length = getattr(trainer.model.config.get_text_config(), "max_position_embeddings", None)
    return length if isinstance(length, int) and length > 0 else None


def suffix(trainer: Any, messages: Sequence[Message]) -> list[int]:
    """Tokens between the end of an answer of the policy and the beginning of its next: what tools said.

    Raises:
        ValueError: the chat template changes what stands before, so that tokens cannot be put behind each other.
    """
    tokenizer = trainer._tokenizer
    call = {"type": "function", "function": {"name": messages[0].name or "none", "arguments": {}}}
    asked: list[dict[str, Any]] = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
    ]
    before = _rendered(trainer, asked, opened=False)
    after = _rendered(trainer, asked + to_chat(messages, arguments_as_text=False), opened=True)
    ends = [place for place, token in enumerate(before) if token == tokenizer.eos_token_id]
    if ends:
        before = before[: ends[-1] + 1]
    if after[: len(before)] != before:
        raise ValueError("the chat template changes what stands before: it is not prefix-preserving")
    return after[len(before) :]


def _rendered(trainer: Any, messages: list[dict[str, Any]], *, opened: bool) -> list[int]:
    ids: list[int] = trainer._tokenizer.apply_chat_template(
        messages,
        chat_template=trainer.chat_template,
        add_generation_prompt=opened,
        tokenize=True,
        return_dict=False,
        **trainer.chat_template_kwargs,
    )
    return ids
