"""The verification service: items in, verdicts out, quick ones never behind slow ones.

Two lanes. Checks that only compute (``math``, ``exact``, ``choice`` and the like, and small composites of these) are
bounded by design and are judged in threads of this process. All others, those that run programs in the sandbox, ask a
database or a prover, those of installed packages, and those whose configuration says how long they take, are built and
judged in a few worker processes, one item at a time; one that takes longer than ``seconds`` is ended with its process,
and is ``incorrect`` with reason ``timeout``, as with ``lydite verify --timeout``; one that cannot be built in that time
is ``invalid``.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from lydite.errors import InputError, LyditeError
from lydite.server.judging import (
    FRAMING,
    Default,
    Item,
    Sent,
    Told,
    checker_of,
    fault,
    is_quick,
    judged,
    read_item,
    spelled,
)
from lydite.verdict import Verdict
from lydite.verifiers.chunks import Lost
from lydite.verifiers.pool import Workers
from lydite.verifiers.rows import id_of
from lydite.verifiers.run import lost_verdict
from lydite.verifiers.spelling import spell

SECONDS = 30.0
"""For one verdict of the slow lane, from when its check starts."""
QUICK_CHUNK = 32
"""Items that a thread judges before another request has its turn,"""
QUICK_SECONDS = 0.2
"""and seconds after which it begins no further one."""


class Verdicts:
    """Safe from threads and from one event loop. Nothing is started before there is something to judge.

    Args:
        slow: worker processes; default: as many as there are processors, at most 4.
        seconds: for one verdict of the slow lane.
    """

    def __init__(self, *, slow: int | None = None, seconds: float = SECONDS) -> None:
        cores = os.cpu_count() or 1
        self.seconds = seconds
        self._slots = slow or min(4, cores)
        self._quick = ThreadPoolExecutor(min(4, cores), thread_name_prefix="lydite-quick")
        self._slow = ThreadPoolExecutor(self._slots, thread_name_prefix="lydite-slow")
        self._workers: Workers | None = None
        self._lock = threading.Lock()

    async def one(self, item: bytes, default: Default = Default()) -> bytes:  # noqa: B008 (frozen)
        """The verdict on one item, as JSON.

        Raises:
            InputError: the item cannot be read, or its checker is unusable.
        """
        (found,) = await self._all([item], default)
        if isinstance(found, InputError):
            raise found
        return found

    async def many(self, items: Sequence[bytes], default: Default = Default()) -> list[bytes]:  # noqa: B008
        """Verdicts as JSON, in the order of the items. One that cannot be judged is ``invalid`` and has its index."""
        found = await self._all(items, default)
        return [
            spell(id_of(items[index]), fault(one), index=index) if isinstance(one, InputError) else one
            for index, one in enumerate(found)
        ]

    def close(self) -> None:
        """End everything."""
        with self._lock:
            workers, self._workers = self._workers, None
        if workers is not None:
            workers.stop()
        self._slow.shutdown(cancel_futures=True)
        self._quick.shutdown(cancel_futures=True)
        if workers is not None:
            workers.close()

    async def _all(self, items: Sequence[bytes], default: Default) -> list[bytes | InputError]:
        loop = asyncio.get_running_loop()
        found: list[bytes | InputError | None] = []
        while len(found) < len(items):
            chunk = items[len(found) : len(found) + QUICK_CHUNK]
            found += await loop.run_in_executor(self._quick, _judge_quick, chunk, default)
        waiting = [index for index, one in enumerate(found) if one is None]
        if waiting:
            turn = asyncio.Semaphore(self._slots)  # no more at a time, so that other requests have their turn

            async def slow(index: int) -> None:
                async with turn:
                    found[index] = await loop.run_in_executor(self._slow, self._judge_slow, items[index], default)

            async with asyncio.TaskGroup() as group:
                for index in waiting:
                    group.create_task(slow(index))
        return [one if one is not None else InputError("not judged") for one in found]

    def _judge_slow(self, raw: bytes, default: Default) -> bytes | InputError:
        with self._lock:
            if self._workers is None:
                self._workers = Workers(
                    "lydite.server.judging:make_judge", self._slots, FRAMING, self.seconds, prepare=self.seconds
                )
            workers = self._workers
        try:
            (reply,) = workers.run(msgspec.msgpack.encode([Sent(raw, default)]))
        except LyditeError as error:  # no worker can be started
            return spell(id_of(raw), fault(error))
        if isinstance(reply, Lost):
            late = self.seconds if reply.why == "timeout" else 0.0
            return spell(id_of(raw), lost_verdict(reply, self.seconds), seconds=late)
        (told,) = msgspec.msgpack.decode(reply, type=list[Told])
        return told.line or InputError(told.message, field=told.field, remedy=told.remedy)


def _judge_quick(items: Sequence[bytes], default: Default) -> list[bytes | InputError | None]:
    """Verdicts on the first of them, on one at least; ``None`` where the slow lane has to judge."""
    until = time.monotonic() + QUICK_SECONDS
    found = [_judged_quick(items[0], default)]
    for raw in items[1:]:
        if time.monotonic() >= until:
            break
        found.append(_judged_quick(raw, default))
    return found


def _judged_quick(raw: bytes, default: Default) -> bytes | InputError | None:
    try:
        item: Item = read_item(raw)
        checker = checker_of(item, default)
        return spelled(item, judged(item, checker)) if is_quick(checker, len(raw)) else None
    except InputError as error:
        return error
    except Exception as error:  # a fault of ours is no answer of the service's
        return spell(id_of(raw), Verdict.invalid("verifier_error", "", detail=type(error).__name__))
