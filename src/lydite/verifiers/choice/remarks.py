"""What is said about other choices once the answer stands: an explanation, or a change of mind.

An explanation may deny others ("A and C are wrong", "Option A gives 4, which is too small") and may use their texts
("London is larger than Paris"). A sentence that hedges, takes something back, or speaks of another choice without
denying it is no explanation. In doubt it is none.
"""

from __future__ import annotations

import re
from itertools import pairwise

from lydite.verifiers.choice.mentions import Mention, mentions
from lydite.verifiers.choice.options import plain

MAX_SENTENCE = 1000
MAX_SENTENCES = 200

SENTENCE = re.compile(r"[.!?](?:\s|$)|\n")
_DENIED_BEFORE = re.compile(
    r"(?:\b(?:not|never|neither|nor|except|without|isn't|wasn't|cannot be|can't be|rather than|instead of|exclud\w+"
    r"|(?:any|anything|everything|all|nothing) but)|n't)\s(?:(?:be|think|believe|say|it|is|it's|that)\s){0,4}"
    r"(?:(?:the|option|choice|answer|either)\s){0,3}[(\[\"']?$",
    re.IGNORECASE,
)
_FAULT = r"(?:wrong|incorrect|false|out|eliminated|ruled out|excluded)\b"
_DENIED_AFTER = re.compile(
    r"[)\]\"']?(?:\s\([^()]{1,60}\))?\s(?:(?:is|was|are|were|can be|has been|have been|must be)\s?"
    r"(?:(?:both|all|each|clearly|also|therefore|thus|obviously|simply|definitely)\s)?"
    rf"(?:(?:not|n't)\b(?!\s(?:necessarily\s)?(?:{_FAULT}|only\b|just\b|merely\b))|{_FAULT})"
    rf"|(?:isn't|aren't|cannot|can't)\b(?!\s(?:be\s)?(?:{_FAULT})))",
    re.IGNORECASE,
)
_TOGETHER = re.compile(
    r"[\s,()\[\]\"'&/]*(?:(?:and|or|nor)\b[\s()\[\]\"']*)?(?:(?:the\s)?(?:option|choice|answer)s?\b[\s()\[\]\"']*)?",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"\b(?:wait|actually|hmm+|sorry|correction|mistake\w*|maybe|perhaps|possibly|alternatively|never ?mind|scratch"
    r"|second thought|unsure|uncertain|not (?:so |really |entirely |totally )?(?:sure|certain)|doubt|unless|either|also"
    r"|could|might|may|kidding|oops|let me re\w+|reconsider\w*|i was|guess\w*|instead|however|equally|as well"
    r"|(?:this|that|it|answer|above)(?:'s|\sis|\swas|\smay be|\swould be)?\s(?:\w+\s)?"
    r"(?:wrong|incorrect|false|not|n't)|(?:isn't|wasn't|is not|was not) (?:right|correct|true|the answer))\b|\?",
    re.IGNORECASE,
)
_TWICE_DENIED = re.compile(rf"(?:\b(?:not|never|cannot)|n't)\s(?:\w+\s){{0,2}}{_FAULT}", re.IGNORECASE)
_FOR = re.compile(
    r"\b(?:answers?|correct|right|true|choose|pick|select|best|better|works?|valid|acceptable|possible|plausible|final"
    r"|fits?|holds?|so|thus|hence|therefore|too(?!\s\w)|same|but|yet)\b",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:too\s\w+|wrong|incorrect|false|fails?|never|cannot|impossible|eliminated|ruled out|contradict\w*"
    r"|(?:is|are|was|were|does|do|did|has|have) not)\b|n't\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(r"\bthan\s(?:the\s)?[\"'(]?$", re.IGNORECASE)


def undenied(said: str, found: list[Mention]) -> list[Mention]:
    """The mentions that the text does not deny, one by one or, in the plural, several together."""
    denied = [
        bool(_DENIED_BEFORE.search(said[max(0, one.start - 60) : one.start]) or _DENIED_AFTER.match(said, one.end))
        for one in found
    ]
    after = [_DENIED_AFTER.match(said, one.end + (said[one.end : one.end + 1] in (")", "]"))) for one in found]
    for at in range(len(found) - 2, -1, -1):  # "A and C are wrong", "Option A (4) is wrong"
        if after[at + 1] and _TOGETHER.fullmatch(said, found[at].end, found[at + 1].start):
            denied[at] = denied[at + 1] = True
            after[at] = after[at + 1]
    return [one for one, no in zip(found, denied, strict=True) if not no]


def explains(text: str, own: frozenset[str], texts: dict[str, str]) -> bool:
    """Whether a text that follows the choices ``own`` leaves them as they are. Linear in the text."""
    start = count = 0
    ends = [*((match.start(), match.end()) for match in SENTENCE.finditer(text)), (len(text), len(text))]
    for end, after in ends:
        sentence, start = text[start : end + (text[end : end + 1] == "?")], after
        if len(sentence) > MAX_SENTENCE:
            return False
        if said := plain(sentence) + "?" * sentence.endswith("?"):
            count += 1
            if count > MAX_SENTENCES or not _leaves(said, own, texts):
                return False
    return True


def _leaves(said: str, own: frozenset[str], texts: dict[str, str]) -> bool:
    if _TURN.search(said) or _TWICE_DENIED.search(said):
        return False
    found = [one for one in mentions(said, texts) if not texts or one.letter in texts]
    left = undenied(said, found)
    kept = set(left)
    if any(one.letter in own for one in found if one not in kept):
        return False  # "B is wrong"
    others = [one for one in left if one.letter not in own]
    if not others:
        return True
    if _FOR.search(said):
        return False
    if all(_AGAINST.search(said, one.end) for one in others):
        return True
    if not all(one.spelled for one in others):
        return False
    last = left[-1]
    if any(re.search(r"\bor\b", said[a.end : b.start]) for a, b in pairwise(left)):
        return False
    if last.letter not in own and not said[last.end :].strip(" .,;:!\"')"):  # "2 + 4 is 6" comes to another choice
        return bool(_COMPARED.search(said[: last.start]))
    return True
