"""A set of ids that takes sixteen bytes an entry."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator

import numpy as np


class Done(Collection[str]):
    """Which rollouts there are. Membership by 128-bit digest; iteration reads the ids again from their source.

    Args:
        source: gives the ids, each once, as often as it is called.
    """

    def __init__(self, source: Callable[[], Iterable[str]]) -> None:
        self._source = source
        packed = bytearray()
        for name in source():
            packed += _digest(name)
        # Sorted by the first half; the second half is compared where the first agrees.
        pairs = np.frombuffer(bytes(packed), dtype=[("high", "<u8"), ("low", "<u8")])
        self._pairs = np.sort(pairs, order=("high", "low"))
        self._high = np.ascontiguousarray(self._pairs["high"])

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        wanted = _digest(name)
        high, low = int.from_bytes(wanted[:8], "little"), int.from_bytes(wanted[8:], "little")
        at = int(np.searchsorted(self._high, np.uint64(high)))
        while at < len(self._high) and int(self._high[at]) == high:
            if int(self._pairs["low"][at]) == low:
                return True
            at += 1
        return False

    def __len__(self) -> int:
        return len(self._high)

    def __iter__(self) -> Iterator[str]:
        return iter(self._source())


def _digest(name: str) -> bytes:
    return hashlib.blake2b(name.encode(), digest_size=16).digest()
