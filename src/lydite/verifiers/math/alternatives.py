"""Another answer behind the answer: "Alternatively 73", "else 73", a line or a sentence that is nothing but a value, or
what another speaker says ("assistant: 73").

Where it says the same once more, nothing is lost. "Alternatively, 8 * 9 = 72" and "Alternatively, count the rows" offer
no value. Every look is of bounded length.
"""

from __future__ import annotations

import re

MAX_TAIL = 2000
MAX_LINE = 60
_VALUE = (
    r"(?P<value>\$[^$\n]{1,80}\$|\\\([^\n()]{1,80}\\\)|[-−]?\\?[$€£]?\d[\d,./]{0,20}(?:\s?\\?%)?"
    r"|[-−]?\\[dt]?frac\s?\{?\w{1,9}\}?\s?\{?\w{1,9}\}?|\(?[A-J]\)?(?![A-Za-z]))"
)
_UNIT = r"(?:\s[a-z]{1,14}){0,2}"
_OFFERS = re.compile(
    r"(?:\b(?:alternatively|alternative|otherwise|or else|else|failing that|second (?:choice|guess|answer))\b"
    r"(?: (?:answer|value|result|solution))?[\s,:;*(]{0,6}"
    r"(?:(?:it|this|that|the answer|the value|the result) )?(?:(?:is|be|could be|may be|might be|can be|would be) )?)"
    rf"\*{{0,2}}{_VALUE}{_UNIT}\*{{0,2}}[)\s]{{0,3}}(?:[.!;,](?=\s|$)|\n|$)",
    re.IGNORECASE,
)
_OFFERING = ("lternativ", "therwise", "else", "failing", "second", "LTERNATIV", "THERWISE", "ELSE")
_ALONE = re.compile(
    rf"[\s*]{{0,6}}{_VALUE}\*{{0,2}}(?: (?:works|would work|is|would|also|too)\b[^\n]{{0,40}})?[\s.!]{{0,3}}"
)
_SLASH = re.compile(rf"[\s$]{{0,3}}[/,;]\s?\$?{_VALUE}[\s.$]{{0,4}}(?:\n|$)")
_SPEAKER = re.compile(
    r"\n[ \t*_#<|\[]{0,4}(?:(?P<asks>user|human|student)|assistant|model|ai|bot|chatbot|gpt|system|teacher|tutor)"
    r"[*_>|\]]{0,4}[ \t]{0,2}(?:[:：][*_]{0,2}|(?=\n))\s{0,4}(?P<said>[^\n]{1,120})",
    re.IGNORECASE,
)
_SAYS = re.compile(rf"(?:[^\d$?]{{0,80}}[\s:*(]|[^?\n]{{1,100}}=\s?)?{_VALUE}{_UNIT}[\s.!*)$]{{0,4}}", re.IGNORECASE)
_GAP = " \t$.*)]\\"


def offered(tail: str) -> str | None:
    """The value that the text behind an answer offers beside it; ``None`` where it offers none."""
    if not any(map(str.isdigit, tail)) and "$" not in tail:
        return None
    if any(word in tail for word in _OFFERING):
        match = _OFFERS.search(tail, 0, MAX_TAIL)
        if match is not None:
            return _bare(match.group("value"))
    if "\n" in tail:
        for turn in reversed(list(_SPEAKER.finditer(tail, 0, MAX_TAIL))):
            said = (_ALONE if turn["asks"] else _SAYS).fullmatch(turn["said"].strip())
            if said is not None:
                return _bare(said.group("value"))
    match = _SLASH.match(tail, 0, MAX_LINE)
    if match is None:
        match = _next(tail)
    return None if match is None else _bare(match.group("value"))


def _next(tail: str) -> re.Match[str] | None:
    """The line, or sentence, right behind the answer, where it is nothing but a value."""
    rest = tail[:MAX_TAIL].lstrip(_GAP)
    ended = "." in tail[: len(tail) - len(rest)]
    if rest[:1] == "\n":
        lead = rest.lstrip("\n \t\r")
        # Opening signs were not taken away with the closing ones.
        line = lead.partition("\n")[0]
        return _ALONE.fullmatch(line) if len(line) <= MAX_LINE else None
    line = rest.partition("\n")[0]
    return _ALONE.fullmatch(line) if ended and len(line) <= MAX_LINE else None


def _bare(value: str) -> str:
    return value.strip(" *").strip("$").removeprefix("\\(").removesuffix("\\)").rstrip(".,/ ").strip()
