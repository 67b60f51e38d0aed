"""Scanners that answer verifiers share. All take time linear in the text, whatever it holds."""

from __future__ import annotations

import re
from typing import NamedTuple

_BOX = re.compile(r"\\(?:boxed|fbox|framebox)\s{0,8}\{")
_BARE_BOX = re.compile(r"\\(?:boxed|fbox)\s{0,8}([-+−]?\d[\d.,/]{0,40})")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BOX_OR_BRACE = re.compile(_BOX.pattern + "|" + _BRACE.pattern, re.DOTALL)


class Box(NamedTuple):
    """One ``\\boxed{...}``: where it stands, braces included, and what is in it."""

    start: int
    end: int
    content: str


def boxes(text: str, commands: list[int] | None = None) -> list[Box]:
    r"""Outermost boxes (``\boxed``, ``\fbox``, ``\framebox``) with balanced braces, in order.

    ``\boxed 7`` without braces counts when a number follows; a box that is never closed does not count; the bare word
    ``\boxed`` in prose is no box.

    Args:
        text: any text.
        commands: what ``box_commands`` says of it, where that is known.
    """
    found: list[Box] = []
    end = 0
    for start in box_commands(text) if commands is None else commands:
        if start < end:
            continue  # within a box
        if text.startswith("\\boxed{", start):
            inside = start + 7
        else:
            opened = _BOX.match(text, start)
            inside = opened.end() if opened is not None else -1
        if inside >= 0:
            closed = closing_brace(text, inside)
            if closed < 0:
                return found + _boxes_after(text, start)
            end = closed + 1
            found.append(Box(start, end, text[inside:closed]))
            continue
        bare = _BARE_BOX.match(text, start)
        if bare is not None:
            found.append(Box(start, bare.end(), bare.group(1).rstrip(".,/")))
    return found


def box_commands(text: str) -> list[int]:
    r"""Where ``\boxed``, ``\fbox`` and ``\framebox`` start, in order."""
    found: list[int] = []
    place = text.rfind("box")  # in all three names, and rarer than a backslash
    while place > 0:
        if text[place - 1] == "\\":
            found.append(place - 1)
        elif text[place - 1] in "fe":
            start = text.rfind("\\", max(0, place - 6), place)
            if start >= 0 and text[start + 1 : place] in ("f", "frame"):
                found.append(start)
        place = text.rfind("box", 0, place)
    found.reverse()
    return found


def places(text: str, word: str, end: int | None = None) -> list[int]:
    """Where a word stands, in order. Searched from the end: in CPython that takes a quarter of the time."""
    found: list[int] = []
    place = text.rfind(word, 0, end)
    while place >= 0:
        found.append(place)
        place = text.rfind(word, 0, place)
    found.reverse()
    return found


def closing_brace(text: str, at: int) -> int:
    """Where the brace that was opened right before ``at`` is closed; -1 where it never is."""
    end = text.find("}", at)
    if end < 0 or (text.find("{", at, end) < 0 and text.find("\\", at, end) < 0):
        return end
    depth = 1
    for match in _BRACE.finditer(text, at):
        piece = match.group()
        if piece == "}":
            depth -= 1
            if depth == 0:
                return match.start()
        elif piece == "{":
            depth += 1
    return -1


def _boxes_after(text: str, at: int) -> list[Box]:
    """The boxes behind a box that is never closed, in one pass."""
    found: list[Box] = []
    opened: list[tuple[int, int]] = []  # (start of the command or -1, start of the content), one per open brace
    for match in _BOX_OR_BRACE.finditer(text, at):
        piece = match.group()
        if piece == "{":
            opened.append((-1, 0))
        elif piece == "}":
            if opened:
                start, inside = opened.pop()
                if start >= 0:
                    while found and found[-1].start > start:
                        found.pop()  # a box inside of this one
                    found.append(Box(start, match.end(), text[inside : match.start()]))
        elif piece[-1] == "{" and len(piece) > 2:
            opened.append((match.start(), match.end()))
        elif piece == "\\b" or piece == "\\f":
            bare = _BARE_BOX.match(text, match.start())
            if bare:
                found.append(Box(bare.start(), bare.end(), bare.group(1).rstrip(".,/")))
    return found


def holds(text: str, words: tuple[str, ...]) -> bool:
    """Whether any of some lower-case words stands in a text, in either case: the cheap look before a dear one."""
    text = text.lower() if text.isascii() else text.casefold().replace("’", "'")
    for word in words:  # noqa: SIM110 - a generator costs more than what it looks for
        if word in text:
            return True
    return False


THINKING = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
)
"""What models put around their thinking."""
_ANGLED = re.compile(r"<(?:/?(?:think(?:ing)?|thought|reasoning|scratchpad|seed:think)>|\|(?:begin|end)_of_thought\|>)")


def after_thinking(text: str) -> str | None:
    """What follows the thinking: the text behind its last end mark; ``None`` when thinking was never finished."""
    if not may_think(text):
        return text
    end = text.rfind("</think>") + 8
    if end < 8:
        end = 0
    elif not may_think(text[end:]):
        return text[end:]
    for _, mark in THINKING[1:]:
        place = text.rfind(mark, end)
        end = place + len(mark) if place >= 0 else end
    rest = text[end:]
    start = min((place for mark, _ in THINKING if (place := rest.find(mark)) >= 0), default=-1)
    if start < 0:
        return rest
    return rest[:start] if end and rest[:start].strip() else None


def may_think(text: str) -> bool:
    """Whether a text holds a mark of thinking. One character is found many times faster than a word."""
    return (
        ("<" in text and _ANGLED.search(text) is not None)
        or ("K" in text and (text.rfind("[THINK]") >= 0 or text.rfind("[/THINK]") >= 0))
        or (not text.isascii() and "◁" in text)
    )


_REFUSALS = re.compile(
    r"\b(?:(?:i|we) (?:(?:can ?not|can't|could not|couldn't|am unable to|am not able to|won't|will not"
    r"|refuse to|do not|don't)"
    r"(?: (?:solve|answer|determine|know|help|assist|do|compute|finish|provide|complete|comply|find|figure|give)\b))"
    r"|(?:i'm|i am|we are|we're) (?:sorry|unable|not able|not sure|unsure)"
    r"|as an ai\b|no idea\b|unable to (?:answer|solve|determine)|not enough information|insufficient information"
    r"|(?:cannot|can't|can not|could not) be (?:determined|solved|answered|found|computed)"
    r"|(?:cannot|can't) (?:determine|say|tell|answer|solve)|unknown\b(?!\s+[a-z])|n/a\b|none given|no answer)",
    re.IGNORECASE,
)


# One of these is in whatever matches.
_REFUSING = (
    "cannot", "can not", "can't", "could not", "couldn't", "unable", "not able", "won't", "will not", "refuse",
    "do not", "don't", "sorry", "not sure", "unsure", "as an ai", "no idea", "not enough", "insufficient",
    "unknown", "n/a", "none given", "no answer",
)  # fmt: skip


def is_refusal(text: str, limit: int = 2000) -> bool:
    """Whether the text says that it gives no answer. Looks at the last ``limit`` characters."""
    text = text[-limit:]
    return holds(text, _REFUSING) and _REFUSALS.search(text.replace("’", "'")) is not None
