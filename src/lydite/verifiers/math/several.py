r"""Several boxes that disagree: whether the last one is plainly the answer, and what they are called.

The last one is, where its sentence says "the final answer", and no box before it was said to be the answer. Boxes
before it may be steps on the way, or first guesses ("I first wrote ..."). Of boxes in a row without words, of options
("either", "otherwise"), and of several final answers none is: that is a scatter.
"""

from __future__ import annotations

import re

from lydite.verifiers.text import Box

_FINAL = re.compile(
    r"\b(?:final(?:ly)?|correct(?:ed|ly)?|right|true|actual|overall|revised|proper|ultimate)"
    r"(?: (?:answer|result|value|solution|total|count|number|sum))?\b|\b(?:so|thus|hence"
    r"|therefore)\b[^.!?\n]{0,30}\banswer\b"
    r"|\banswer\s?\*{0,2}\s?(?:[:=]|is\b|should be\b|must be\b)",
    re.IGNORECASE,
)
_CLAIMS = re.compile(r"\b(?:answers?|final|finally|claims?|claimed|correct|solutions?)\b", re.IGNORECASE)
_AT_FIRST = re.compile(
    r"\b(?:initial(?:ly)?|at first|first (?:guess|attempt|try|thought|answer|pass|draft|wrote|got|found|said"
    r"|computed|thought)"
    r"|previous(?:ly)?|earlier|originally?|original|naive(?:ly)?|tentative(?:ly)?|preliminary|rough(?:ly)?|guess(?:ed)?"
    r"|i (?:wrongly|mistakenly|incorrectly)|draft|intermediate|tempting)\b",
    re.IGNORECASE,
)
_SUMS_UP = re.compile(
    r"\b(?:adding|add|plus|together|altogether|combin\w{1,4}|summing)\b[^.!?\n]{0,60}\btotal\b", re.IGNORECASE
)
_PART = re.compile(r"\b(?:part|step|case|half|stage|subproblem)s?\b|\([a-h]\)", re.IGNORECASE)
_TURNS = re.compile(
    r"\b(?:but|however|actually|instead|now|corrected|correct|revised|final(?:ly)?|after|turned out|turns out"
    r"|really)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:or|otherwise|alternatively|either|if|unless|else|maybe|perhaps|possibly|probably|might|could|may|not|never"
    r"|another|also|guess|option|depending|method \w+)\b|n't\b|\?",
    re.IGNORECASE,
)
_EITHER = re.compile(
    r"\b(?:either|options?|possib\w{1,6}|candidates?|choices?|one of|not sure|unsure)\b", re.IGNORECASE
)
_ENDS = re.compile(r"[.!?](?=\s|\*)(?!\s*\d)")
_WORDS = re.compile(r"[A-Za-z]{2}")
_WHOLE_WORDS = re.compile(r"[A-Za-z]{2,}")
_LINKS = frozenset([
    "so", "we", "get", "have", "obtain", "find", "thus", "hence", "therefore", "then", "it", "is", "this", "that",
    "gives", "which", "and", "now", "equals", "yields", "box", "boxed", "be", "are", "conclude", "as", "an", "the",
])  # fmt: skip
_TEX = re.compile(r"\\[A-Za-z]{1,12}")
_NAMED = re.compile(
    r"(?:\$?\s?(?:m|cm|mm|km|ft|in|kg|g|s|units?|met(?:er|re)s?|dollars|degrees))?[\s$,;.&)*\]\\]{0,12}(?:(?:and"
    r"|&)[ \n])?\s{0,4}[*_-]{0,3}\s?(?:the |its |a |with (?:a )?)?"
    r"(?P<name>[A-Za-z]{1,14}(?: [a-z]{1,14}){0,4})\*{0,2}(?:\s?[:=]|\s(?:is|are|equals|of))\*{0,2}[\s$(\\\[]{0,6}"
)
_NO_NAME = re.compile(
    r"\b(?:answers?|final(?:ly)?|or|so|thus|hence|therefore|result|option|method|alternatively|otherwise|correct|then"
    r"|which|that|this|it|but|not|value|box)\b",
    re.IGNORECASE,
)


def last_is_final(text: str, found: list[Box]) -> bool:
    """Whether of boxes that disagree the last one is plainly the answer."""
    ahead = [_ahead(text, found, index) for index in range(len(found))]
    said = ahead[-1]
    if _OPEN.search(said) or _EITHER.search(text, max(0, found[0].start - 200), found[-1].start):
        return False
    first = [_AT_FIRST.search(words) is not None for words in ahead[:-1]]
    if all(first) and (_TURNS.search(said) or _FINAL.search(said)):
        return True
    if not _FINAL.search(said):
        return bool(_SUMS_UP.search(said)) and all(
            _PART.search(words) and not _CLAIMS.search(words) for words in ahead[:-1]
        )
    last = found[-1].content.strip()
    return all(
        box.content.strip() == last or guess or _PART.search(words) or (_is_step(words) and not _CLAIMS.search(words))
        for box, words, guess in zip(found, ahead, first, strict=False)
    )


def _is_step(words: str) -> bool:
    """Whether words say what the box behind them is: "each row has"."""
    return any(word.lower() not in _LINKS for word in _WHOLE_WORDS.findall(_TEX.sub("", words)))


def _ahead(text: str, found: list[Box], index: int) -> str:
    """The words of its sentence, or its heading, before a box."""
    start = max(found[index - 1].end if index else 0, found[index].start - 160)
    words = text[start : found[index].start]
    at = 0
    for match in _ENDS.finditer(words):
        at = match.end() if _WORDS.search(_TEX.sub("", words[match.end() :])) else at
    return words[at:]


def is_named(gap: str) -> bool:
    """Whether the text between two boxes names the second of them: ", remainder: "."""
    match = _NAMED.fullmatch(gap)
    return match is not None and not _NO_NAME.search(match.group("name"))


_BARE = re.compile(
    r"(?:[-*•+] |\(?\d\)|[a-d]\))?\s?(?:or )?[*$\\(]{0,4}(?P<value>[-−]?[$€£]?\d[\d,./]{0,20}(?<![.,/])%?)[*$\\)]{0,4}"
    r"(?: [a-z]{1,14})?[.,;?]?(?: or)?",
    re.IGNORECASE,
)
_OFFERED = re.compile(
    r"\b(?:options?|candidates?|choices?|possib\w{1,9}|guess\w{0,5}|maybe|perhaps|either|one of|(?:could|might|may) be"
    r"|not (?:sure|certain)|unsure|uncertain)\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(r"\b(?:not (?:sure|certain)|unsure|uncertain)\b", re.IGNORECASE)


def is_one_of(text: str) -> bool:
    """Whether the last line is one of several values in lines of their own, and nothing says that it is the answer:
    the whole text is such lines, or what stands before them offers a choice ("Options: 54", "Maybe:")."""
    values: set[str] = set()
    lines = [line.strip() for line in text[-600:].splitlines() if line.strip()]
    while lines and (bare := _BARE.fullmatch(lines[-1])) is not None:
        values.add(bare["value"].strip("$"))
        lines.pop()
    if not values:
        return False
    if not lines:
        return len(values) > 1 and len(text) <= 600
    head = lines[-1][-120:]
    if any(map(str.isdigit, head)) or len(values) > 1:
        return _OFFERED.search(head) is not None
    return _UNSURE.search(head) is not None
