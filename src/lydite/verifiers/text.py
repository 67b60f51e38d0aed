"""Scanners that answer verifiers share. All take time linear in the text, whatever it holds."""

from __future__ import annotations

import re
from typing import NamedTuple

_BRACE = re.compile(r"\\(?:boxed|fbox|framebox)\s{0,8}\{|\\.|[{}]", re.DOTALL)
_BARE_BOX = re.compile(r"\\(?:boxed|fbox)\s{0,8}([-+−]?\d[\d.,/]{0,40})")


class Box(NamedTuple):
    """One ``\\boxed{...}``: where it stands, braces included, and what is in it."""

    start: int
    end: int
    content: str


def boxes(text: str) -> list[Box]:
    r"""Outermost boxes (``\boxed``, ``\fbox``, ``\framebox``) with balanced braces, in order.

    ``\boxed 7`` without braces counts when a number follows; a box that is never closed does not count; the bare word
    ``\boxed`` in prose is no box.
    """
    word = text.find("box")  # in the name of each of the three commands, and rarer than a backslash
    first = text.rfind("\\", 0, word) if word >= 0 else -1
    if first < 0:
        return []
    found: list[Box] = []
    opened: list[tuple[int, int]] = []  # (start of the command or -1, start of the content), one per open brace
    for match in _BRACE.finditer(text, first):
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


def after_thinking(text: str) -> str | None:
    """What follows the thinking: the text after the last ``</think>``; ``None`` when thinking was never finished."""
    end = text.rfind("</think>")
    rest = text[end + 8 :] if end >= 0 else text
    start = rest.find("<think>")
    if start < 0:
        return rest
    return rest[:start] if end >= 0 and rest[:start].strip() else None


_REFUSALS = re.compile(
    r"\b(?:(?:i|we) (?:(?:can ?not|can't|could not|couldn't|am unable to|am not able to|won't|will not"
    r"|refuse to|do not|don't)"
    r"(?: (?:solve|answer|determine|know|help|assist|do|compute|finish|provide|complete|comply|find|figure|give)\b))"
    r"|(?:i'm|i am|we are|we're) (?:sorry|unable|not able|not sure|unsure)"
    r"|as an ai\b|no idea\b|unable to (?:answer|solve|determine)|not enough information|insufficient information"
    r"|(?:cannot|can't|can not|could not) be (?:determined|solved|answered|found|computed)"
    r"|(?:cannot|can't) (?:determine|say|tell|answer|solve)|unknown\b|n/a\b|none given|no answer)",
    re.IGNORECASE,
)


def is_refusal(text: str, limit: int = 2000) -> bool:
    """Whether the text says that it gives no answer. Looks at the last ``limit`` characters."""
    return _REFUSALS.search(text[-limit:].replace("’", "'")) is not None
