"""Episodes: a policy works on a task with the tools of an environment, turn by turn, for any kind of policy.

Attempts share nothing. Those of one batch take their turns together, so that a local model answers them in one pass; a
policy that takes one prompt at a time (a server) has each go on by itself. An episode ends with the policy's last
answer, after the task's ``max_steps`` calls of tools, when its budget of tokens is used up, or after its time; the
rollout says which. A call that cannot be read is answered, counted, and is one of the calls that are allowed.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from lydite.environments import Environment, Episode, WorldLostError
from lydite.errors import LyditeError
from lydite.policies.protocol import Attempt, Policy, SamplingParams
from lydite.policies.toolcalls import malformed, read_calls
from lydite.rollout import Calls, FinishReason, Message, ToolCall
from lydite.task import Task

if TYPE_CHECKING:
    from lydite.sandbox import Snapshot

SECONDS = 1800.0
"""Wall clock of one episode, the waits for the policy included."""
SHARES = 16
"""Budgets of attempts that a local model answers together are cut to sixteenths of the whole: only rows of one budget
share a pass, and an attempt must come out the same whatever is beside it."""
UNREADABLE = (
    "error: the tool call could not be read. Write it as a JSON object with the name of a tool and its arguments,"
    " or give your answer without a call."
)


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How an episode went. ``attempt``: all that was said, tool messages included; ``state``: what was left behind."""

    attempt: Attempt
    calls: Calls
    state: Snapshot | None = None


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt that is to be made."""

    task: Task
    seed: int
    index: int


class Trail:
    """One episode under way: what was said, which calls were made, and why it ends. Whoever asks the policy tells it
    what the policy answered (``heard``) and lets it act (``step``), until there is a ``finish``; then ``end``."""

    def __init__(self, start: Start, episode: Episode, budget: int) -> None:
        self.start, self.episode, self.budget = start, episode, budget
        self.began = time.monotonic()
        self.said: list[Message] = []
        self.turns = 0
        self.steps = 0  # calls that were answered, unreadable ones included
        self.seconds: list[float] = []
        self.failed = self.malformed = self.left = 0
        self.prompt_tokens: int | None = None
        self.tokens: int | None = 0
        self.finish: FinishReason | None = None
        self.error: str | None = None

    @property
    def prompt(self) -> tuple[Message, ...]:
        return (*self.start.task.prompt, *self.said)

    def seed(self) -> int:
        """The seed of the next turn: the attempt's own at first, then derived from it."""
        if not self.turns:
            return self.start.seed
        name = hashlib.sha256(f"{self.start.seed}/{self.turns}".encode()).digest()
        return int.from_bytes(name[:8], "big") >> 1

    def heard(self, attempt: Attempt) -> None:
        """Take what the policy answered."""
        self.turns += 1
        if self.prompt_tokens is None:
            self.prompt_tokens = attempt.prompt_tokens
        if attempt.completion_tokens is None or self.tokens is None:
            self.tokens = None
        else:
            self.tokens += attempt.completion_tokens
            self.budget -= attempt.completion_tokens
        if attempt.error == "prompt_too_long" and self.said:
            self.finish = FinishReason.LENGTH  # what the episode itself has grown to, not a fault of anyone's
            return
        if attempt.error is not None:
            self.finish, self.error = FinishReason.ERROR, attempt.error
            return
        self.said.extend(self._numbered(message) for message in attempt.completion)
        if attempt.finish is not FinishReason.STOP:
            self.finish = attempt.finish

    def _numbered(self, message: Message) -> Message:
        """Calls in the text are read too (servers and recordings leave them there), and every call has an id, so that
        answers can be told apart."""
        if not message.tool_calls and malformed(message):
            said = read_calls(message.content)
            message = msgspec.structs.replace(message, content=said.content, tool_calls=said.calls)
        calls = tuple(
            call if call.id else msgspec.structs.replace(call, id=f"call_{self.turns}_{number}")
            for number, call in enumerate(message.tool_calls, 1)
        )
        return msgspec.structs.replace(message, tool_calls=calls) if calls != message.tool_calls else message

    def act(self) -> None:
        """Carry out what the policy asked for last. Blocks."""
        last = self.said[-1] if self.said else Message(role="assistant")
        unread = malformed(last)
        if not last.tool_calls and not unread:
            self.finish = FinishReason.STOP
            return
        limit = self.start.task.max_steps
        for call in last.tool_calls:
            if self.steps >= limit:
                self.left += 1
                self._answer(call, "error: no more calls are allowed")
                continue
            self.steps += 1
            answer = self.episode.call(call.name, call.arguments)
            self.seconds.append(round(answer.seconds, 6))
            self.failed += answer.failed
            self._answer(call, answer.text)
        if unread:
            self.steps += 1
            self.malformed += unread
            self.said.append(Message(role="user", content=UNREADABLE))
        if self.left or self.steps >= limit:
            self.finish = FinishReason.TOOL_LIMIT
        elif self.episode.done:
            self.finish = FinishReason.STOP

    def _answer(self, call: ToolCall, text: str) -> None:
        self.said.append(Message(role="tool", content=text, tool_call_id=call.id, name=call.name))

    def end(self) -> Ended:
        """Freeze what is there. Blocks."""
        state = None
        if self.error is None and self.finish is not FinishReason.LOST:
            try:
                state = self.episode.freeze()
            except WorldLostError:
                self.finish = FinishReason.LOST
            except LyditeError as error:
                self._broken(error)
        return Ended(
            attempt=Attempt(
                completion=tuple(self.said),
                finish=self.finish or FinishReason.STOP,
                prompt_tokens=self.prompt_tokens,
                completion_tokens=self.tokens,
                error=self.error,
            ),
            calls=Calls(seconds=tuple(self.seconds), failed=self.failed, malformed=self.malformed, left=self.left),
            state=state,
        )

    def step(self) -> None:
        """``act``, with what may go wrong in the world. Blocks."""
        try:
            self.act()
        except WorldLostError:
            self.finish = FinishReason.LOST
        except LyditeError as error:
            self._broken(error)

    def _broken(self, error: LyditeError) -> None:
        self.finish, self.error = FinishReason.ERROR, f"environment: {error}"[:200]


