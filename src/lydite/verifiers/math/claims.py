"""Answers without a box: "the answer is ...", ``####`` lines, the last formula or number of a text."""

from __future__ import annotations

import re
from typing import NamedTuple

from lydite.verifiers.math import disclaimed
from lydite.verifiers.math.formulas import MATH, final, inner, is_prose, last_formula
from lydite.verifiers.math.sentences import stated
from lydite.verifiers.text import places

MAX_ANSWER = 4000
"""Characters of one answer that are kept; more is no answer."""
MAX_CLAIMS = 64
WINDOW = 20_000
"""Characters at the end of a text whose claims are heard."""

_MARKED = re.compile(r"[-+−$€£\\]{0,3}+\s?[\d.][\d,./:^{}\\]{0,60}+\s?\\?%?(?:\s?[A-Za-z/°^\d]{1,20}+){0,3}+[.!]?$")
_HEADING = re.compile(r"\d{1,3}[.):]\s")


def marked(text: str) -> list[str]:
    """What stands behind ``####``: short answers, not Markdown headings; the last line may be anything short."""
    answers: list[str] = []
    at = text.find("####") if text.rfind("####") >= 0 else -1
    size = len(text.rstrip())
    while at >= 0 and len(answers) <= MAX_CLAIMS:
        end = text.find("\n", at)
        line = text[at + 4 : end if end >= 0 else len(text)].strip(" *#\t\r")
        is_last = end < 0 or end >= size
        if line and ((is_last and len(line) < 200) or (_MARKED.match(line[:200]) and not _HEADING.match(line))):
            answers.append(line[:MAX_ANSWER])
        at = text.find("####", end) if end >= 0 else -1
    return answers


class Claim(NamedTuple):
    """An answer as claimed.

    Attributes:
        text: the answer.
        behind: where the text goes on.
        denied: the words around it deny it: "the answer is not 7".
    """

    text: str
    behind: int
    denied: bool = False


_ANCHOR = re.compile(
    r"\b(?P<word>answer|result|solution|option|choice)\b"
    r"(?:\s(?:to|for|of) (?:the|this) (?:question|problem|exercise))?"
    r"(?:[\s*_]{0,4}[:=：][\s*_]{0,6}|\s(?:is|was|would be|must be|equals|becomes)\b[\s*_:]{0,6}"
    r"|\*\*[:：]?\s{0,4}(?=\S)"
    r"|[ \t]{0,4}\n\s{0,4}(?=[-$\\\d(]))"
    r"(?:therefore |thus |simply |just |equal to |then |exactly |again |really |actually |in fact |that )?",
    re.IGNORECASE,
)
_ANSWERS, _RESULTS, _OPTIONS = ("answer",), ("result", "solution"), ("option", "choice")
MAX_ANCHOR = 50
"""Characters from such a word to the colon behind it: at most "solution of the exercise would be *****:"."""
_BEFORE_COLON = frozenset("tnmes*_: \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f?")
"""What stands before that colon: the ends of result, solution, question, problem, exercise, is, be, equals."""
_REVERSED = re.compile(
    r"\s(?:is|was|are)\s(?:the|our|my)\s(?:final\s|correct\s|required\s|desired\s)?answer\b", re.IGNORECASE
)
_CHOOSING = ("option", "choice", "answer", "pick", "choose", "select")
_CHOSEN = re.compile(
    r"\b(?:[Oo]ption|[Cc]hoice|[Aa]nswer) (?:\*\*)?\(?([A-J])\)?(?:\*\*)? (?:is|must be) "
    r"(?:the )?(?:correct|right|true)\b"
    r"|\b\(?([A-J])\)? is (?:the )?(?:correct|right) (?:answer|option|choice)\b"
    r"|\b(?:pick|choose|select) (?:(?:option|choice|answer) )?\(?([A-J])\)?(?![A-Za-z])"
)
_UNIT_AFTER = re.compile(r"\s?(?:[A-Za-z°%]+(?:/[A-Za-z]+)?|square [a-z]+|cubic [a-z]+)(?=[.\s]*$|[.,]?\n|\. )")
_NOT_BUT = re.compile(
    r"(?:(?:definitely|certainly|clearly|really|actually|simply) )?not \$?[-−]?\d[\d.,/]{0,20}(?<![,.])\$?"
    r"(?:,? but(?: rather| instead| actually)?|[,;:] ?(?:it is|it's|rather|instead|but)) (?=\$?\\?[-−]?[$\\\d])",
    re.IGNORECASE,
)  # not 11 but 12
_MORE_AFTER = re.compile(r"\s?(?:,|and|or)\s{0,3}(?=\$|\\\()")
_STOP = re.compile(
    r"\n|[.!?](?=\s|$|\*|\))|[。！？]|;\s+(?=[a-z]{3})"
    r"|,\s+(?:which|because|since|as|not|so|where|when|but|altogether|in total|giving|and (?:the|this|that|we|not))\b"
    r"|\s(?:because|since|where|rather than|instead of|(?:and|but),? not)\s|\*\*|<"
)


