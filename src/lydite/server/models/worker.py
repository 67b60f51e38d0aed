"""The process that holds weights: ``python -m lydite.server.models.worker SECONDS``.

Questions come on standard input, answers leave on standard output, see ``frames``. Questions that come together, for
the same model with the same parameters, are answered in one batch. At most two models are in memory: the one that was
asked least recently goes. The process ends with its input, or when nobody has asked for ``SECONDS``.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from lydite.codec import well_formed
from lydite.errors import InputError, LyditeError
from lydite.policies.hf import HFPolicy, context_length
from lydite.policies.protocol import Attempt, Prompt, SamplingParams
from lydite.policies.weights import ModelFolders, load_folders
from lydite.rollout import FinishReason, prompt_text
from lydite.server.models.frames import Answer, Ask, Bye, Failed, Place, Question, Reply, pack, read
from lydite.server.models.octets import octets

MODELS = 2
"""Models in memory."""
ROWS = 64
"""Answers in one batch."""
GATHER = 0.004
"""Seconds in which questions count as coming together."""


class Talker(HFPolicy):
    """A local model that also tells the text of each token of its answers."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.pieces: dict[int, tuple[str, ...]] = {}  # by identity of the attempt
        self.octets: dict[int, tuple[bytes | None, ...]] = {}
        longest = max(map(len, self._tokenizer.get_vocab()), default=1)
        context = context_length(self._model)
        self._most = None if context is None else context * max(longest, 1)  # characters that could fit at all

    async def generate(
        self,
        prompts: Sequence[Prompt],
        seeds: Sequence[Sequence[int]],
        params: SamplingParams,
        *,
        indices: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Attempt]]:
        """As ``HFPolicy``; what cannot fit is not even made into tokens, which takes seconds for a megabyte."""
        fits = [self._most is None or len(prompt_text(prompt)) <= self._most for prompt in prompts]
        asked = [number for number, good in enumerate(fits) if good]
        said = await super().generate([prompts[n] for n in asked], [seeds[n] for n in asked], params)
        answers = dict(zip(asked, said, strict=True))
        long = Attempt(finish=FinishReason.ERROR, error="prompt_too_long")
        return [answers.get(number, [long] * len(row)) for number, row in enumerate(seeds)]

    def _attempt(self, tokens: tuple[int, ...], sampled: Any, params: SamplingParams) -> Attempt:
        attempt = super()._attempt(tokens, sampled, params)
        if params.logprobs:
            decode = self._tokenizer.decode
            pieces = tuple(well_formed(decode([token], clean_up_tokenization_spaces=False)) for token in sampled.tokens)
            pairs = zip(sampled.tokens, pieces, strict=True)
            self.pieces[id(attempt)] = pieces
            self.octets[id(attempt)] = tuple(octets(self._tokenizer, int(token), piece) for token, piece in pairs)
        return attempt


def load(place: Place) -> Talker:
    """The model of a place.

    Raises:
        LyditeError: it cannot be loaded.
    """
    adapter = Path(place.adapter) if place.adapter else None
    folders = ModelFolders(name=place.name, base=Path(place.base), adapter=adapter)
    model, tokenizer = load_folders(folders)
    return Talker(folders.id, model, tokenizer, plain=place.plain)


