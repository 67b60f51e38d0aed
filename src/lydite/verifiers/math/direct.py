r"""The usual completions, seen at a glance: one box, or at the end one ``####`` line, one tag or "the answer is 7".

What is found here, the full extraction would find as well, with nothing to say against it: a test holds the two
together. What is not, the full extraction has to look at.

A long text is passed over as seldom as can be: one character is found ten times faster than a word, so characters
without which a word cannot be there (a backslash, ``#``, ``<``) are looked for first; and words from the end, which in
CPython takes half the time.
"""

from __future__ import annotations

import re

from lydite.verifiers.math import claims, second_thoughts
from lydite.verifiers.math.behind import ADJOINING, belongs
from lydite.verifiers.math.disclaimed import denied
from lydite.verifiers.math.extraction import EMPTY, Place
from lydite.verifiers.math.tail import effect
from lydite.verifiers.text import closing_brace

MAX_TEXT = 65536
MAX_TAIL = 40
"""Characters of a marker's line, or from "answer is" on, that are seen at a glance."""

_COMMENT = re.compile(r"[ \t]*%")
_NUMBER = r"-?(?:\d{1,15}|\d{1,3}(?:,\d{3}){1,4})(?:\.\d{1,15})?"
_SAID = re.compile(
    rf"[Aa]nswer(?: is[ *:]{{1,4}}|\*{{0,2}}:[\s*]{{0,4}})(?:\$({_NUMBER})\$|(\$?{_NUMBER}))[.*]{{0,3}}\s{{0,2}}\Z",
    re.ASCII,
)
_TAGGED = re.compile(rf"<answer>\s{{0,2}}({_NUMBER})\s{{0,2}}</answer>\s{{0,2}}\Z", re.ASCII)


def at_a_glance(text: str, policy: str) -> tuple[str, Place] | None:
    """The answer and where it stands; ``None`` where that takes a longer look.

    Args:
        text: what follows the thinking.
        policy: as of ``extract``.
    """
    if len(text) > MAX_TEXT or (
        "<" in text and (("!" in text and text.rfind("<!--") >= 0) or ("|" in text and text.rfind("<|") >= 0))
    ):
        return None
    if "\\" in text and (word := text.rfind("box")) >= 0:
        boxed = _box(text, word)
        return None if boxed is None else (boxed, "box")
    if policy == "strict":
        return None
    if "<" in text and ((place := text.rfind("nswer>")) >= 0 or text.rfind("NSWER>") >= 0):
        tagged = _tag(text, place)
        return None if tagged is None else (tagged, "tag")
    if "#" in text and (place := text.rfind("####")) >= 0:
        marked = _marker(text, place)
        return None if marked is None else (marked, "marker")
    claimed = _claim(text)
    return None if claimed is None else (claimed, "anchor")


def _box(text: str, word: int) -> str | None:
    r"""What the only box of a text says, with what follows it and belongs to it.

    The box is a plain ``\boxed{...}``, in no comment and not denied; nothing in it is struck out, and nothing around.
    """
    start = word - 1
    if start < 0 or not text.startswith("\\boxed{", start) or (start and text[start - 1] in ADJOINING):
        return None
    end = closing_brace(text, word + 6)
    if not 0 < len(text) - end <= second_thoughts.MAX_TAIL or end < 0:
        return None
    content, tail = text[word + 6 : end].strip(), text[end + 1 :]
    if len(content) > claims.MAX_ANSWER:
        return None
    if "\\" in content and ("cancel" in content or "\\s" in content):
        return None
    if "}" in tail or (text.rfind("\\", 0, start) >= 0 and text.rfind("box", 0, word) >= 0):
        return None
    if "%" in text and _COMMENT.match(text, text.rfind("\n", 0, word) + 1):
        return None
    if not content.strip(EMPTY) or (told := effect(tail)) == "says more" or denied(text, start, end + 1):
        return None
    return content if told == "nothing" else belongs(content, tail)


def _tag(text: str, last: int) -> str | None:
    """The number in the only ``<answer>`` of a text, at its end."""
    start = text.rfind("<answer>", max(0, last - MAX_TAIL))
    said = _TAGGED.match(text, start) if start >= 0 else None
    if said is None or text.rfind("nswer>", 0, start) >= 0 or text.rfind("NSWER>", 0, start) >= 0:
        return None
    return said.group(1)


def _marker(text: str, place: int) -> str | None:
    """What stands on the only ``####`` line of a text, which is its last."""
    if len(text) - place > MAX_TAIL or "\n" in text[place:] or text.rfind("####", 0, place) >= 0:
        return None
    return text[place + 4 :].strip(" *#\t\r") or None


def _claim(text: str) -> str | None:
    """The number that the end of a text claims to be the answer, where nothing else in it claims anything."""
    place = text.rfind("nswer", max(0, len(text) - MAX_TAIL)) - 1
    said = _SAID.match(text, place) if place >= 0 else None
    if said is None or (place and (text[place - 1].isalnum() or text[place - 1] == "_")):
        return None
    group = 1 if said.group(1) is not None else 2
    if claims.has_claims(text, place) or denied(text, *said.span(group)):
        return None
    return said.group(group)
