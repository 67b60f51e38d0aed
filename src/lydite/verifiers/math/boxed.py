"""Boxes that were found: one answer, a list, or a scatter of several."""

from __future__ import annotations

import re
from itertools import pairwise

from lydite.verifiers.math import disclaimed, several
from lydite.verifiers.math.behind import ADJOINING, before, belongs, may_belong
from lydite.verifiers.math.claims import MAX_ANSWER
from lydite.verifiers.math.extraction import MAX_BOXES, Extraction
from lydite.verifiers.math.second_thoughts import MAX_TAIL
from lydite.verifiers.math.tail import CLOSING, NOTHING, looked_at, replaced, withdrawn
from lydite.verifiers.text import Box

_KEPT = MAX_ANSWER + 1
"""Characters of a box: by the last one, a longer answer is seen to be too long."""
_JOIN = re.compile(
    r"[\s$,;.&()\[\]\\]{0,12}(?:and|or|und|oder|et|y)?[\s$,;\\(\[&]{0,12}"
    r"(?:\\(?:quad|qquad|text\{ ?(?:and|or) ?\})[\s$,]{0,8})?"
    r"(?:[A-Za-z](?:_\{?\w{1,2}\}?)?\s?=\s?[\s$]{0,4})?[\s$(\[]{0,4}"
)
_LABELLED = re.compile(r",|;|\band\b|\bor\b|&|=")
_EITHER = re.compile(r"\beither\b[^.\n]{0,40}$", re.IGNORECASE)


def of_boxes(text: str, found: list[Box], policy: str) -> Extraction:
    stands = disclaimed.standing(text, found[-MAX_BOXES:])
    found = found[:-MAX_BOXES] + stands if stands else found
    last = found[-1]
    tail = text[last.end : last.end + MAX_TAIL]
    told = len(tail) > 1 and tail.strip(CLOSING) != ""
    back, again, after, rejected = looked_at(tail) if told else NOTHING
    hedged = not stands or back
    if hedged and after is not None and policy == "lenient" and replaced(tail, after):
        return Extraction((after.text,), "anchor")
    answer = last.content.strip()[:_KEPT]
    if may_belong(tail):
        answer = belongs(answer, tail)
    if last.start and text[last.start - 1] in ADJOINING:
        sign = before(text, last.start)
        hedged = hedged or sign is None
        answer = (sign or "") + answer
    if len(found) == 1:
        return Extraction((answer,), "box", "one", hedged, False, again, rejected)
    contents = [*(box.content.strip()[:_KEPT] for box in found[:-1]), answer]
    if all(content == answer for content in contents):
        return Extraction((answer,), "box", hedged=hedged, after=again, rejected=rejected)
    if len(found) > MAX_BOXES:
        return Extraction(tuple(contents[-MAX_BOXES:]), "box", "scatter", hedged)
    gaps = [text[a.end : b.start] for a, b in pairwise(found)]
    first = 0  # boxes before the last withdrawal do not count any more
    for index, gap in enumerate(gaps):
        if withdrawn(gap[-1000:]):
            first = index + 1
    if first < len(found) - 1 and several.last_is_final(text, found[first:]):
        first = len(found) - 1
    if first == len(found) - 1:
        return Extraction((answer,), "box", hedged=hedged, after=again, rejected=rejected)
    contents = _named(text, found, contents)
    joined = all(len(gap) < 80 and _is_join(gap) for gap in gaps[first:])
    either = _EITHER.search(text, max(0, found[first].start - 60), found[first].start) is not None
    if not joined or either:
        return Extraction(tuple(contents[first:]), "box", "scatter", hedged)
    return Extraction(tuple(contents[first:]), "box", "list", hedged, False, again, rejected)


_NAME = re.compile(r"(?<![A-Za-z\\])([A-Za-z])\s?=\s?\$?\s?$")


def _named(text: str, found: list[Box], contents: list[str]) -> list[str]:
    """The contents with the unknowns that stand before their boxes, where each has one of its own."""
    names = [_NAME.search(text, max(0, box.start - 12), box.start) for box in found]
    letters = [name.group(1) for name in names if name is not None]
    if len(set(letters)) < len(found) or any("=" in content for content in contents):
        return contents
    return [f"{letter} = {content}" for letter, content in zip(letters, contents, strict=True)]


def _is_join(gap: str) -> bool:
    """Whether boxes are members of one list: a comma, "and", or a label between them, as in "and the minimum is"."""
    if _JOIN.fullmatch(gap):
        return _LABELLED.search(gap) is not None
    return several.is_named(gap)
