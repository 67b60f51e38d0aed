"""Reading what a run folder holds, a piece at a time: complete lines only, and no more of each than is indexed."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from lydite.errors import InputError

BLOCK = 1 << 20
"""Bytes per read."""

NUL = b"\\u0000"
"""As it stands in JSON. PostgreSQL has no place for it in texts, so none has it in the index."""

Signature = tuple[int, int, int]
"""Of a file: inode, size, time of change in nanoseconds."""
ABSENT: Signature = (0, 0, 0)

_Int = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
_Name = Annotated[str, msgspec.Meta(max_length=600)]
_Short = Annotated[str, msgspec.Meta(max_length=200)]


class FlagPart(msgspec.Struct):
    detector: Annotated[str, msgspec.Meta(max_length=100)]
    version: _Int
    bars: bool


class VerdictPart(msgspec.Struct):
    outcome: Literal["correct", "partial", "incorrect", "unparseable", "invalid"]
    score: float | None
    reason: str
    extracted: str | None = None
    verifier: str = ""


class RecordPart(msgspec.Struct):
    """What the index keeps of a record of kind ``verdict``."""

    sample: str
    kind: str
    rollout: str
    task: _Name
    policy: str
    verdict: VerdictPart
    flags: list[FlagPart]
    reward: float | None
    seconds: float
    time: float
    schema: int = 1


class OfPart(msgspec.Struct):
    seq: _Int


class RescoredPart(msgspec.Struct):
    """What the index keeps of a record of kind ``rescore``."""

    rescoring: Annotated[str, msgspec.Meta(max_length=64)]
    of: OfPart
    verdict: VerdictPart
    schema: int = 1


class RolloutPart(msgspec.Struct):
    """What the index keeps of a sample, beside its words."""

    id: Annotated[str, msgspec.Meta(max_length=1000)]
    task: _Name
    phase: _Short = "sample"
    index: _Int = 0
    policy: str = ""
    finish: Annotated[str, msgspec.Meta(max_length=20)] = "stop"
    prompt_tokens: _Int | None = None
    completion_tokens: _Int | None = None
    step: _Int | None = None
    schema: int = 1


class MetricPart(msgspec.Struct):
    """Where a line of ``metrics.jsonl`` belongs."""

    step: int = 0
    stage: int = 0
    kind: str = ""


decode_record = msgspec.json.Decoder(RecordPart).decode
decode_rescored = msgspec.json.Decoder(RescoredPart).decode
decode_rollout = msgspec.json.Decoder(RolloutPart).decode
decode_values = msgspec.json.Decoder(dict[str, Any]).decode


def without_nul(text: str) -> str:
    """Text with U+FFFD for NUL."""
    return text.replace("\0", "\ufffd")


def clean(part: msgspec.Struct) -> None:
    """Take NUL out of the texts of a part, and of the parts in it."""
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if isinstance(value, str):
            setattr(part, name, without_nul(value))
        for inner in value if isinstance(value, list) else (value,):
            if isinstance(inner, msgspec.Struct):
                clean(inner)


def sign(path: str) -> Signature:
    """What a file looks like from outside; ``ABSENT`` where there is none, or where it is no regular file."""
    try:
        found = os.lstat(path)
    except OSError:
        return ABSENT
    if not stat.S_ISREG(found.st_mode):
        return ABSENT
    return found.st_ino, found.st_size, found.st_mtime_ns


@contextlib.contextmanager
def opened(path: Path) -> Iterator[tuple[int, int]]:
    """A regular file to read: its descriptor and its size. Anything else is not opened.

    Raises:
        InputError: it is missing, no regular file, or cannot be read.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise InputError("is no regular file", path=path)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise InputError("is no regular file", path=path)
        yield descriptor, found.st_size
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def opened_if_there(path: Path) -> Iterator[tuple[int, int]]:
    """As ``opened``; a file that is missing is empty (descriptor -1)."""
    if not os.path.lexists(path):
        yield -1, 0
        return
    with opened(path) as found:
        yield found


def piece(descriptor: int, offset: int, length: int, path: Path) -> bytes:
    """Bytes of a file, all that were asked for.

    Raises:
        InputError: there are fewer.
    """
    parts, left = [], length
    while left:
        try:
            data = os.pread(descriptor, left, offset)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path=path) from error
        if not data:
            raise InputError("is shorter than it was when it was indexed", path=path)
        parts.append(data)
        offset, left = offset + len(data), left - len(data)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def lines(descriptor: int, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Complete lines between two places of a file, each with where it begins, without its newline."""
    pieces: list[bytes] = []
    begin = at = start
    while at < end:
        data = os.pread(descriptor, min(BLOCK, end - at), at)
        if not data:
            return
        at += len(data)
        if b"\n" not in data:
            pieces.append(data)
            continue
        found = (b"".join((*pieces, data)) if pieces else data).split(b"\n")
        pieces = [found.pop()]
        for line in found:
            yield begin, line
            begin += len(line) + 1
