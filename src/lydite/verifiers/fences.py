"""Fenced blocks of a completion, for verifiers whose answer is a piece of code or text. Linear in the text."""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

MAX_FENCES = 4000
"""Fence lines that are looked at; text behind more of them is not an answer."""

_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[ \t]*([^`\n]*)$", re.MULTILINE)


class Block(NamedTuple):
    """A fenced block: the first word behind its opening fence, in lower case; its lines; whether it was closed; where
    it starts and ends, fences included, in a text whose line ends are ``\\n``."""

    label: str
    text: str
    closed: bool
    start: int = 0
    end: int = 0


def fenced_blocks(text: str, most: int | None = MAX_FENCES) -> list[Block]:
    """The fenced blocks, in order. A fence is closed by a line of at least as many of its own marks and nothing else;
    the text of an indented fence loses as much indentation. Line ends are ``\\n``; the last one is not part of a
    block. ``most``: fence lines that are looked at; all of them when ``None``."""
    if "```" not in text and "~~~" not in text:
        return []
    text = text.replace("\r\n", "\n")
    found: list[Block] = []
    opened: re.Match[str] | None = None
    for match in islice(_FENCE.finditer(text), most):
        info = match[3].strip()
        if opened is None:
            opened = match
        elif match[2][0] == opened[2][0] and len(match[2]) >= len(opened[2]) and not info:
            found.append(_block(opened, text[opened.end() : match.start()], True, match.end()))
            opened = None
    if opened is not None:
        found.append(_block(opened, text[opened.end() :], False, len(text)))
    return found


def _block(opened: re.Match[str], inside: str, closed: bool, end: int) -> Block:
    label = opened[3].strip().lower().partition(" ")[0]
    inside = inside.removeprefix("\n").removesuffix("\n")
    indent = len(opened[1])
    if indent:
        inside = "\n".join(line[indent:] if not line[:indent].strip() else line for line in inside.split("\n"))
    return Block(label, inside, closed, opened.start(), end)


def pick_block(blocks: list[Block], *labels: frozenset[str]) -> Block | None:
    """The block that counts: the last complete one with one of the labels of the first set, else of the next, else the
    last complete one, else one that was never closed."""
    complete = [block for block in blocks if block.closed]
    for some in labels:
        labelled = [block for block in complete if block.label in some]
        if labelled:
            return labelled[-1]
    found = complete or blocks
    return found[-1] if found else None
