r"""Answers that a text shows without giving them: denied, struck out, or in a comment. Every look is of bounded length.

| form | examples |
|---|---|
| denied before | "it is not 4", "it would be wrong to say 4", "I don't think the answer is 4" |
| denied behind | "4 is not the answer", "4 is wrong" |
| struck out | ``\cancel{4}``, ``\xcancel``, ``\bcancel``, ``\sout``, ``\st`` around a box or all that is in it |
| comments | ``<!-- ... -->``; lines with a box whose first character is ``%`` |
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from lydite.verifiers.math.rejections import ASIDE, REJECTS
from lydite.verifiers.text import Box, box_commands, closing_brace, holds, places

# A denial and at most two words, right before a number: "it is not 2.5", "it can't be 2.5", "it is never equal to 2.5".
_DENIAL = re.compile(r"(?:\b(?:not|never|cannot)|n't|≠)[ $(]{1,3}(?:[A-Za-z]{1,12} ){0,2}[$(\\ ]{0,3}$", re.IGNORECASE)
_DENIALS = ("not", "never", "n't", "≠")
"""One of these is in whatever _DENIAL matches."""
# Before boxes and claims only words that carry the denial on: "we cannot simplify further: 4" denies nothing.
_BEFORE = re.compile(
    r"(?:(?<!or )\b(?:not|never|cannot)|n't)[ $(]{1,3}"
    r"(?:(?:be|equals?|equal to|necessarily|simply|actually|really|exactly|just|even|possibly|ever|definitely) ){0,2}"
    r"(?:(?:the|my|our) )?(?:(?:final|correct|right) )?(?:answer,? ?)?[:$(\\ \n]{0,4}$"
    r"|\b(?:anything|everything) (?:but|except) [:$(\\ \n]{0,4}$|\\neq? ?[$(]{0,2}$"
    r"|(?:\bnot (?:the case|true|correct|right) that|\b(?:untrue|false|incorrect|wrong|mistaken|unlikely"
    r"|impossible|doubtful) that"
    r"|(?<!no )\bdoubt(?: very much)? that|\b(?:do not|don't|cannot|can't|would not|wouldn't|never) (?:believe"
    r"|think|say|claim"
    r"|conclude|agree|accept|mean)(?: that)?"
    r"|\b(?:no way|by no means|nobody(?= )|(?:mistake|wrong|false|incorrect) to (?:think|say|believe|assume|claim"
    r"|state)"
    r"|refuse to (?:think|say|believe|accept))"
    r"|\b(?:might|may|could|would|students?|people) (?:be tempted to |often |usually |wrongly |incorrectly "
    r"|tend to )?(?:answer|think|say|believe|guess"
    r"|expect|claim|conclude|suspect|suppose)|\bnaive (?:answer|guess|count|value|result"
    r"|approach))\b(?:(?!\bbut\b)[^.,;:!?\n]){0,60}$"
    r"|\b(?:wrong|false|mistaken) (?:final )?answer (?:(?:is|was|would be|of) )?[:$(\\ \n]{0,4}$"
    r"|\b(?:rather than|other than|instead of|unlike)(?: the value)? [:$(\\ ]{0,4}$"
    r"|\b(?:(?:suppose|supposing|assume|assuming)(?: that)? (?:the|my|our)) (?:final "
    r"|correct )?(?:answer|value|result)"
    r" (?:is|be|was|were|equals|had been) [:$(\\ ]{0,4}$"
    r"|(?:\b(?:not|never|wrong|incorrect|false|mistake|mistaken|error)|n't) "
    r"(?:true )?(?:to )?(?:say|think|believe|claim|answer|conclude|write|give|state|box|that)[ :]{1,2}"
    r"(?:that )?(?:(?:the|my|our|it) )?(?:(?:final|correct|right) )?(?:answer )?(?:(?:is|would be|was) )?"
    r"[:$(\\ \n]{0,4}$",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"[\s$)\]\\,]{0,4}+(?:(?:is|was|are) (?:never|in no way)\b|" + REJECTS + "|" + ASIDE + ")", re.IGNORECASE
)
_AROUND = " \t\r\n\x0b\x0c\x1c\x1d\x1e\x1f$)]\\,"
_BETWEEN = " :$(\\\n*"
_BEGINNINGS = frozenset([
    "wo", "we", "is", "wa", "ar", "ca", "co", "mu", "sh", "ha", "ne", "do", "di", "fa", "vi", "un", "ov", "mi", "om",
    "fo", "ig",
])  # fmt: skip
"""Whatever _BEHIND matches begins with one of these."""
# One of these words is in whatever _BEFORE matches, or n't, or \\ne. Words in a set cost less than words one by one.
_DENYING = frozenset([
    "not", "never", "cannot", "wrong", "incorrect", "false", "mistake", "mistaken", "error", "anything", "everything",
    "untrue", "unlikely", "impossible", "doubtful", "doubt", "nobody", "refuse", "might", "may", "could",
    "would", "student", "students", "people", "naive", "than", "instead", "unlike", "suppose", "supposing", "assume",
    "assuming",
])  # fmt: skip
_STRIKE = re.compile(r"\\(?:[xb]?cancel|sout|st)\s{0,4}\{")
_STRIKE_OR_BRACE = re.compile(_STRIKE.pattern + r"|\\.|[{}]", re.DOTALL)
_COMMENT = re.compile(r"[ \t]*%[^\n]*\\(?:boxed|fbox)[^\n]*")
_BOX = re.compile(r"\\[a-z]{1,9}\s{0,8}\{[\s$]{0,8}")


def uncommented(text: str) -> str:
    """The text without HTML comments (one that never ends runs to the end) and without TeX comments that hold boxes."""
    text = without_html_comments(text)
    return without_tex_comments(text, box_commands(text))


def without_html_comments(text: str) -> str:
    """The text itself where it has none."""
    if "<" not in text or text.rfind("<!--") < 0:
        return text
    kept: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0:
        kept.append(text[at:start])
        end = text.find("-->", start + 4)
        at = end + 3 if end >= 0 else len(text)
    return " ".join([*kept, text[at:]])


def without_tex_comments(text: str, commands: list[int]) -> str:
    """The text itself where none of its box commands stands in a comment."""
    if not commands or "%" not in text:
        return text
    kept: list[str] = []
    at, end = 0, -1
    for command in commands:
        if command < end:
            continue  # this line was looked at
        start = text.rfind("\n", 0, command) + 1
        end = text.find("\n", command)
        end = end if end >= 0 else len(text)
        if _COMMENT.match(text, start, end):
            kept.append(text[at:start])
            at = end
    return "".join([*kept, text[at:]]) if kept else text


def denied(text: str, start: int, end: int | None = None) -> bool:
    """Whether the words right before ``start``, or right behind ``end``, deny what stands between."""
    before = text[max(0, start - 80) : start]
    before = before[before.rfind(". ") + 1 :]
    words = before.rstrip(_BETWEEN)  # no denial reaches over the end of a line, but for the end of the line above
    before = before[words.rfind("\n") + 1 :]
    if not before.isascii():
        before = before.replace("’", "'")
    if (may_deny(before) if len(before) > 30 else _short_may_deny(before)) and _BEFORE.search(before.replace("*", "")):
        return True
    if end is None or text[end : end + 12].lstrip(_AROUND)[:2].lower() not in _BEGINNINGS:
        return False
    return _BEHIND.match(text[end : end + 80].replace("’", "'")) is not None


def may_deny(words: str) -> bool:
    """Whether a word among some words denies: the cheap look before a dear one."""
    plain = words.lower()
    if "n't" in plain or "\\ne" in plain or "no way" in plain or "no means" in plain:
        return True
    return not _DENYING.isdisjoint(plain.replace("*", " ").replace("(", " ").replace("$", " ").split())


_short_may_deny = lru_cache(maxsize=512)(may_deny)
"""Many answers stand behind the same few words: "The answer is"."""


def last_denied(text: str, found: str) -> bool:
    """Whether the last number stands in a denial: "it is not 2.5", "it can't be 2.5"."""
    place = text.rfind(found)
    if place < 0:
        return False
    before = text[max(0, place - 60) : place].replace("’", "'")
    if holds(before, _DENIALS) and _DENIAL.search(before):
        return True
    return denied(text, place, place + len(found))


def standing(text: str, found: list[Box]) -> list[Box]:
    """The boxes that are neither denied nor struck out."""
    if len(found) == 1:
        found = [] if denied(text, found[0].start, found[0].end) else found
    else:
        found = [box for box in found if not denied(text, box.start, box.end)]
    if not found or (len(found) == 1 and text.find("}", found[0].end) < 0 and "\\" not in found[0].content):
        return found  # no brace around it is ever closed, and no command is in it
    spans = _struck(text, found[-1].end)
    return [box for box in found if not _within(text, box, spans)] if spans else found


def _within(text: str, box: Box, spans: list[tuple[int, int]]) -> bool:
    """Whether a box, or all that is in it, is struck out."""
    opened = _BOX.match(text, box.start)
    inside = opened.end() if opened else box.start
    around = bisect_right(spans, (box.start, len(text))) - 1
    if around >= 0 and spans[around][1] >= box.end:
        return True
    within = bisect_right(spans, (inside, len(text))) - 1
    return within >= 0 and spans[within][0] == inside and not text[spans[within][1] : box.end - 1].strip(" $.\n")


def _struck(text: str, end: int) -> list[tuple[int, int]]:
    """Where text is struck out, outermost, in order; of what starts behind ``end``, anything or nothing."""
    spans: list[tuple[int, int]] = []
    for start in sorted(start for word in ("cancel", "\\sout", "\\st") for start in _commands(text, word, end)):
        opened = _STRIKE.match(text, start) if not spans or start >= spans[-1][1] else None
        if opened is None:
            continue
        closed = closing_brace(text, opened.end())
        if closed < 0:
            return spans + _struck_after(text, start)
        spans.append((start, closed + 1))
    return spans


def _commands(text: str, word: str, end: int) -> Iterator[int]:
    """Where backslashes stand that may start a command which ends in ``word``."""
    for place in places(text, word, end):
        start = text.rfind("\\", max(0, place - 2), place + 1)
        if start >= 0:
            yield start


def _struck_after(text: str, at: int) -> list[tuple[int, int]]:
    """What is struck out behind a command that is never closed, in one pass."""
    spans: list[tuple[int, int]] = []
    opened: list[int] = []  # per open brace the start of its command, -1 where it has none
    for match in _STRIKE_OR_BRACE.finditer(text, at):
        piece = match.group()
        if piece == "{":
            opened.append(-1)
        elif piece == "}":
            start = opened.pop() if opened else -1
            if start >= 0:
                while spans and spans[-1][0] > start:
                    spans.pop()
                spans.append((start, match.end()))
        elif len(piece) > 2:
            opened.append(match.start())
    return spans
