r"""Whether a gold is TeX that was cut off: a fault of the task's, for which no attempt may be blamed."""

from __future__ import annotations

import re

_PIECE = re.compile(r"\\(?:[A-Za-z]+|.|$)|[{}]|[^\\{}]", re.DOTALL)
_TAKES = {"frac": 2, "dfrac": 2, "tfrac": 2, "cfrac": 2, "binom": 2, "dbinom": 2, "tbinom": 2, "sqrt": 1, "text": 1,
          "boxed": 1, "overline": 1, "mathrm": 1, "mathbf": 1}  # fmt: skip
_PAIRED = (("left", "right"), ("(", ")"), ("[", "]"), ("begin", "end"))


def is_broken(text: str) -> bool:
    r"""Whether braces are unbalanced, ``\left`` or ``\begin`` is not closed, or a command lacks its arguments."""
    if not any(char in text for char in "\\{}^_"):
        return False
    pieces = _PIECE.findall(text)
    depth = 0
    for piece in pieces:
        depth += (piece == "{") - (piece == "}")
        if depth < 0 or piece == "\\":
            return True
    if depth:
        return True
    names = [piece[1:] for piece in pieces if piece[0] == "\\"]
    if any(names.count(opening) != names.count(closing) for opening, closing in _PAIRED):
        return True
    pieces = [piece for piece in pieces if not piece.isspace()]
    if len(pieces) > 1 and pieces[-1] == "^":
        return True
    return any(
        not _has_arguments(pieces, index + 1, _TAKES[piece[1:]])
        for index, piece in enumerate(pieces)
        if piece[0] == "\\" and piece[1:] in _TAKES
    )


def _has_arguments(pieces: list[str], at: int, count: int) -> bool:
    if pieces[at : at + 1] == ["["] and "]" in pieces[at:]:  # the degree of a root
        at = pieces.index("]", at) + 1
    for _ in range(count):
        if at >= len(pieces) or pieces[at] in ("}", "$", ")", ",") or pieces[at] in ("\\)", "\\]", "\\right"):
            return False
        if pieces[at] == "{":
            depth = 1
            while depth:
                at += 1
                depth += (pieces[at] == "{") - (pieces[at] == "}")
        elif pieces[at][0] == "\\" and pieces[at][1:] in _TAKES:
            return True  # looked at on its own
        at += 1
    return True