def anchored(text: str) -> list[Claim]:
    """Claims of the form "the answer is ..." in order; where there are none, of the form "... is the answer".

    "One option is 5" tells what is weighed on the way, when an answer is named later on: such claims count from the
    last answer that is not denied on, and all of them when there are any.
    """
    plain = lowered(text)
    found = _said(text, plain, _ANSWERS)
    named = next((claim.behind for claim in reversed(found) if not claim.denied), 0)
    options = _said(text, plain, _OPTIONS, named)
    if options:
        found += _said(text, plain, _OPTIONS, 0, named) + options
        found.sort(key=lambda claim: claim.behind)
        del found[:-MAX_CLAIMS]
    if found:
        return found
    chosen = final(_CHOSEN, text) if any(plain.rfind(word) >= 0 for word in _CHOOSING) else None
    if chosen is not None:
        return [_claim(text, next(group for group in chosen.groups() if group), chosen.end())]
    turned = _reversed(text, plain)
    if turned is not None:
        said = last_formula(text[max(0, turned.start() - 400) : turned.start()])
        if said:
            found = [_claim(text, said, turned.end())]
    return found


def has_claims(text: str, end: int) -> bool:
    """Whether what a text says before a place claims an answer, in words that count beside a later claim."""
    if len(text) > WINDOW:
        text, end = text[-WINDOW:], end - len(text) + WINDOW
    return bool(_anchors(text, lowered(text), _ANSWERS, 0, end))


def lowered(text: str) -> str:
    """In lower case, as far as ASCII goes; of the same length. Other characters become question marks."""
    if text.isascii():
        return text.lower()
    # İ is one that patterns take for an i; encoding and lowering bytes takes a third of the time of str.lower.
    return text.replace("İ", "I").encode("ascii", "replace").lower().decode("ascii")


def _said(text: str, plain: str, words: tuple[str, ...], start: int = 0, end: int | None = None) -> list[Claim]:
    """The claims with some words between two places."""
    found: list[Claim] = []
    for match in _anchors(text, plain, words, start, end):
        at = match.end()
        if text[at : at + 16].lower().find("not ") >= 0 and (turned := _NOT_BUT.match(text, at)) is not None:
            at = turned.end()
        said = claim(text[at : at + MAX_ANSWER])
        if said:
            found.append(_claim(text, said, at + len(said)))
    return found


def _claim(text: str, said: str, behind: int) -> Claim:
    # A claim of the form "... is the answer" stands before the words that the rest follows.
    denied = said[:4].lower() == "not " or (
        text.endswith(said, 0, behind) and disclaimed.denied(text, behind - len(said), behind)
    )
    return Claim(said, behind, denied)


