"""Models that can be talked to and trained: built-in ones, those under the home, and what runs of it trained."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Sequence
from concurrent.futures import Future

import msgspec

from lydite.errors import UnavailableError
from lydite.policies import SamplingParams
from lydite.policies.protocol import Attempt
from lydite.rollout import Message
from lydite.server.errors import ApiError, RefusedError
from lydite.server.home import Home
from lydite.server.models.catalogue import Catalogue, Found
from lydite.server.models.frames import Answer, Ask, Failed, Place
from lydite.server.models.process import GoneError, Process
from lydite.server.models.support import KNOWN, Support, known_as

IDLE = 600.0
"""Seconds without a question after which the weights are let go."""
GONE = "the process that holds the models ended; ask again, and another one is started"


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model.

    Attributes:
        id: what requests call it: ``builtin:tiny``, ``models/NAME`` (a folder), ``run:SLUG`` (what a run trained),
            ``run:SLUG@STAGE-KIND/STEP`` (a checkpoint).
        spec: of the policy (``lydite.policies.open_policy``).
        base: id of the model that it was trained from.
        created: seconds since the epoch.
        supports_rl: whether episodes with tools can be trained on it; ``why`` says what is missing where not.
    """

    id: str
    spec: str
    base: str = ""
    created: int = 0
    supports_rl: bool = False
    why: str = ""


class Models:
    """Blocking but for ``chat`` and ``ask``; safe from threads. Weights are held by a process at the side, started when
    the first question comes, so the service stays small and a crash of a model is not one of the service."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.idle = IDLE
        self._catalogue = Catalogue(home)
        self._support = Support(home)
        self._lock = threading.Lock()
        self._process: Process | None = None

    @property
    def pid(self) -> int | None:
        """Of the process at the side, where there is one."""
        process = self._process
        return process.pid if process is not None and not process.gone else None

    def all(self) -> list[Model]:
        """All models. A base that nobody has looked at yet is looked at in the background; until then ``why`` says
        so."""
        return self._models(list(self._catalogue.all()))

    def find(self, name: str) -> Model:
        """By id, or by the spec of a model that is installed (``smollm2``).

        Raises:
            NotFoundError: there is none.
        """
        return self._models([self._catalogue.find(name)])[0]

    async def chat(
        self, model: Model, prompt: Sequence[Message], params: SamplingParams, *, n: int = 1, seed: int = 0
    ) -> list[Attempt]:
        """Ask a model ``n`` times.

        Raises:
            ApiError: 503 where the model cannot be loaded or its process is gone; 400 where the question is unusable.
        """
        return list((await self.ask(model, prompt, params, n=n, seed=seed)).attempts)

    async def ask(
        self, model: Model, prompt: Sequence[Message], params: SamplingParams, *, n: int = 1, seed: int = 0
    ) -> Answer:
        """As ``chat``, with what else the process tells: the policy's identity, and the texts of tokens. A cancelled
        call is taken back."""
        found = await asyncio.to_thread(self._catalogue.find, model.id)
        question = Ask(number=0, place=found.place, prompt=tuple(prompt), seeds=seeds(seed, n), params=params)
        try:
            reply = await self._asked(question)
        except UnicodeEncodeError:
            raise RefusedError("holds lone surrogates, which are no text", param="messages") from None
        except RecursionError:
            raise RefusedError("is nested too deeply", param="tools") from None
        if isinstance(reply, Answer):
            return reply
        raise _error(reply, found.place)

    async def aclose(self) -> None:
        """End the processes at the side."""
        with self._lock:
            process, self._process = self._process, None
        await asyncio.to_thread(self._support.close)
        if process is not None:
            await asyncio.to_thread(process.end)

    async def _asked(self, question: Ask) -> Answer | Failed:
        for again in (True, False):
            process, number, future = await asyncio.to_thread(self._put, question)  # a prompt can be long
            try:
                return await asyncio.wrap_future(future)
            except asyncio.CancelledError:
                process.cancel(number)
                raise
            except GoneError as error:
                if not (error.left and again):
                    raise ApiError(503, GONE, code="model_process_lost") from None
        raise AssertionError

    def _put(self, question: Ask) -> tuple[Process, int, Future[Answer | Failed]]:
        with self._lock:
            if self._process is None or self._process.gone:
                try:
                    self._process = Process(self.idle, self.home.folder("models") / "process.log")
                except UnavailableError as error:
                    raise ApiError(503, str(error), code="model_process_lost") from None
            return self._process, *self._process.ask(question)

    def _models(self, found: Sequence[Found]) -> list[Model]:
        names = {base: known_as(base) for base in {one.place.base for one in found}}
        unknown = [one.place for one in found if names[one.place.base] is None]
        why = self._support.why_not(unknown) if unknown else {}
        models = []
        for one in found:
            name = names[one.place.base]
            reason = KNOWN[name] if name is not None else why[one.place.base]
            if one.place.plain:
                reason = reason or "plain prompts tell of no tools"
            models.append(
                Model(
                    id=one.id,
                    spec=one.spec,
                    base=one.base,
                    created=one.created,
                    supports_rl=not reason,
                    why=reason,
                )
            )
        return models


def seeds(seed: int, n: int) -> tuple[int, ...]:
    """Seeds of ``n`` answers, each another; they fit into 63 bits."""
    return tuple(int.from_bytes(hashlib.sha256(f"{seed}/{at}".encode()).digest()[:8], "big") >> 1 for at in range(n))


def _error(failed: Failed, place: Place) -> ApiError:
    text = failed.message
    for path in (place.adapter, place.base):  # no client is told where things lie here
        text = text.replace(path, place.name) if path else text
    if failed.kind == "input":
        return RefusedError(text, param={"prompt": "messages"}.get(failed.field or "", failed.field))
    if failed.kind == "load":
        return ApiError(503, f"the model cannot be loaded: {text}", param="model", code="model_not_loaded")
    return ApiError(503, f"the model failed: {text}", code="model_failed")
