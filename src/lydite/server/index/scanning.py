"""Searching the bytes of a file line by line, fast and whatever the case of ASCII letters, with bounded memory.

Two rare bytes of what is looked for, at their distance, are compared with all of a chunk at once; only where both are
there the place is looked at.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np

CHUNK = 1 << 18
"""Bytes that are searched at a time: they stay in the processor's cache."""
_LOWER = 0x20
_FREQUENT = b' etaoinsrhld"u,cm:0fpgwyb1v2{}\\k[]'
"""Bytes of texts in JSON, folded, the most frequent first; all others are rarer."""
_OFTEN = 64
"""How many places are looked at before the clock is."""


class At(msgspec.Struct, frozen=True):
    """A place in a file: where a line begins that has what is looked for, or (no ``hit``) how far the search has come:
    every line before it has been looked at, or every line from it on where the search goes backward."""

    offset: int
    hit: bool


class Needle:
    """What is looked for in the bytes of a file: ``folded`` is compared with folded bytes, ``first`` and ``second`` are
    the places of two of its bytes that are rare."""

    def __init__(self, escaped: bytes) -> None:
        self.folded = bytes(byte | _LOWER for byte in escaped)
        rare = sorted(range(len(self.folded)), key=lambda at: _rarity(self.folded[at]))
        self.first, self.second = sorted((*rare, *rare)[:2]) if len(rare) == 1 else sorted(rare[:2])


def _rarity(byte: int) -> int:
    at = _FREQUENT.find(byte)
    return 0 if at < 0 else len(_FREQUENT) - at


def scan(
    descriptor: int,
    start: int,
    end: int,
    needle: Needle,
    really: Callable[[bytes], bool],
    *,
    down: bool = False,
    deadline: float,
) -> Iterator[At]:
    """Lines between two places of a file, both beginnings of lines, that have what is looked for.

    Args:
        descriptor: of the file.
        start, end: where.
        needle: what is looked for.
        really: whether a line that has the bytes has what is meant.
        down: from the end to the start.
        deadline: on the monotonic clock; from then on the search tells more often how far it is.
    """
    size = CHUNK
    while start < end:
        low = max(start, end - size) if down else start
        chunk = _Chunk(descriptor, low, min(size, end - low))
        first, last = chunk.whole_lines(cut=down and low > start)
        if first >= last:
            if chunk.size < size:
                return  # the file is shorter than it was
            size *= 2  # a line that is longer than a chunk
            continue
        for seen, (begin, line) in enumerate(chunk.lines(needle, first, last, down=down), 1):
            if really(line):
                yield At(low + begin, True)
            if seen % _OFTEN == 0 and time.monotonic() > deadline:
                yield At(low + begin + (0 if down else len(line) + 1), False)
        size = CHUNK
        if down:
            end = low + first
        else:
            start = low + last
        if start < end:
            yield At(end if down else start, False)


class _Chunk:
    """Bytes of a file, and the same with capital letters made small (other bytes are changed, too: what is found has to
    be looked at)."""

    def __init__(self, descriptor: int, offset: int, length: int) -> None:
        self.raw = bytearray(length)
        self.size = os.preadv(descriptor, [self.raw], offset)
        self._folded = np.bitwise_or(np.frombuffer(self.raw, np.uint8), np.uint8(_LOWER))

    def whole_lines(self, *, cut: bool) -> tuple[int, int]:
        """Where the first whole line begins (``cut``: the first bytes are the rest of one), where the last one ends."""
        last = self.raw.rfind(b"\n", 0, self.size) + 1
        return (self.raw.find(b"\n", 0, self.size) + 1 if cut else 0), last

    def lines(self, needle: Needle, first: int, last: int, *, down: bool) -> Iterator[tuple[int, bytes]]:
        """Lines that may have what is looked for, each with where it begins."""
        places = self._places(needle, first, last)
        length = len(needle.folded)
        beyond = last if down else first
        for place in reversed(places) if down else places:
            if (place >= beyond) if down else (place < beyond):
                continue  # in the line that was looked at
            if self._folded[place : place + length].tobytes() != needle.folded:
                continue
            begin, stop = self.raw.rfind(b"\n", 0, place) + 1, self.raw.find(b"\n", place)
            yield begin, bytes(self.raw[begin:stop])
            beyond = begin if down else stop + 1  # a line end folds to an asterisk

    def _places(self, needle: Needle, first: int, last: int) -> Any:
        """Where both rare bytes are, counted from the beginning of what is looked for; ascending."""
        stop = last - len(needle.folded) + 1
        if stop <= first:
            return ()
        one = self._folded[first + needle.first : stop + needle.first] == needle.folded[needle.first]
        if needle.second != needle.first:
            one &= self._folded[first + needle.second : stop + needle.second] == needle.folded[needle.second]
        return (np.flatnonzero(one) + first).tolist() if one.any() else ()
