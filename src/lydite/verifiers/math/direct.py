"""The usual completions, seen at a glance: one box near the end of the text, or one ``####`` line at its end.

What these functions find, the full extraction would find as well, with nothing to say against it: a test holds the two
together. What they do not find, the full extraction has to look at.
"""

from __future__ import annotations

from lydite.verifiers.math.behind import ADJOINING
from lydite.verifiers.math.disclaimed import denied
from lydite.verifiers.text import closing_brace, may_think

MAX_TEXT = 65536
MAX_TAIL = 40
"""Characters behind a box, or of a marker's line, that are seen at a glance."""


def last_box(text: str) -> tuple[str, str] | None:
    r"""What is in the only box of a text, and the few characters behind it; ``None`` where that takes a longer look.

    The text has no tags and no comments, the box is a plain ``\boxed{...}`` that is not denied, nothing in it is struck
    out, and nothing around it.
    """
    word = text.rfind("box")
    if word <= 0 or len(text) > MAX_TEXT or not text.startswith("\\boxed{", word - 1):
        return None
    if word > 1 and text[word - 2] in ADJOINING:
        return None
    end = closing_brace(text, word + 6)
    if not 0 < len(text) - end <= MAX_TAIL or end < 0:
        return None
    content, tail = text[word + 6 : end].strip(), text[end + 1 :]
    if "\\" in content and ("cancel" in content or "\\s" in content):
        return None
    if "}" in tail or "<" in text or "%" in text or text.rfind("box", 0, word) >= 0:
        return None
    if ("K" in text or not text.isascii()) and may_think(text):
        return None
    return None if denied(text, word - 1, end + 1) else (content, tail)


def last_marker(text: str) -> str | None:
    """What stands on the only ``####`` line of a text, which is its last; ``None`` where that takes a longer look."""
    place = text.rfind("####")
    if place < 0 or len(text) - place > MAX_TAIL or len(text) > MAX_TEXT or "<" in text or "\n" in text[place:]:
        return None
    if text.rfind("box") >= 0 or text.rfind("####", 0, place) >= 0 or may_think(text):
        return None
    return text[place + 4 :].strip(" *#\t\r") or None