class Desk:
    """Questions that wait, and the models that answer them."""

    def __init__(self, channel: int, idle: float) -> None:
        self._channel, self._idle = channel, idle
        self._waiting: dict[int, Ask] = {}
        self._asked = asyncio.Event()
        self._loaded: OrderedDict[Place, Talker] = OrderedDict()
        self._current: set[int] = set()
        self._gone: set[int] = set()
        self._task: asyncio.Task[None] | None = None

    def take(self, question: Question) -> None:
        """A question has come, or one is not to be answered any more."""
        if isinstance(question, Ask):
            self._waiting[question.number] = question
            self._asked.set()
        elif self._waiting.pop(question.number, None) is None and question.number in self._current:
            self._gone.add(question.number)
            if self._gone >= self._current and self._task is not None:
                self._task.cancel()

    async def run(self) -> None:
        """Answer until nobody has asked for long."""
        while True:
            if not self._waiting:
                self._asked.clear()
                try:
                    await asyncio.wait_for(self._asked.wait(), self._idle)
                except TimeoutError:
                    self._say(Bye())
                    return
            await asyncio.sleep(GATHER)
            batch = self._together()
            if not batch:
                continue
            self._current, self._gone = {ask.number for ask in batch}, set()
            self._task = asyncio.create_task(self._answer(batch))
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._current = set()

    def _together(self) -> list[Ask]:
        batch: list[Ask] = []
        rows = 0
        for ask in list(self._waiting.values()):
            same = not batch or (ask.place, ask.params) == (batch[0].place, batch[0].params)
            if same and (not batch or rows + len(ask.seeds) <= ROWS):
                batch.append(self._waiting.pop(ask.number))
                rows += len(ask.seeds)
        return batch

    async def _answer(self, batch: Sequence[Ask]) -> None:
        try:
            policy = await self._policy(batch[0].place)
        except Exception as error:
            self._fail(batch, "load", error)
            return
        try:
            await self._generate(policy, batch)
        except Exception as error:
            if len(batch) == 1:
                self._fail(batch, "input" if isinstance(error, InputError) else "error", error)
                return
            for ask in batch:  # one of them is at fault: which, each tells alone
                await self._answer([ask])
        finally:
            policy.pieces.clear()
            policy.octets.clear()

    async def _generate(self, policy: Talker, batch: Sequence[Ask]) -> None:
        rows = await policy.generate([ask.prompt for ask in batch], [ask.seeds for ask in batch], batch[0].params)
        for ask, row in zip(batch, rows, strict=True):
            pieces = tuple(policy.pieces.get(id(attempt), ()) for attempt in row) if ask.params.logprobs else ()
            bytes_ = tuple(policy.octets.get(id(attempt), ()) for attempt in row) if ask.params.logprobs else ()
            told = Answer(number=ask.number, attempts=tuple(row), policy=policy.id, pieces=pieces, octets=bytes_)
            self._say(told)

    async def _policy(self, place: Place) -> Talker:
        if place in self._loaded:
            self._loaded.move_to_end(place)
            return self._loaded[place]
        while len(self._loaded) >= MODELS:
            _, old = self._loaded.popitem(last=False)
            await old.aclose()
            del old
            gc.collect()
        policy = self._loaded[place] = await asyncio.to_thread(load, place)
        return policy

    def _fail(self, batch: Sequence[Ask], kind: str, error: Exception) -> None:
        text = error.message if isinstance(error, InputError) else str(error)
        if isinstance(error, InputError) and error.remedy:
            text = f"{text} ({error.remedy})"
        if not isinstance(error, LyditeError):
            text = f"{type(error).__name__}: {text}"
            print(text, file=sys.stderr)
        field = error.field if isinstance(error, InputError) else None
        for ask in batch:
            self._say(Failed(number=ask.number, kind=kind, message=well_formed(text)[:500], field=field))

    def _say(self, reply: Reply) -> None:
        try:
            data = pack(reply)
        except (UnicodeEncodeError, TypeError, ValueError) as error:  # a model's words can be anything
            assert isinstance(reply, Answer)
            data = pack(Failed(number=reply.number, kind="error", message=f"the answer cannot be told: {error!r:.200}"))
        view = memoryview(data)
        while view:
            view = view[os.write(self._channel, view) :]


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it decides when it ends
    channel = os.dup(1)
    os.dup2(2, 1)  # what libraries print is no answer
    asyncio.run(_serve(channel, float(sys.argv[1]) if len(sys.argv) > 1 else 600.0))
    os._exit(0)


async def _serve(channel: int, idle: float) -> None:
    desk, loop = Desk(channel, idle), asyncio.get_running_loop()
    threading.Thread(target=_listen, args=(desk, loop), daemon=True).start()
    await desk.run()


def _listen(desk: Desk, loop: asyncio.AbstractEventLoop) -> None:
    while (data := read(sys.stdin.buffer)) is not None:
        loop.call_soon_threadsafe(desk.take, msgspec.json.decode(data, type=Question))
    os._exit(0)


if __name__ == "__main__":
    main()
