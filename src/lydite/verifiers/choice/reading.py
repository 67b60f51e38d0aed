"""What an answer names: one choice, several, or none.

A choice is named by its letter, by its text, or by both, which have to agree. A letter alone before more words is no
letter where it could be the article or "I". What is denied ("not A", "A is wrong") is not named.
"""

from __future__ import annotations

import re
from itertools import pairwise

from lydite.verifiers.choice.asserting import asserts_letter, asserts_text
from lydite.verifiers.choice.mentions import Mention, mentions
from lydite.verifiers.choice.options import Options, fold, only_letters
from lydite.verifiers.choice.remarks import SENTENCE, explains, undenied

TWO_MINDS: frozenset[str] = frozenset()
"""An answer that names more than it may."""

_LEAD = re.compile(
    r"(?:(?:so|thus|hence|therefore|final|the|my|our|correct|right|best|answer|answers|option|options|choice|choices|ans"
    r"|is|are|it|definitely|clearly|simply|obviously|certainly|just)\b[\s:,.=]{0,4}|[-=]>\s?|→\s?|#{1,6}\s?|[-•]\s)+",
    re.IGNORECASE,
)
_OPTION = re.compile(r"\b(?:option|choice|answer|ans)\b", re.IGNORECASE)
_UNSURE = re.compile(r"\b(?:maybe|perhaps|possibly|(?:could|may|might) (?:well )?be|not sure)\b", re.IGNORECASE)
_GAP = r"[\s,;:.()\[\]\-–—=&+\"']*"
_JOINED = re.compile(rf"{_GAP}(?:(?:and|i\.e\.?|that is|namely|which is|is|option|meaning)\s)?{_GAP}$")
_LISTED = re.compile(r"[\s,;()\[\]&+.]*(?:and)?[\s,;()\[\]&+.]*$")
_LOOSE = re.compile(r"[\W_]*+(?:(?:and|or|versus|vs|maybe|either|both)\b[\W_]*+)*+", re.IGNORECASE)


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
    return rest.rstrip(" .,;:!\"'").lstrip(" .,;:\"'") or said


def _among_words(said: str, options: Options) -> frozenset[str] | None:
    if (settled := _first(said, options)) is not None:
        return settled
    every = mentions(said, options.texts)
    found = undenied(said, every)
    kept, letters = set(found), {mention.letter for mention in found}
    if not found or said.endswith("?"):
        return None
    if letters & {mention.letter for mention in every if mention not in kept}:
        return TWO_MINDS  # "B. B is wrong"
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
        if not _asserted(said, found):
            return None
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


def _asserted(said: str, found: list[Mention]) -> bool:
    """Whether some mention of the one choice gives it as the answer, and none of its text rejects it."""
    spelled = [one for one in found if one.spelled]
    if spelled:
        last = max(one.end for one in found[:2])
        return asserts_text(said, found[0].start, last) and all(asserts_text(said, *one[2:]) for one in spelled)
    return any(asserts_letter(said, *one[2:]) for one in found)


def _first(said: str, options: Options) -> frozenset[str] | None:
    """What the first sentence names, where it is nothing but a choice and the rest explains it."""
    end = SENTENCE.search(said)
    if end is None or not (rest := said[end.end() :].strip()) or said[end.start()] == "?":
        return None
    read = alone(said[: end.start()], options)
    return read if read and explains(rest, read, options.texts) else None


def alone(said: str, options: Options) -> frozenset[str] | None:
    """What a plain text names that is nothing but a choice, named without hedging; else ``None``."""
    if said.endswith("?") or not is_bare(said, options) or len(options.right) < len(read := named(said, options) or ()):
        return None
    return frozenset(read) or None


def labelled(said: str) -> frozenset[str] | None:
    """The letter of "B) 5", a plain text, where the texts of the choices are not known; else ``None``."""
    match = _LABELLED.match(said)
    if (
        match is None
        or len(mentions(said, {})) != 1
        or said.endswith("?")
        or _HEDGE.search(said)
        or _UNSURE.search(said)
    ):
        return None
    return frozenset({match.group(1)})


_LABELLED = re.compile(r"[(\[]?([A-Z])[)\]:]\s?\S")
_HEDGE = re.compile(
    r"\b(?:or|either|maybe|possibly|perhaps|both|neither|unless|versus|vs|and|also|wait|actually|no|but)\b|/|\?",
    re.IGNORECASE,
)
