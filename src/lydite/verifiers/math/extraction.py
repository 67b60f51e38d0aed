"""What was found in a completion: the answer, where it stood, and what the words around it make of it."""

from __future__ import annotations

from typing import Literal, NamedTuple

Place = Literal["box", "tag", "marker", "anchor", "line", "last", "none"]
Relation = Literal["one", "list", "scatter"]
MAX_BOXES = 64
"""Of more boxes, the last ones are asked whether they are denied or struck out, and those before must say the same."""
EMPTY = " \t\r\n.$~,;:…"
"""A box of these holds nothing."""


class Extraction(NamedTuple):
    """What was found.

    Attributes:
        answers: the answer; several where boxes are joined as a list or scattered; empty where there is none.
        place: where it was found.
        relation: how several answers belong together: ``one``, ``list`` (joined by "and", "or", commas) or ``scatter``.
        hedged: the words around the answer take it back or leave it open.
        refused: no answer, and the text says that it gives none.
        after: what the text claims to be the answer once more, behind the box.
        rejected: values that the text behind the answer rejects.
    """

    answers: tuple[str, ...] = ()
    place: Place = "none"
    relation: Relation = "one"
    hedged: bool = False
    refused: bool = False
    after: str | None = None
    rejected: tuple[str, ...] = ()
