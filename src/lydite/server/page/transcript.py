"""An attempt as turns that a template can show: what is long is folded or cut, what is odd is spelled out.

What is cut out of a text keeps its beginning, its end and the surroundings of marked places; the whole of it is served
as plain text. So a page is some hundreds of kilobytes at most, whatever a policy said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from lydite.rollout import Message, Rollout, ToolCall
from lydite.server.page.marked import Hit, Piece, pieces
from lydite.server.page.quotes import Quote, hits_in
from lydite.verifiers.text import THINKING

LIMIT = 20_000
"""Characters of one text that are shown."""
SMALL = 2_000
"""The same, of an argument of a call; of any text once ``ENOUGH`` are shown."""
ENOUGH = 300_000
MOST_TURNS = 400
AROUND, MOST_AROUND = 300, 6
"""Characters that are kept before and behind a marked place, and of how many places."""
MOST_THOUGHTS = 1000
_FOLD_CHARS, _FOLD_LINES = 1200, 16
_ENDS = dict(THINKING)
_MARKS = re.compile("|".join(re.escape(mark) for pair in THINKING for mark in pair))


class Segment(NamedTuple):
    """A stretch of a text. ``kind``: ``text``, ``think``, or ``gap``, which stands for ``length`` characters."""

    kind: str
    pieces: list[Piece]
    length: int
    lines: int = 0


class Shown(NamedTuple):
    """A text as it is shown. ``cut``: some of it is left out; ``marked``: how many places of it are pointed out."""

    segments: list[Segment]
    length: int
    lines: int
    cut: bool
    marked: int

    @property
    def long(self) -> bool:
        """Whether it is better folded."""
        return self.length > _FOLD_CHARS or self.lines > _FOLD_LINES


class Argument(NamedTuple):
    """An argument of a call. ``block``: it has lines of its own."""

    name: str
    shown: Shown
    block: bool


class Call(NamedTuple):
    """A call of a tool, the ``number``-th of the attempt."""

    number: int
    name: str
    id: str
    arguments: list[Argument]


class Turn(NamedTuple):
    """A message. ``number`` counts from 1, the prompt's included, and names it in URLs; ``seconds`` of a tool's."""

    number: int
    role: str
    name: str
    asked: bool  # a part of the prompt
    shown: Shown
    calls: list[Call]
    seconds: float | None = None

    @property
    def folded(self) -> bool:
        """Whether it is shown folded at first."""
        return self.role in ("tool", "system") and self.shown.long and not self.shown.marked


class _Budget:
    """How many characters may still be shown."""

    def __init__(self) -> None:
        self.shown = 0

    def limit(self, most: int) -> int:
        return most if self.shown < ENOUGH else min(most, SMALL)


def turns(
    rollout: Rollout, quotes: Sequence[Quote] = (), *, answer: str | None = None, raw: bool = False
) -> tuple[list[Turn], int]:
    """The turns of an attempt, and how many are left out.

    Args:
        rollout: the attempt.
        quotes: what is marked in what the policy said.
        answer: what was graded; its last place in the last words is marked.
        raw: thinking is not folded, colours are spelled out.
    """
    seconds = iter(rollout.calls.seconds if rollout.calls is not None else ())
    budget, call = _Budget(), 0
    made: list[Turn] = []
    every = messages_of(rollout)
    last = max((n for n, message in enumerate(every, 1) if message.role == "assistant"), default=0)
    for number, message in enumerate(every, 1):
        asked = number <= len(rollout.prompt)
        if len(made) >= MOST_TURNS and number != last:
            call += len(message.tool_calls)
            continue
        hits = [] if asked else hits_in(message.content, quotes)
        if number == last and answer:
            hits = sorted([*hits, *_answer(message.content, answer, hits)])
        made.append(
            Turn(
                number,
                message.role,
                message.name,
                asked,
                show(message.content, hits, limit=budget.limit(LIMIT), raw=raw),
                [_call(one, call + n, quotes, budget, raw) for n, one in enumerate(message.tool_calls, 1)],
                next(seconds, None) if message.role == "tool" and not asked else None,
            )
        )
        budget.shown += min(len(message.content), LIMIT)
        call += len(message.tool_calls)
    return made, len(every) - len(made)


def messages_of(rollout: Rollout) -> tuple[Message, ...]:
    """Prompt and completion, as turns count them."""
    return *rollout.prompt, *rollout.completion


def show(text: str, hits: Sequence[Hit] = (), *, limit: int = LIMIT, raw: bool = False) -> Shown:
    """A text in segments."""
    thoughts = [] if raw else list(thinking(text))
    segments: list[Segment] = []
    at = 0
    for start, end in _windows(len(text), hits, limit):
        if start > at:
            segments.append(Segment("gap", [], start - at))
        for kind, left, right in _divided(start, end, thoughts):
            part = pieces(text, hits, start=left, end=right, raw=raw)
            segments.append(Segment(kind, part, right - left, text.count("\n", left, right) + 1))
        at = end
    if at < len(text):
        segments.append(Segment("gap", [], len(text) - at))
    cut = any(segment.kind == "gap" for segment in segments)
    return Shown(segments, len(text), text.count("\n") + 1 if text else 0, cut, len(hits))


def thinking(text: str) -> Iterator[tuple[int, int]]:
    """Where a text thinks, its marks included: from a mark of the beginning to that of the end. One that never ends
    goes to the end of the text; an end without a beginning, which templates of chats leave, begins with the text."""
    start, ends = -1, ""
    for count, mark in enumerate(_MARKS.finditer(text)):
        end = _ENDS.get(mark[0])
        if start >= 0 and mark[0] == ends:
            yield start, mark.end()
            start = -1
        elif start < 0 and end is not None and count < MOST_THOUGHTS:
            start, ends = mark.start(), end
        elif start < 0 and end is None and count == 0:
            yield 0, mark.end()
    if start >= 0:
        yield start, len(text)


def _windows(length: int, hits: Sequence[Hit], limit: int) -> list[tuple[int, int]]:
    """The stretches of a text that are shown: all of it, or its beginning, its end and what is around marked places."""
    if length <= limit:
        return [(0, length)] if length else []
    spans = [(0, limit * 3 // 5), (length - limit * 2 // 5, length)]
    spans += [(hit.start - AROUND, min(hit.end, hit.start + limit) + AROUND) for hit in hits[:MOST_AROUND]]
    joined: list[tuple[int, int]] = []
    for start, end in sorted((max(0, start), min(length, end)) for start, end in spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _divided(start: int, end: int, thoughts: Sequence[tuple[int, int]]) -> Iterator[tuple[str, int, int]]:
    """A stretch, divided into what is thought and what is said."""
    at = start
    for left, right in thoughts:
        left, right = max(left, at), min(right, end)
        if right <= left:
            continue
        if left > at:
            yield "text", at, left
        yield "think", left, right
        at = right
    if at < end:
        yield "text", at, end


def _call(call: ToolCall, number: int, quotes: Sequence[Quote], budget: _Budget, raw: bool) -> Call:
    arguments = []
    for name, value in call.arguments.items():
        text = argument(value)
        hits = hits_in(text, quotes, call=number)
        arguments.append(Argument(name, show(text, hits, limit=budget.limit(2 * SMALL), raw=raw), "\n" in text))
        budget.shown += min(len(text), 2 * SMALL)
    return Call(number, call.name, call.id, arguments)


def argument(value: Any) -> str:
    """An argument as people read it: a text as it is, all else as JSON."""
    if isinstance(value, str):
        return value
    compact = json.dumps(value, ensure_ascii=False)
    return compact if len(compact) <= 100 else json.dumps(value, ensure_ascii=False, indent=2)


def _answer(text: str, answer: str, hits: Sequence[Hit]) -> list[Hit]:
    """Where what was graded stands, apart from other marked places."""
    at = text.rfind(answer)
    if at < 0:
        return []
    end, found = at + len(answer), []
    for hit in [*hits, Hit(end, end, "")]:
        if hit.end > at and hit.start <= end:
            found.append(Hit(at, max(at, min(hit.start, end)), "graded", "what was graded"))
            at = max(at, hit.end)
    return [hit for hit in found if hit.end > hit.start]


def plain(message: Message) -> str:
    """A message as plain text, its calls included."""
    lines = [message.content] if message.content else []
    for call in message.tool_calls:
        told = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.arguments.items())
        lines.append(f"→ {call.name}({told})")
    return "\n".join(lines)


def flat(messages: Sequence[Message]) -> str:
    """Messages as one text to be compared: of a single one its words, of several also who spoke and what was called."""
    if len(messages) == 1 and not messages[0].tool_calls:
        return messages[0].content
    lines: list[str] = []
    for message in messages:
        lines.append(f"── {message.role}{f' {message.name}' if message.name else ''} ──")
        if message.content:
            lines.append(message.content)
        for call in message.tool_calls:
            lines.append(f"→ {call.name}")
            lines += [f"  {name}: {argument(value)}" for name, value in call.arguments.items()]
    return "\n".join(lines)
