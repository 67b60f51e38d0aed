"""HTML without a template engine: every text is escaped where it becomes part of an element, whatever it is.

What is covered: markup in texts and attributes; control characters, marks of direction and halves of surrogate pairs,
which are shown by their number. What is not covered: names of elements and attributes, which must be our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
"""Characters that nobody would see, or that change how others are seen."""
_VOID = frozenset({"meta", "br"})


class Markup(str):
    """Text that is HTML already: made by ``tag`` and ``join``, or a drawing of ours."""

    __slots__ = ()


Child = str | int | float | None | Iterable["Child"]


def tag(element: str, /, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """An element. Children that are no ``Markup`` are text; ``None`` is nothing.

    Args:
        element: its name, one of our own.
        children: what stands in it.
        attributes: ``class_`` is ``class``, other ``_`` are ``-``; ``True`` has no value, ``False`` and ``None`` are
            left out.
    """
    told = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{_text(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if element in _VOID:
        return Markup(f"<{element}{told}>")
    return Markup(f"<{element}{told}>{join(children)}</{element}>")


def join(children: Iterable[Child]) -> Markup:
    """Children one behind the other."""
    return Markup("".join(map(_child, children)))


def words(text: str, limit: int) -> Markup:
    """What a policy said: text in which nothing is hidden, cut at so many characters, and saying so."""
    shown = escape(text[:limit].replace("\r\n", "\n"))
    body = _ODD.sub(lambda found: f'<span class="odd">U+{ord(found[0]):04X}</span>', shown)
    cut = f'<span class="cut">… {len(text) - limit:,} characters more</span>' if len(text) > limit else ""
    return Markup(body + cut)


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int | float):
        return _text(str(child))
    return join(child)


def _text(text: str) -> str:
    """Text or the value of an attribute."""
    return escape(_ODD.sub("\N{REPLACEMENT CHARACTER}", text))