async def roll_out(
    policy: Policy,
    environment: Environment,
    starts: Sequence[Start],
    params: SamplingParams,
    *,
    seconds: float = SECONDS,
) -> list[Ended]:
    """One episode for each start, in order.

    Args:
        policy: who acts. ``params.max_tokens`` is its budget for all turns of an episode together, as far as the policy
            counts its tokens; else for each turn.
        environment: where.
        seconds: wall clock of one episode.

    Raises:
        InputError: a task's set-up fails, or the policy refuses the parameters.
        UnavailableError: the environment is not on this machine.
    """
    params = msgspec.structs.replace(params, tools=tuple(environment.tools))
    if policy.batch == 1 and len(starts) > 1:
        together = [asyncio.ensure_future(_together(policy, environment, [start], params, seconds)) for start in starts]
        try:
            return [ended for part in await asyncio.gather(*together) for ended in part]
        finally:
            for one in together:
                one.cancel()
            await asyncio.gather(*together, return_exceptions=True)
    return await _together(policy, environment, starts, params, seconds)


async def _together(
    policy: Policy, environment: Environment, starts: Sequence[Start], params: SamplingParams, seconds: float
) -> list[Ended]:
    trails: list[Trail] = []
    share = max(1, params.max_tokens // SHARES) if policy.batch > 1 else 1
    try:
        worlds = await asyncio.gather(*(_started(environment, start.task) for start in starts), return_exceptions=True)
        for start, world in zip(starts, worlds, strict=True):
            if not isinstance(world, BaseException):
                trails.append(Trail(start, world, params.max_tokens))
        for world in worlds:
            if isinstance(world, BaseException):
                raise world
        live = list(trails)
        while live:
            await _turn(policy, live, params, share)
            await asyncio.gather(*(asyncio.to_thread(trail.step) for trail in live if trail.finish is None))
            for trail in live:
                if trail.finish is None and time.monotonic() - trail.began > seconds:
                    trail.finish = FinishReason.TIME
            live = [trail for trail in live if trail.finish is None]
        return list(await asyncio.gather(*(asyncio.to_thread(trail.end) for trail in trails)))
    finally:
        await asyncio.shield(asyncio.gather(*(asyncio.to_thread(trail.episode.close) for trail in trails)))


async def _started(environment: Environment, task: Task) -> Episode:
    """A world; where nobody waits for it any more when it is there, it is closed."""
    begun = asyncio.ensure_future(asyncio.to_thread(environment.start, task))
    try:
        return await asyncio.shield(begun)
    except asyncio.CancelledError:
        begun.add_done_callback(lambda done: None if done.cancelled() or done.exception() else done.result().close())
        raise


async def _turn(policy: Policy, live: Sequence[Trail], params: SamplingParams, share: int) -> None:
    """Ask for one answer to each; those of one call share a budget, so each budget is a call of its own."""
    budgets: dict[int, list[Trail]] = {}
    for trail in live:
        budget = trail.budget // share * share
        if budget < 1:
            trail.finish = FinishReason.LENGTH
        else:
            budgets.setdefault(budget, []).append(trail)
    for budget, some in budgets.items():
        answers = await policy.generate(
            [trail.prompt for trail in some],
            [[trail.seed()] for trail in some],
            msgspec.structs.replace(params, max_tokens=budget),
            indices=[[trail.start.index] for trail in some],
        )
        for trail, row in zip(some, answers, strict=True):
            trail.heard(row[0])