def _anchors(text: str, plain: str, words: tuple[str, ...], start: int, end: int | None) -> list[re.Match[str]]:
    """The last matches of ``_ANCHOR`` between two places, in order, found by their words; no match holds two of them.

    "The result is" stands for many a step on the way: it takes a colon, or "final", to make an answer of it.
    """
    spots: list[int] = []
    for word in words:
        place = plain.rfind(word, start, end)
        while place >= 0:
            spots.append(place)
            place = plain.rfind(word, start, place)
    if words is _ANSWERS:
        spots += _results(plain, start, end)
    spots.sort(reverse=True)
    found: list[re.Match[str]] = []
    for place in spots:
        match = _ANCHOR.match(text, place)
        if match is None:
            continue
        if plain[place] in "rs" and ":" not in match.group() and not plain.endswith("final ", 0, place):
            continue
        found.append(match)
        if len(found) == MAX_CLAIMS:
            break
    return found[::-1]


def _results(plain: str, start: int, end: int | None) -> set[int]:
    """Where "result" and "solution" stand behind "final", or closely before a colon: rarer than these words."""
    spots: set[int] = set()
    colon, place = plain.rfind(":", start, end), plain.rfind("final ", start, end)
    if colon < 0 and place < 0:
        return spots
    while place >= 0:
        if plain.startswith(_RESULTS, place + 6):
            spots.add(place + 6)
        place = plain.rfind("final ", start, place)
    place, looks = colon, 0
    while place >= 0:
        if plain[place - 1] in _BEFORE_COLON:
            looks += 1
            for word in _RESULTS:
                spots.add(plain.rfind(word, max(start, place - MAX_ANCHOR), place))
        place = plain.rfind(":", start, place)
        if looks > MAX_CLAIMS and place >= 0:  # then words are not rarer
            for word in _RESULTS:
                spots.update(places(plain, word, place))
            break
    spots.discard(-1)
    return {place for place in spots if place >= start}


def _reversed(text: str, plain: str) -> re.Match[str] | None:
    """The last match of ``_REVERSED``: 19 characters at most before its last word."""
    place = plain.rfind("answer")
    while place >= 0:
        for match in _REVERSED.finditer(text, max(0, place - 19), place + 7):
            if match.end() == place + 6:
                return match
        place = plain.rfind("answer", 0, place)
    return None


def claim(text: str) -> str:
    """The answer at the start of a text: a formula, or the words up to the end of the sentence."""
    text = text[: 2 * MAX_ANSWER].lstrip(" \t\r\n*_:>").removeprefix("#").lstrip(" #")
    if "**" in text[:400]:
        text = _BOLD.sub(r"\1\2", text, count=1)
    math = MATH.match(text)
    if math:
        said = inner(math)
        if not (math.group(4) is not None and is_prose(said)):
            after = text[math.end() : math.end() + 200]
            if _MORE_AFTER.match(after):
                return _sentence(text).replace("$", " ")
            unit = _UNIT_AFTER.match(after)
            return said + (f" \\text{{{unit.group().strip()}}}" if unit else "")
    return _sentence(text)


_OF_WHAT = re.compile(
    r"(?<=[\d$}]) \((?!maybe|probably|possibly|perhaps|unsure|guess|approx|about|estimate|rounded|wrong)[a-z]{3,14}\)$"
)  # 8 (apples)
_BOLD = re.compile(r"(\b(?:is|are|equals|has|=) )\*\*([^*\n]{1,60})\*\*")


def _sentence(text: str) -> str:
    """The words up to the end of the sentence; of "the maximum value is $9/4$" the value."""
    said = _clause(text)
    if said[-1:] == ")":
        said = _OF_WHAT.sub("", said)
    return (stated(said) if is_prose(said) else None) or said


def _clause(text: str) -> str:
    stop = _STOP.search(text[:MAX_ANSWER])
    return text[: stop.start() if stop else MAX_ANSWER].strip(" *_`\t\r")
