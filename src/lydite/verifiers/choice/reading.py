"""What an answer names: one choice, several, or none.

A choice is named by its letter, by its text, or by both, which have to agree. A letter alone before more words is no
letter where it could be the article or "I". What is denied ("not A", "A is wrong") is not named.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from lydite.verifiers.choice.options import Options, fold, only_letters

TWO_MINDS: frozenset[str] = frozenset()
"""An answer that names more than it may."""

_LEAD = re.compile(
    r"(?:(?:so|thus|hence|therefore|final|the|my|our|correct|right|best|answer|answers|option|options|choice|choices|ans"
    r"|is|are|it|definitely|clearly|simply|obviously|certainly|just)\b[\s:,.=]{0,4}|[-=]>\s?|→\s?|#{1,6}\s?|[-•]\s)+",
    re.IGNORECASE,
)
_OPTION = re.compile(r"\b(?:option|choice|answer|ans)\b", re.IGNORECASE)
_UNSURE = re.compile(r"\b(?:maybe|perhaps|possibly|(?:could|may|might) (?:well )?be|not sure)\b", re.IGNORECASE)
_LETTER = re.compile(r"(?<![\w'’])(?:[(\[]\s?([A-Za-z])\s?[)\]]|([A-Z])(?![\w'’]))")
_SMALL = re.compile(r"([a-z])\s?[).:\]](?:\s|$)")
_AFTER_WORD = re.compile(
    r"\s(?!(?:is|was|or|and|because|since|then|nor|but|not|instead|would|versus|vs|plus|maybe)\b)[a-z]"
)
_DENIED_BEFORE = re.compile(
    r"(?:\b(?:not|never|neither|nor|except|without|isn't|wasn't|cannot be|can't be|rather than|instead of|exclud\w+"
    r"|(?:anything|everything|all|nothing) but)|n't)\s(?:(?:be|think|believe|say|it|is|it's|that)\s){0,4}"
    r"(?:(?:the|option|choice|answer|either)\s){0,3}[(\[\"']?$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"[)\]\"']?\s(?:(?:is|was|are|were|can be|has been)\s?"
    r"(?:not|n't|wrong|incorrect|false|out|eliminated|ruled out|excluded)|(?:isn't|wasn't|cannot|can't)\b)",
    re.IGNORECASE,
)
_GAP = r"[\s,;:.()\[\]\-–—=&+\"']*"
_JOINED = re.compile(rf"{_GAP}(?:(?:and|i\.e\.?|that is|namely|which is|is|option|meaning)\s)?{_GAP}$")
_LISTED = re.compile(r"[\s,;()\[\]&+.]*(?:and)?[\s,;()\[\]&+.]*$")
_LOOSE = re.compile(r"[\W_]*+(?:(?:and|or|versus|vs|maybe|either|both)\b[\W_]*+)*+")
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
        if match.group(2) in ("A", "I") and _AFTER_WORD.match(said, match.end()):
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


def named(said: str, options: Options) -> frozenset[str] | None:
    """The letters (or the folded text) that a plain answer names; ``TWO_MINDS``; ``None`` where it names no choice."""
    texts, right = options
    rest = _without_lead(said)
    if rest != said and rest in ("a", "i") and not _OPTION.search(said):
        return None  # "it is a"
    for whole in dict.fromkeys((said, rest)):
        folded = fold(whole)
        for letter, text in texts.items():
            if folded == text:
                return frozenset({letter})
        if not texts and frozenset({folded}) == right:
            return right
        letters = only_letters(whole)
        if letters and (not texts or letters <= set(texts)):
            return letters
    return _among_words(rest, options)


def is_bare(said: str, options: Options) -> bool:
    """Whether a plain text is nothing but a choice, or several."""
    rest = _without_lead(said)
    if only_letters(rest) or fold(rest) in options.texts.values() or frozenset({fold(rest)}) == options.right:
        return True
    found = mentions(rest, options.texts)
    between = [rest[a.end : b.start] for a, b in pairwise(found)]
    return bool(found) and all(
        _LOOSE.fullmatch(gap) for gap in (rest[: found[0].start], *between, rest[found[-1].end :])
    )


def _without_lead(said: str) -> str:
    lead = _LEAD.match(said)
    rest = said[lead.end() :] if lead else said
    return rest.strip(" .,;:!\"'") or said


def _among_words(said: str, options: Options) -> frozenset[str] | None:
    found = [mention for mention in mentions(said, options.texts) if not _is_denied(said, mention)]
    letters = {mention.letter for mention in found}
    if not found or said.endswith("?"):
        return None
    if options.texts and not letters <= set(options.texts):
        if any(_LISTED.match(said[a.end : b.start]) for a, b in pairwise(found)):
            return TWO_MINDS
        found = [mention for mention in found if mention.letter in options.texts]  # "B, with a force of 5 N"
        letters = {mention.letter for mention in found}
        if not found:
            return None
    if _UNSURE.search(said):
        return TWO_MINDS
    if len(letters) == 1:
        first = found[0]
        if first.spelled or first.start < 2 or len(found) > 1 or options.texts:
            return frozenset(letters)
        return frozenset(letters) if said[first.start] in "([" or first.letter not in "AI" else None
    gaps = [said[a.end : b.start] for a, b in pairwise(found)]
    if len(options.right) > 1 and all(_LISTED.match(gap) for gap in gaps):
        return frozenset(letters)
    # "(B) London is larger than Paris": the choice by letter and text, and a remark that names others by their text
    own = [mention.letter == found[0].letter for mention in found[:2]]
    others = found[2:]
    if found[0].start < 2 and all(own) and found[0].spelled != found[1].spelled and _JOINED.match(gaps[0]):
        remark = said[found[1].end :]
        if all(mention.spelled for mention in others) and not _HEDGE.search(remark) and remark[:1] == " ":
            return frozenset({found[0].letter})
    return TWO_MINDS


_HEDGE = re.compile(
    r"\b(?:or|either|maybe|possibly|perhaps|both|neither|unless|versus|vs|and|also|wait|actually|no|but)\b|/|\?",
    re.IGNORECASE,
)


def _is_denied(said: str, mention: Mention) -> bool:
    return bool(
        _DENIED_BEFORE.search(said[max(0, mention.start - 60) : mention.start])
        or _DENIED_AFTER.match(said, mention.end)
    )
