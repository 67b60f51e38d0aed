r"""Stage one: where in a completion the answer is. Linear-time scanners only.

| place, first hit wins | strict | lenient |
|---|---|---|
| text after ``</think>``; thinking that never ends holds no answer | yes | yes |
| the boxes (``\boxed``, ``\fbox``), balanced and not empty | yes | yes |
| ``<answer>...</answer>`` | no | yes |
| a line ``#### ...`` (GSM8K) | no | yes |
| "the answer is ...", "Answer: ...", "... is the answer" | no | yes |
| the last line, where it is nothing but an answer | no | yes |
| the last formula or number of the text, never when there was a box | no | yes |

Several boxes are one answer when they say the same; the last one when the text between withdraws those before; one list when
they are joined by commas, "and" or "or" and labels. Otherwise they are a scatter, which no comparison can make right.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from lydite.verifiers.text import Box, after_thinking, boxes, is_refusal

Place = Literal["box", "tag", "marker", "anchor", "line", "last", "none"]
MAX_ANSWER = 4000
"""Characters of one answer that are kept; more is no answer."""
MAX_BOXES = 64


class Extraction(NamedTuple):
    """What was found.

    Attributes:
        answers: the answer; several where boxes are joined as a list or scattered; empty where there is none.
        place: where it was found.
        relation: how several answers belong together: ``one``, ``list`` (joined by "and", "or", commas) or ``scatter``.
        hedged: the words around the answer take it back or leave it open.
        refused: no answer, and the text says that it gives none.
    """

    answers: tuple[str, ...] = ()
    place: Place = "none"
    relation: Literal["one", "list", "scatter"] = "one"
    hedged: bool = False
    refused: bool = False


_JOIN = re.compile(
    r"[\s$,;.&()\[\]\\]{0,12}(?:and|or|und|oder|et|y)?[\s$,;\\(\[&]{0,12}(?:(?:\\(?:quad|qquad|text\{ ?(?:and|or) ?\})[\s$,]{0,8})?)"
    r"(?:[A-Za-z](?:_\{?\w{1,2}\}?)?\s?=\s?[\s$]{0,4})?[\s$(\[]{0,4}"
)
_LABELLED = re.compile(r",|;|\band\b|\bor\b|&|=")
_EITHER = re.compile(r"\beither\b[^.\n]{0,40}$", re.IGNORECASE)
_WITHDRAW = re.compile(
    r"\b(?:wait|scratch that|on second thought|on reflection|hold on|hmm|oops|correction|disregard|redo(?:ing)?|never ?mind"
    r"|i (?:have )?(?:made|make) (?:a|an) (?:\w{1,12} )?(?:mistake|error|slip)|(?:i|we) (?:forgot|was wrong|were wrong|misread|miscalculated)"
    r"|(?:that|this|it|which)(?:'s| is| was| seems| looks)(?: clearly| actually| in fact)? (?:wrong|incorrect|not right|not correct|false|a mistake|an error|too (?:big|small|large))"
    r"|ignore (?:that|this|the|my)|(?:actually|no)[,.]? (?:no\b|wait|that|it|the|this|i)"
    r"|(?:answer|it|that|this) should (?:instead |really |actually )?(?:be|have been)|let me (?:re|correct|fix|try again)|instead of)",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:or (?:maybe|perhaps|possibly|any|else|something)|(?:could|might|may) (?:also|instead) be|not (?:sure|certain|confident)"
    r"|just (?:a guess|guessing)|(?:is|was) a guess|i(?:'m| am) guessing|another (?:possible|valid) answer|or it (?:could|might|may))\b",
    re.IGNORECASE,
)
_TAIL_OR = re.compile(r"[\s$)\].,\\]{0,6}(?:or|unless|if not)\s", re.IGNORECASE)


def extract(text: str, policy: Literal["strict", "lenient"] = "lenient") -> Extraction:
    """Find the answer of a completion.

    Args:
        text: the completion.
        policy: ``strict`` takes boxes alone; ``lenient`` the places in the table above.
    """
    rest = after_thinking(text)
    if rest is None:
        return Extraction()
    found = [box for box in boxes(rest) if box.content.strip(" \t\r\n.$~,;:…")]
    if found:
        return _boxed(rest, found)
    if policy == "strict":
        return Extraction(refused=is_refusal(rest))
    return _tagged(rest) or _marked(rest) or _anchored(rest) or _last(rest)


def _boxed(text: str, found: list[Box]) -> Extraction:
    last = found[-1]
    tail = text[last.end : last.end + 2000]
    hedged = _taken_back(tail)
    contents = [box.content.strip()[:MAX_ANSWER] for box in found]
    if all(content == contents[-1] for content in contents):
        return Extraction((contents[-1],), "box", hedged=hedged)
    if len(found) > MAX_BOXES:
        return Extraction(tuple(contents[-MAX_BOXES:]), "box", "scatter", hedged)
    # Boxes before the last withdrawal do not count any more.
    first = 0
    gaps = [text[a.end : b.start] for a, b in zip(found, found[1:], strict=False)]
    for index, gap in enumerate(gaps):
        if _WITHDRAW.search(gap[-2000:]):
            first = index + 1
    if first == len(found) - 1:
        return Extraction((contents[-1],), "box", hedged=hedged)
    joined = all(len(gap) < 80 and _JOIN.fullmatch(gap) and _LABELLED.search(gap) for gap in gaps[first:])
    either = _EITHER.search(text, max(0, found[first].start - 60), found[first].start) is not None
    relation: Literal["list", "scatter"] = "list" if joined and not either else "scatter"
    return Extraction(tuple(contents[first:]), "box", relation, hedged)


def _taken_back(tail: str) -> bool:
    tail = tail.replace("’", "'")
    return bool(_WITHDRAW.search(tail) or _DOUBT.search(tail) or _TAIL_OR.match(tail))


def _tagged(text: str) -> Extraction | None:
    end = text.rfind("</answer>")
    start = text.rfind("<answer>", 0, end) if end >= 0 else -1
    content = text[start + 8 : end].strip() if start >= 0 else ""
    return (
        Extraction((_claim(content) or content[:MAX_ANSWER],), "tag", hedged=_taken_back(text[end:][:2000]))
        if content
        else None
    )


_MARKED = re.compile(r"[-+−$€£\\]{0,3}\s?[\d.][\d,./:^{}\\]{0,60}\s?\\?%?(?:\s?[A-Za-z/°^\d]{1,20}){0,3}[.!]?$")
_HEADING = re.compile(r"\d{1,3}[.):]\s")


def _marked(text: str) -> Extraction | None:
    answers: list[str] = []
    at = text.find("####")
    last_line = text.rstrip()
    while at >= 0 and len(answers) <= MAX_BOXES:
        end = text.find("\n", at)
        line = text[at + 4 : end if end >= 0 else len(text)].strip(" *#\t\r")
        is_last = at + 4 + len(line) >= len(last_line) - 8
        if line and ((is_last and len(line) < 200) or (_MARKED.match(line[:200]) and not _HEADING.match(line))):
            answers.append(line[:MAX_ANSWER])
        at = text.find("####", end) if end >= 0 else -1
    if not answers:
        return None
    same = all(answer == answers[-1] for answer in answers)
    return Extraction((answers[-1],) if same else tuple(answers), "marker", "one" if same else "scatter")


_ANCHOR = re.compile(
    r"\b(?:answer|result|solution)\b(?:\s(?:to|for|of) (?:the|this) (?:question|problem|exercise))?"
    r"(?:[\s*_]{0,4}[:=：][\s*_]{0,6}|\s(?:is|was|would be|must be|equals|becomes|=)\b[\s*_:]{0,6}|\*\*[:：]?\s{0,4}(?=\S))"
    r"(?:therefore |thus |simply |just |equal to |then |exactly )?",
    re.IGNORECASE,
)
_REVERSED = re.compile(
    r"\s(?:is|was|are)\s(?:the|our|my)\s(?:final\s|correct\s|required\s|desired\s)?answer\b", re.IGNORECASE
)
_MATH = re.compile(r"\$\$(.{1,2000}?)\$\$|\\\((.{1,2000}?)\\\)|\\\[(.{1,2000}?)\\\]|\$([^$\n]{1,1000})\$", re.DOTALL)
_PROSE = re.compile(r"[.,;]\s+[A-Za-z]|[A-Za-z]{3,} [A-Za-z]{2,}")


def _anchored(text: str) -> Extraction | None:
    window = text[-20000:]
    for match in reversed(list(_ANCHOR.finditer(window))):
        if match.group().strip().lower().startswith(("result", "solution")) and ":" not in match.group():
            continue
        claim = _claim(window[match.end() : match.end() + 2 * MAX_ANSWER])
        if claim:
            rest = window[match.end() :]
            return Extraction((claim,), "anchor", hedged=_taken_back(rest[rest.find(claim) + len(claim) :][:2000]))
    for match in reversed(list(_REVERSED.finditer(window))):
        before = window[max(0, match.start() - 400) : match.start()]
        found = _last_formula(before)
        if found:
            return Extraction((found,), "anchor", hedged=_taken_back(window[match.end() :][:2000]))
    return None


def _claim(text: str) -> str:
    """The answer at the start of a text: a formula, or the words up to the end of the sentence."""
    text = text.lstrip(" \t\r\n*_:>").removeprefix("#").lstrip(" #")
    math = _MATH.match(text)
    if math:
        inner = next(group for group in math.groups() if group is not None)
        if not (math.group(4) is not None and _PROSE.search(inner)):
            after = text[math.end() : math.end() + 200]
            unit = re.match(
                r"\s?(?:[A-Za-z°%]+(?:/[A-Za-z]+)?|square [a-z]+|cubic [a-z]+)(?=[.\s]*$|[.,]?\n|\. )", after
            )
            more = re.match(r"\s?(?:,|and|or)\s{0,3}(?=\$|\\\()", after)
            if more:
                return _sentence(text).replace("$", " ")
            return inner.strip() + (f" \\text{{{unit.group().strip()}}}" if unit else "")
    return _sentence(text)


_STOP = re.compile(
    r"\n|[.!?](?=\s|$|\*|\))|[。！？]|,\s+(?:which|because|since|as|not|so|where|when|but|altogether|in total|giving|and (?:the|this|that|we))\b|\s(?:because|since|where)\s|\*\*|<"
)


def _sentence(text: str) -> str:
    stop = _STOP.search(text[:MAX_ANSWER])
    return text[: stop.start() if stop else MAX_ANSWER].strip(" *_`\t\r")


_NUMBER = re.compile(
    r"(?<![\w.])[-−–]?\s?[$€£]?\s?(?:\d{1,3}(?:,\d{3})+(?![\d])|\d+)?(?:\.\d+)?(?:\s\d+/\d+|/\d+)?(?:[eE][-+]?\d+\b)?\s?%?"
)


def _last_formula(text: str) -> str:
    """The last formula or number, whichever ends later."""
    math = None
    for math in _MATH.finditer(text):
        pass
    number = None
    for found in _NUMBER.finditer(text, math.end() if math else 0):
        if any(char.isdigit() for char in found.group()):
            number = found
    if number is not None:
        said = number.group().strip()
        at = number.start()
        if said[0] in "-−–" and at > 0 and (text[at - 1].isalnum() or text[:at].rstrip()[-1:].isdigit()):
            said = said[1:].strip()  # a subtraction or a range, not a sign
        return said
    if math is not None:
        return next(group for group in math.groups() if group is not None).strip()
    return ""


def _last(text: str) -> Extraction:
    refused = is_refusal(text)
    lines = [line for line in text[-MAX_ANSWER:].splitlines() if line.strip()]
    if refused or not lines:
        return Extraction(refused=refused)
    line = lines[-1].strip(" *_`\t").rstrip(".")
    if len(line) <= 60 and not _PROSE.search(line):
        return Extraction((line,), "line")
    found = _last_formula(text[-MAX_ANSWER:])
    return Extraction((found,), "last", hedged=False) if found else Extraction((line[:200],), "line")
