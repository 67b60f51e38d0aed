"""Claims that a sentence makes in words, written with a sign of equality: ``12 + 13 is 25``, ``the sum of 4 and 5 is
9``.

Only where nothing else can be meant: numbers alone before the word, and behind it one number with at most one word,
up to the end of a clause. ``2 * 3 is 5 more than 1`` stays what it is.
"""

from __future__ import annotations

import re

_NUM = r"\\?\$?\d{1,12}(?:,\d{3}){0,3}(?:\.\d{1,9})?%?"
# With no space around it, a minus may be the sign of a range: "lines 3-4".
_SIGN = r"(?: - | ?(?:[+*/×÷]|\\times|\\div|\\cdot) ?| (?:plus|minus|times|x|divided by|multiplied by) )"
_IS = r"(?:is|makes|gives)"
# A word that goes on from the number: "is 5 more", "is 3 times as much".
_ON = r"(?:more|less|fewer|greater|times|percent|of|or|and|to|plus|minus|x)"
_END = rf"(?= (?!{_ON}\b)[a-z]{{1,20}}(?:[.,;:!](?=\s|\Z)|\n|\Z)|[.,;:!](?=\s|\Z)|\n|\Z)"
_WORDS = {"sum": "+", "product": "*", "difference": "-", "quotient": "/"}

_WORKED = re.compile(rf"(?<![\w.,])(?P<side>{_NUM}(?:{_SIGN}{_NUM}){{1,8}}) {_IS} (?={_NUM}{_END})")
_NAMED = re.compile(
    rf"\b(?:the )?(?P<name>{'|'.join(_WORDS)}) (?:of|between) (?P<one>{_NUM}) and (?P<other>{_NUM})"
    rf" {_IS} (?={_NUM}{_END})",
    re.IGNORECASE,
)


def written_out(text: str) -> str:
    """The text with signs of equality in the place of such words. Takes linear time."""
    for word in (" is ", " makes ", " gives "):
        place = text.find(word)
        while place > 0:
            behind = place + len(word)
            if text[place - 1] in "0123456789%" and text[behind : behind + 3].lstrip("\\$")[:1].isdigit():
                return _NAMED.sub(_signed, _WORKED.sub(r"\g<side> = ", text))
            place = text.find(word, behind - 1)
    return text


def _signed(match: re.Match[str]) -> str:
    sign, one, other = _WORDS[match["name"].casefold()], match["one"], match["other"]
    return f"{one} {sign} {other} = "
