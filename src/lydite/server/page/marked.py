"""Text of a policy, divided into pieces that a template puts out as text, each in a span of its kind.

Covered: control characters, marks that turn the direction of text, characters that cannot be seen and lone surrogates
are shown by their names; colours of terminals (SGR) become classes; places that somebody points out are marked. Not
covered: letters of other scripts that look alike. Nothing here makes markup: templates escape every piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

PIECES = 3000
"""Pieces of one text, at most; what follows is one piece, in which odd characters are spelled out."""

_ODD = re.compile(
    "\x1b\\[(?P<sgr>[0-9;:]{0,40})m"
    "|(?P<odd>[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]|\r(?!\n))"
)
_STYLES = {1: "sgr-bold", 2: "sgr-faint", 3: "sgr-italic", 4: "sgr-under", 7: "sgr-reverse", 9: "sgr-struck"}
_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")


class Hit(NamedTuple):
    """A place in a text that is pointed out, from ``start`` up to ``end``: as ``kind`` (a class), with a title."""

    start: int
    end: int
    kind: str
    why: str = ""


class Piece(NamedTuple):
    """Some of a text, all of one kind. ``kind`` is a list of classes, empty for plain text; ``why`` a title."""

    text: str
    kind: str = ""
    why: str = ""


def escaped(text: str) -> str:
    """A text in which whatever cannot be seen, or steers, is spelled out: ``\\x07``, ``\\u202e``."""
    return _ODD.sub(lambda match: _spell(ord(match[0][0])) + match[0][1:], text)


def pieces(
    text: str, hits: Sequence[Hit] = (), *, start: int = 0, end: int | None = None, raw: bool = False
) -> list[Piece]:
    """A text, or a part of it, in pieces.

    Args:
        text: any text.
        hits: places in it that are marked; where they overlap, the first counts.
        start, end: the part.
        raw: whether colours are spelled out as well.
    """
    end = len(text) if end is None else end
    made: list[Piece] = []
    rest: list[str] = []
    for piece, part in _marked(_styled(text, start, end, raw), sorted(hits)):
        if len(made) >= PIECES:
            rest.append(escaped(part))
        elif made and not piece.kind.startswith("odd") and made[-1][1:] == piece[1:]:
            made[-1] = Piece(made[-1].text + piece.text, *piece[1:])
        else:
            made.append(piece)
    return [*made, Piece("".join(rest))] if rest else made


class _Run(NamedTuple):
    start: int
    text: str
    kind: str
    odd: bool = False


def _styled(text: str, start: int, end: int, raw: bool) -> Iterator[_Run]:
    """Runs of plain text under the style that holds there, and odd characters one by one."""
    style: frozenset[str] = frozenset()
    at = start
    for match in _ODD.finditer(text, start, end):
        if match.start() > at:
            yield _Run(at, text[at : match.start()], " ".join(sorted(style)))
        at = match.end()
        if match["odd"] is not None:
            yield _Run(match.start(), match[0], "odd", True)
        elif raw:
            yield _Run(match.start(), "\x1b", "odd", True)
            yield _Run(match.start() + 1, match[0][1:], "")
        else:
            style = _styled_by(style, match["sgr"])
    if at < end:
        yield _Run(at, text[at:end], " ".join(sorted(style)))


def _marked(runs: Iterable[_Run], hits: Sequence[Hit]) -> Iterator[tuple[Piece, str]]:
    """Runs, divided where hits begin and end; with each piece its text as it is."""
    left = iter(hits)
    hit = next(left, None)
    for run in runs:
        at, stop = run.start, run.start + len(run.text)
        while at < stop:
            while hit is not None and hit.end <= at:
                hit = next(left, None)
            inside = hit is not None and hit.start <= at
            to = stop if hit is None else min(stop, hit.end if inside else hit.start)
            part = run.text[at - run.start : to - run.start]
            why = f"U+{ord(part):04X}" if run.odd else ""
            shown = _name(ord(part)) if run.odd else part
            if inside and hit is not None:
                yield Piece(shown, f"{run.kind} {hit.kind}".strip(), why or hit.why), part
            else:
                yield Piece(shown, run.kind, why), part
            at = to


def _spell(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _name(code: int) -> str:
    """A character's name in a few letters, as ``telling.words`` has it."""
    return "ESC" if code == 0x1B else f"^{chr(code + 64)}" if code < 0x20 else f"{code:04X}"


def _styled_by(style: frozenset[str], codes: str) -> frozenset[str]:
    """A style after a code of a terminal. The 8 colours, bright or not; those of larger palettes are left out."""
    numbers = [int(code[:6] or 0) for code in re.split("[;:]", codes)]
    for at, number in enumerate(numbers):
        if number == 0:
            style = frozenset()
        elif number in (38, 48):
            break
        elif number in _STYLES:
            style |= {_STYLES[number]}
        elif number == 22:
            style -= {"sgr-bold", "sgr-faint"}
        elif 23 <= number <= 29:
            style -= {_STYLES.get(number - 20, "")}
        elif number == 39 or 30 <= number <= 37 or 90 <= number <= 97:
            style = frozenset(one for one in style if not one.startswith("sgr-fg-"))
            if number != 39:
                style |= {f"sgr-fg-{_COLOURS[number % 10]}"}
        elif number == 49 or 40 <= number <= 47 or 100 <= number <= 107:
            style = frozenset(one for one in style if not one.startswith("sgr-bg-"))
            if number != 49:
                style |= {f"sgr-bg-{_COLOURS[number % 10]}"}
        if at > 10:
            break
    return style
