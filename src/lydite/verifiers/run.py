"""Verify one completion, or a stream of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from lydite.codec import well_formed
from lydite.errors import InputError
from lydite.rollout import Message, last_assistant, prompt_text
from lydite.task import Checker, Task
from lydite.verdict import Outcome, Verdict
from lydite.verifiers.build import build
from lydite.verifiers.chunks import PACKED, Clock, Lost, NoClock, Pace, Work
from lydite.verifiers.pool import PREPARE_SECONDS, map_in_processes
from lydite.verifiers.protocol import Submission
from lydite.verifiers.task_checker import checker_of

if TYPE_CHECKING:
    from lydite.sandbox import Snapshot

MAX_JOBS = 256
"""Worker processes; each holds pipes, and more than there are cores gain nothing."""

CHUNK_ITEMS = 100
"""Items that travel to a worker together, at most."""

_NO_CLOCK = NoClock()

Item = Mapping[str, Any] | tuple[Any, ...]


def verify(
    checker: Checker | Task | dict[str, Any],
    completion: str | Sequence[Message | Mapping[str, Any]] | None,
    prompt: str | Sequence[Message | Mapping[str, Any]] | None = None,
    state: Snapshot | None = None,
) -> Verdict:
    """The verdict on one completion. Safe from threads, asyncio and worker processes: no signals, no shared state.

    Args:
        checker: ``{"type": ..., "config": {...}}``, a ``Checker``, or a ``Task`` (whose prompt is then the default).
        completion: text, or chat messages, of which the last assistant message is judged. ``None`` counts as empty.
        prompt: text or messages; lets a check tell an answer from a restated question.
        state: what an episode left in its workspace, for checks that judge that.

    Raises:
        InputError: the checker is unusable. Nothing in the completion or the state ever raises.
    """
    return _verify(checker, completion, prompt, state, clock=_NO_CLOCK)


def _verify(checker: Any, completion: Any, prompt: Any = None, state: Any = None, *, clock: Clock) -> Verdict:
    if isinstance(checker, Task):
        prompt = checker.prompt if prompt is None else prompt
        checker = checker_of(checker)
    check = build(checker)
    given = submission(completion, prompt, state)
    if isinstance(given, Verdict):
        return given
    clock.start(check.id)
    return check(given)


def submission(completion: Any, prompt: Any = None, state: Snapshot | None = None) -> Submission | Verdict:
    """What is judged; an ``invalid`` verdict where the completion is neither text nor messages (no policy says
    that)."""
    text_of_prompt = prompt if prompt is None or isinstance(prompt, str) else prompt_text(_messages(prompt) or ())
    if completion is None or isinstance(completion, str):
        return Submission(text=well_formed(completion or ""), prompt=text_of_prompt, state=state)
    messages = _messages(completion)
    if messages is None:
        return Verdict.invalid("bad_completion", "", detail="the completion is neither text nor a list of messages")
    return Submission(text=last_assistant(messages), prompt=text_of_prompt, messages=messages, state=state)


def _messages(given: Any) -> tuple[Message, ...] | None:
    """Chat messages from what people have: content as text, as parts, or null. ``None`` when these are no messages."""
    if not isinstance(given, list | tuple):
        return None
    messages: list[Message] = []
    for item in given:
        if isinstance(item, Message):
            messages.append(item)
            continue
        if not isinstance(item, Mapping) or not isinstance(item.get("role"), str):
            return None
        content = item.get("content")
        if isinstance(content, list | tuple):
            parts = (part.get("text") for part in content if isinstance(part, Mapping))
            content = "".join(part for part in parts if isinstance(part, str))
        if content is not None and not isinstance(content, str):
            return None
        fields: dict[str, Any] = {"role": item["role"], "content": well_formed(content or "")}
        if item.get("tool_calls"):
            with contextlib.suppress(msgspec.ValidationError):  # in another wire format the words count alone
                fields["tool_calls"] = msgspec.convert(item, Message).tool_calls
        messages.append(Message(**fields))
    return tuple(messages)


def verify_many(items: Iterable[Item], jobs: int = 1, timeout: float | None = None) -> Iterator[Verdict]:
    """Verdicts on many completions: lazily, in the order of the items, in bounded memory.

    Args: items: each ``(checker, completion)``, ``(checker, completion, prompt)`` or a mapping with these keys. jobs:
        worker processes; 1 works in this process. Workers are fresh interpreters that share nothing with this one:
            that is safe beside threads and loaded libraries, and works within daemonic processes. Items then travel as
            JSON.
        timeout: seconds for one verdict, counted from when its check starts. An attempt that runs out of time is
            ``incorrect`` with reason ``timeout``; a time limit always takes worker processes.

    Yields:
        One verdict per item. An unusable item or checker is ``invalid`` with reason ``bad_item``; a worker that dies
        makes the item it was judging ``invalid`` with reason ``worker_died``, and only that one; one that is killed
        from outside, if it is so a second time.

    Raises:
        InputError: ``jobs`` or ``timeout`` out of range.
    """
    check_limits(jobs, timeout)
    return _verify_many(items, jobs, timeout)


def check_limits(jobs: int, timeout: float | None) -> None:
    """Refuse a number of jobs or a time limit that cannot be honoured."""
    if jobs < 1:
        raise InputError(f"must be at least 1, not {jobs}", field="jobs", remedy="1 works in this process")
    if jobs > MAX_JOBS:
        raise InputError(f"must be at most {MAX_JOBS}, not {jobs}", field="jobs", remedy="as many as there are cores")
    if timeout is not None and not timeout > 0:
        remedy = "leave it out for no limit"
        raise InputError(f"must be more than 0 seconds, not {timeout}", field="timeout", remedy=remedy)


def _verify_many(items: Iterable[Item], jobs: int, timeout: float | None) -> Iterator[Verdict]:
    if jobs == 1 and timeout is None:
        for item in items:
            yield _verify_item(item, _NO_CLOCK)
        return
    pace = Pace()
    chunks = _chunks(items, pace)
    for reply in map_in_processes("lydite.verifiers.run:make_judge", chunks, jobs, PACKED, pace, timeout):
        if isinstance(reply, Lost):
            yield lost_verdict(reply)
        else:
            yield from msgspec.msgpack.decode(reply, type=list[Verdict])


def _chunks(items: Iterable[Item], pace: Pace) -> Iterator[bytes]:
    """Items in chunks, bounded in number and in bytes."""
    chunk: list[msgspec.Raw] = []
    size = 0
    for item in items:
        encoded = _encode(item)
        chunk.append(msgspec.Raw(encoded))
        size += len(encoded)
        if size >= pace.bytes or len(chunk) >= CHUNK_ITEMS:
            yield msgspec.msgpack.encode(chunk)
            chunk, size = [], 0
    if chunk:
        yield msgspec.msgpack.encode(chunk)


def lost_verdict(lost: Lost, prepare: float = PREPARE_SECONDS) -> Verdict:
    """What is said of an item that got no verdict in time, or whose worker died. ``prepare``: see ``Workers``."""
    if lost.why == "timeout":
        return Verdict(outcome=Outcome.INCORRECT, score=0.0, reason="timeout", verifier=lost.verifier)
    if lost.why == "stuck":
        detail = f"its checker was not ready within {prepare:g} s"
        return Verdict.invalid("verifier_error", lost.verifier, detail=detail)
    return Verdict.invalid("worker_died", lost.verifier, detail="the worker process ended while it judged this")


def _verify_item(item: Item, clock: Clock) -> Verdict:
    try:
        if not isinstance(item, tuple | list):
            item = item["checker"], item.get("completion"), item.get("prompt")
        return _verify(*item, clock=clock)
    except Exception as error:
        return Verdict.invalid("bad_item", "", detail=f"{type(error).__name__}: {error}"[:500])


def _encode(item: Item) -> bytes:
    try:
        values = (
            item if isinstance(item, tuple | list) else (item["checker"], item.get("completion"), item.get("prompt"))
        )
        checker, completion, *prompt = values
        if isinstance(checker, Task):
            prompt = prompt if prompt and prompt[0] is not None else [checker.prompt]
            checker = checker_of(checker)
        return msgspec.msgpack.encode([checker, _plain(completion), *map(_plain, prompt)])
    except Exception as error:
        return msgspec.msgpack.encode(f"{type(error).__name__}: {error}"[:500])


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    found = _messages(value)
    return value if found is None else found


def make_judge(setup: bytes) -> Work:
    """The workers' function: from a MessagePack list of items to one of verdicts."""

    def judge(chunk: bytes, clock: Clock) -> bytes:
        verdicts = []
        for index, item in enumerate(msgspec.msgpack.decode(chunk)):
            clock.item(index)
            if isinstance(item, str):
                verdicts.append(Verdict.invalid("bad_item", "", detail=item))
            else:
                verdicts.append(_verify_item(item, clock))
        return msgspec.msgpack.encode(verdicts)

    return judge
