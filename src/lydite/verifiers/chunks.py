"""What travels between the pool and its workers: chunks, their items, and the clock that says where a worker is."""

from __future__ import annotations

import mmap
import struct
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec

CHUNK_BYTES, FIRST_BYTES = 1 << 20, 1 << 13
CHUNK_SECONDS = 0.05
"""What a chunk should take: long beside the cost of sending it, short beside the whole, so that no worker waits for
another one at the end."""

CLOCK = struct.Struct("<q?d120s")  # index of the item (-1: none), whether its check runs, since when, which verifier


class Lost(NamedTuple):
    """An item without a reply, and why.

    ``timeout``: its check took too long. ``stuck``: what comes before the check did. ``died``: the worker ended.
    ``verifier`` is the id that the worker gave, where a check had begun.
    """

    why: Literal["timeout", "stuck", "died"]
    item: bytes
    verifier: str = ""


Reply = bytes | Lost


class Framing(NamedTuple):
    """How a chunk is made of items. An item is a chunk of one."""

    split: Callable[[bytes], list[bytes]]
    join: Callable[[list[bytes]], bytes]


def _pack(items: list[bytes]) -> bytes:
    return items[0] if len(items) == 1 else msgspec.msgpack.encode([msgspec.msgpack.decode(one)[0] for one in items])


PACKED = Framing(lambda chunk: [msgspec.msgpack.encode([one]) for one in msgspec.msgpack.decode(chunk)], _pack)
"""A chunk is a MessagePack list."""


class Pace:
    """How many bytes make a chunk: as many as take ``CHUNK_SECONDS``, going by those before."""

    def __init__(self) -> None:
        self.bytes = FIRST_BYTES

    def note(self, size: int, seconds: float) -> None:
        """A chunk of this size took so long."""
        wanted = int(size * CHUNK_SECONDS / max(seconds, 1e-6))
        self.bytes = max(1, min(wanted, 4 * self.bytes, CHUNK_BYTES))


class Clock:
    """Where a worker is, in memory that its parent reads."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory

    def item(self, index: int) -> None:
        """The item at this place of the chunk is next; nothing of it runs yet. -1: between chunks."""
        CLOCK.pack_into(self._memory, 0, index, False, time.monotonic(), b"")
        self._index = index

    def start(self, verifier: str) -> None:
        """Its check starts now: from here on, the time is the attempt's."""
        CLOCK.pack_into(self._memory, 0, self._index, True, time.monotonic(), verifier.encode()[:120])


class NoClock(Clock):
    """For work in this process, which nobody watches."""

    def __init__(self) -> None:
        pass

    def item(self, index: int) -> None:
        """Nothing."""

    def start(self, verifier: str) -> None:
        """Nothing."""


Work = Callable[[bytes, Clock], bytes]
"""From a chunk to its reply. Calls ``clock.item`` with the index of each item and ``clock.start`` at its check."""
