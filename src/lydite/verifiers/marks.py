r"""Marks that a completion puts around its answer where that is a piece of text: ``<answer>`` tags, ``\boxed{}``,
inline code, bold; and which lines are prose. Nothing in a fenced block is a mark. All is linear in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from lydite.verifiers.fences import Block
from lydite.verifiers.text import boxes, places

MAX_MARKS = 200
"""Marks of a kind that are looked at; who makes more of them gives no answer."""

_OPEN, _CLOSE = "<answer>", "</answer>"
_INLINE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,5200})\1(?!`)")
_BOLD = re.compile(r"(?:(?<=[\s:])|^)\*\*(?=[^\s*])([^\n]{1,5200}?)(?<=[^\s\\:])\*\*(?=[\s.,;]|$)", re.MULTILINE)
_TEXT_COMMAND = re.compile(r"\\(?:text|texttt|mathtt|textbf|mathrm)\{(.*)\}", re.DOTALL)
_WORD = re.compile(r"[(\"']?[A-Za-z][a-z'’-]*[)\"']?[,.:;!?]?")


class Span(NamedTuple):
    """A marked piece: where it starts and ends with its marks, and what is in it."""

    start: int
    end: int
    text: str


def answers(text: str, blocks: list[Block]) -> list[str]:
    """What stands in ``<answer>`` tags outside of the fenced blocks; where nothing does, what stands in boxes. Each
    once, without white space around it; empty ones are left out."""
    return _once(_tagged(text, blocks)) or _once(
        _unwrapped(box.content)
        for box in boxes(text)[-MAX_MARKS:]
        if not _within(box.start, blocks) and text[max(0, box.start - 1) : box.start] != "`"
    )


def _tagged(text: str, blocks: list[Block]) -> list[str]:
    found: list[str] = []
    for end in places(text, _CLOSE)[-MAX_MARKS:] if _OPEN in text else []:
        start = text.rfind(_OPEN, max(0, end - 100_000), end)
        if start < 0 or _CLOSE in text[start:end] or text[max(0, start - 1) : start] == "`":
            continue
        if not _within(start, blocks) and not _within(end, blocks):
            found.append(text[start + len(_OPEN) : end])
    return found


def _within(at: int, blocks: list[Block]) -> bool:
    return any(block.start <= at < block.end for block in blocks)


def _once(found: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(one.strip() for one in found if one.strip()))


def _unwrapped(content: str) -> str:
    whole = _TEXT_COMMAND.fullmatch(content.strip())
    return whole[1] if whole else content


def inline(text: str) -> list[Span]:
    """Inline code, in order."""
    return [Span(match.start(), match.end(), match[2]) for match in _INLINE.finditer(text)]


def bold(text: str) -> list[Span]:
    """What is set in bold and does not end with a colon, in order."""
    return [
        Span(match.start(), match.end(), match[1]) for match in _BOLD.finditer(text) if text[match.end() - 3] != ":"
    ]


def is_prose(line: str) -> bool:
    """Whether a line is a sentence rather than code: it has at least three words, and nearly all of it is words."""
    parts = line.split()[:60]
    words = sum(_WORD.fullmatch(part) is not None for part in parts)
    return words >= 3 and 4 * words >= 3 * len(parts)
