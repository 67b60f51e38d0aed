"""What judges a completion that a request brings: its checker found, its verdict spelled. In threads of the service for
checks whose cost is bounded whatever a stranger asks for, in worker processes for all others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec

from lydite.detectors.completion import Looked, look
from lydite.errors import InputError, LyditeError, MissingExtraError, UnavailableError
from lydite.verdict import Outcome, Verdict
from lydite.verifiers.build import CompiledChecker, build, forget
from lydite.verifiers.chunks import Clock, Framing, NoClock, Work
from lydite.verifiers.registry import BUILTIN, find
from lydite.verifiers.rows import Row, read_as
from lydite.verifiers.run import submission
from lydite.verifiers.spelling import spell

COMPOSITE = frozenset({"all_of", "weighted", "gate"})
STATE = frozenset({"exit_code", "file_exists", "pytest", "script"})
QUICK = frozenset({"choice", "exact", "format", "math", "steps"})
"""Verifiers that only compute, in steps that they count or in time linear in completion and configuration. All others
are programs in what their configuration says: ``json_schema``, whose references multiply, as well as ``code``."""
MOST_CHECKERS, MOST_ENTRIES, MOST_BYTES, MOST_WORK = 8, 64, 16 << 10, 1 << 24
"""Of what is judged in a thread: checkers of a composite, entries of lists of its configuration (each of them may be a
look at the whole completion), bytes of the checker, and those times the bytes of the item."""
KEPT = 64 << 20
"""Bytes of items after which a worker forgets the checkers that it compiled."""
_DEPTH = 8
_PLACE = re.compile(r" \([^()\s]*\.py:\d+\)$")
"""File and line of this machine at the end of what a fault says."""


class Item(Row):
    """What is judged, as it comes: a line of ``lydite verify``, which may name its verifier too."""

    verifier: str | None = None
    config: dict[str, Any] | None = None


class Default(msgspec.Struct, frozen=True):
    """The verifier, and its configuration, of items that name none."""

    verifier: str | None = None
    config: dict[str, Any] | None = None


_ITEMS = msgspec.json.Decoder(Item)


def read_item(line: bytes) -> Item:
    """An item.

    Raises:
        InputError: it cannot be read; names the field where it is known.
    """
    return read_as(line, _ITEMS)


def checker_of(item: Item, default: Default = Default()) -> dict[str, Any]:  # noqa: B008 (frozen)
    """The checker of an item: its own, or that of a verifier with the item's gold as the answer.

    Raises:
        InputError: there is none, or it names code of this machine.
    """
    checker = item.checker
    if checker is None:
        named = item.verifier or default.verifier
        if named is None:
            raise InputError("no checker", field="checker", remedy="give a checker, or a gold and a verifier")
        own = item.config if item.verifier or item.config is not None else default.config
        config = dict(own or {})
        if item.gold is not msgspec.UNSET:
            config["answer"] = item.gold
        checker = {"type": named, "config": config}
    for kind in kinds(checker):
        if ":" in kind:
            raise InputError(
                f"{kind[:80]!r}: code of this machine cannot be named here",
                field="checker.type",
                remedy="use a built-in verifier, or install it as a package",
            )
    return checker


def kinds(checker: Any, depth: int = 0) -> Iterator[str]:
    """Types of a checker and, all the way down, of those that it is made of. What is no checker has none.

    Raises:
        InputError: it is nested too deeply.
    """
    if depth > _DEPTH:
        raise InputError(f"nested more than {_DEPTH} levels deep", field="checker")
    if not isinstance(checker, dict):
        return
    if isinstance(kind := checker.get("type"), str):
        yield kind
    parts = config.get("checkers") if isinstance(config := checker.get("config"), dict) else None
    for part in parts.values() if isinstance(parts, dict) else ():
        yield from kinds(part, depth + 1)


def is_quick(checker: dict[str, Any], size: int = 0) -> bool:
    """Whether building it, and judging by it, may be done in a thread: the time that takes is bounded whatever it says.

    Args:
        checker: as it came.
        size: bytes of the item that is judged.
    """
    named = list(islice(kinds(checker), MOST_CHECKERS + 1))
    if len(named) > MOST_CHECKERS or not all(kind in COMPOSITE or _quick(kind) for kind in named):
        return False
    try:
        length = len(msgspec.json.encode(checker))
    except (TypeError, ValueError, RecursionError):  # no JSON: building it says so
        return True
    return length <= MOST_BYTES and length * size <= MOST_WORK and _entries(checker) <= MOST_ENTRIES


@lru_cache(maxsize=256)
def _quick(kind: str) -> bool:
    return kind in QUICK or (kind not in BUILTIN and not _installed(kind))  # unknown: told at once


def _installed(kind: str) -> bool:
    try:
        find(kind)
    except LyditeError:
        return False
    return True


def _entries(value: Any) -> int:
    """Entries of all lists."""
    if isinstance(value, dict):
        return sum(map(_entries, value.values()))
    return len(value) + sum(map(_entries, value)) if isinstance(value, list) else 0


def fault(error: LyditeError) -> Verdict:
    """What is said of an item that could not be judged."""
    if isinstance(error, InputError):
        remedy = f" ({error.remedy})" if error.remedy else ""
        told = f"{error.field}: {error.message}{remedy}" if error.field else error.message + remedy
        return Verdict.invalid("bad_item", "", detail=told[:1000])
    return Verdict.invalid("unavailable", "", detail=str(error)[:1000])


def judge(check: CompiledChecker, item: Item, clock: Clock) -> Looked:
    """The verdict on an item. Faults are told without the places of this machine."""
    given = submission(item.completion, item.prompt)
    clock.start(check.id)
    found = look(check, given)
    verdict = found.verdict
    if verdict.outcome is Outcome.INVALID and verdict.detail:
        found = Looked(
            verdict=msgspec.structs.replace(verdict, detail=_PLACE.sub("", verdict.detail)), seconds=found.seconds
        )
    return found


def spelled(item: Item, found: Looked) -> bytes:
    """A verdict as JSON."""
    return spell(item.id, found.verdict, found.flags, found.seconds)


def judged(item: Item, checker: dict[str, Any], clock: Clock | None = None) -> Looked:
    """Compile and judge.

    Raises:
        InputError: the checker is unusable.
    """
    try:
        return judge(build(checker), item, clock or NoClock())
    except (UnavailableError, MissingExtraError) as error:
        return Looked(verdict=fault(error))


class Told(msgspec.Struct, array_like=True):
    """A worker's answer: the line, or (then ``line`` is empty) why the checker is unusable."""

    line: bytes
    message: str = ""
    field: str | None = None
    remedy: str | None = None


class Sent(msgspec.Struct, array_like=True):
    """What a worker is asked."""

    item: bytes
    default: Default


def make_judge(setup: bytes) -> Work:
    """The workers' function: from a MessagePack list of ``Sent`` to one of ``Told``."""

    held = 0

    def work(chunk: bytes, clock: Clock) -> bytes:
        nonlocal held
        answers = []
        held += len(chunk)
        if held > KEPT:
            held = 0
            forget()
        for index, sent in enumerate(msgspec.msgpack.decode(chunk, type=list[Sent])):
            clock.item(index)
            try:
                item = read_item(sent.item)
                answers.append(Told(spelled(item, judged(item, checker_of(item, sent.default), clock))))
            except InputError as error:
                answers.append(Told(b"", error.message, error.field, error.remedy))
        return msgspec.msgpack.encode(answers)

    return work


def _split(chunk: bytes) -> list[bytes]:
    return [msgspec.msgpack.encode([one]) for one in msgspec.msgpack.decode(chunk)]


def _join(items: list[bytes]) -> bytes:
    return msgspec.msgpack.encode([msgspec.msgpack.decode(one)[0] for one in items])


FRAMING = Framing(_split, _join)
