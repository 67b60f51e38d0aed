"""Where a text names a choice: by its letter or by its text."""

from __future__ import annotations

import re
from typing import NamedTuple

_LETTER = re.compile(r"(?<![\w'’])(?:[(\[]\s?([A-Za-z])\s?[)\]]|([A-Z])(?![\w'’]))")
_SMALL = re.compile(r"([a-z])\s?[).:\]](?:\s|$)")
_NO_NOUN = "is|was|or|and|because|since|then|nor|but|not|instead|would|versus|vs|plus|maybe"
_VERBS = "cannot|can|could|may|might|must|should|does|has|gives|yields|works|also|too|as|isn't|can't|doesn't"
_AFTER_WORD = {
    "A": re.compile(rf"\s(?!(?:{_NO_NOUN}|{_VERBS})\b)[a-z]"),
    "I": re.compile(rf"\s(?!(?:{_NO_NOUN})\b)[a-z]"),
}
"""What follows the article, or "I"."""
_NUMERIC = re.compile(r"[-−+]?[\d.]")


class Mention(NamedTuple):
    """A place where a choice is named. ``letter``: of the choice. ``spelled``: by its text."""

    letter: str
    spelled: bool
    start: int
    end: int


def mentions(said: str, texts: dict[str, str]) -> list[Mention]:
    """Choices named in a plain answer, in order; a letter within the text of a choice is a part of it."""
    folded = said.casefold()
    found: list[Mention] = []
    taken = bytearray(len(folded) + 1)
    for letter, text in sorted(texts.items(), key=lambda item: -len(item[1])):
        at = folded.find(text)
        while at >= 0 and len(found) < 100:
            end = at + len(text)
            if not any(taken[at:end]) and _is_whole(folded, at, end):
                found.append(Mention(letter, True, at, end))
                taken[at:end] = b"\1" * (end - at)
            at = folded.find(text, end)
    for match in _LETTER.finditer(said):
        letter = match.group(1) or match.group(2)
        if any(taken[match.start() : match.end()]):
            continue
        if match.group(2) in _AFTER_WORD and _AFTER_WORD[match.group(2)].match(said, match.end()):
            continue  # "a train", "I think"
        found.append(Mention(letter.upper(), False, match.start(), match.end()))
    small = _SMALL.match(said)
    if small and not taken[0]:
        found.append(Mention(small.group(1).upper(), False, 0, 1))
    return sorted(found, key=lambda mention: mention.start)


def _is_whole(folded: str, at: int, end: int) -> bool:
    """Whether a text stands by itself: not within a word, nor within a longer number or formula."""
    before, after = folded[at - 1 : at], folded[end : end + 1]
    if before.isalnum() or after.isalnum():
        return False
    if _NUMERIC.match(folded, at) and (
        before in tuple("-−+./^") or (before == "," and folded[at - 2 : at - 1].isdigit())
    ):
        return False
    further = folded[end + 1 : end + 2]
    formula = folded[end - 1].isdigit() or end - at == 1
    return not (formula and after in tuple("./^,%") and (after in "^/%" or further.isdigit()))
