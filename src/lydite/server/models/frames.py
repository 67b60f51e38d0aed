"""What the service and the process that holds weights say to each other: JSON, each message after its length."""

from __future__ import annotations

import struct
from typing import IO

import msgspec

from lydite.policies.protocol import Attempt, SamplingParams
from lydite.rollout import Message

_HEAD = struct.Struct("<I")


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a model's files are. ``stamp`` is another where they are other files; ``plain``: without a chat
    template."""

    name: str
    base: str
    adapter: str = ""
    plain: bool = False
    stamp: str = ""


class Ask(msgspec.Struct, frozen=True, kw_only=True, tag="ask"):
    """A question, to be answered once for each seed."""

    number: int
    place: Place
    prompt: tuple[Message, ...]
    seeds: tuple[int, ...]
    params: SamplingParams


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag="cancel"):
    """Nobody waits for the answer any more."""

    number: int


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag="answer"):
    """Answers, one for each seed.

    Attributes:
        policy: identity of the policy: name and digest of the weights.
        pieces: the text of each token, where log-probabilities were asked for.
        octets: the bytes of each token; ``None`` where its tokenizer does not tell those of one that is only part of a
            character.
    """

    number: int
    attempts: tuple[Attempt, ...]
    policy: str
    pieces: tuple[tuple[str, ...], ...] = ()
    octets: tuple[tuple[bytes | None, ...], ...] = ()


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """No answer. ``kind``: ``input`` (the question is unusable; ``field`` names what), ``load`` (the model cannot be
    loaded), ``error``."""

    number: int
    kind: str
    message: str
    field: str | None = None


class Bye(msgspec.Struct, frozen=True, kw_only=True, tag="bye"):
    """The process leaves, as nobody has asked for long; what it has not answered is to be asked again."""


Question = Ask | Cancel
Reply = Answer | Failed | Bye


def pack(message: Question | Reply) -> bytes:
    """A message as bytes.

    Raises:
        UnicodeEncodeError: it holds lone surrogates.
    """
    data = msgspec.json.encode(message)
    return _HEAD.pack(len(data)) + data


def read(source: IO[bytes]) -> bytes | None:
    """The next message's bytes; ``None`` at the end."""
    head = source.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    (size,) = _HEAD.unpack(head)
    data = source.read(size)
    return data if len(data) == size else None
