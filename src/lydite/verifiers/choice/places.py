"""Where the answer of a completion stands. First hit wins:

the boxes; the ``<answer>`` tags; what stands behind ``####``; "the answer is ..."; "I choose ..."; a first line that is
nothing but a choice, where all that follows explains it; a last line, or whole completion, that is nothing but a
choice; "it is B", "thus B" in the last line.

All answers of the place that counts are taken, and have to agree.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from lydite.verifiers.choice.asserting import MAX_BEFORE, is_claim, is_pick
from lydite.verifiers.choice.mentions import mentions
from lydite.verifiers.choice.options import MAX_ANSWER, Options, only_letters, plain
from lydite.verifiers.choice.reading import alone, is_bare, labelled, named
from lydite.verifiers.choice.remarks import SENTENCE, explains
from lydite.verifiers.text import boxes

WINDOW = 65536
"""Characters at the end of a completion that are looked at."""
MAX_ANSWERS = 20
MAX_LOOKS = 100

_TAG = re.compile(r"<answer>([^<]{0,2000}(?:<(?!/?answer>)[^<]{0,2000}){0,20})</answer>")
_MARK = re.compile(r"^[ \t]*####[ \t]*(?!#)([^\n]{1,200})", re.MULTILINE)
_ANCHOR = re.compile(
    r"\b(?:answer|option|choice|ans)\b(?:\s(?:is|was|would be|must be|should be)\b|\s?[:：]"
    r"|\s?=)(?:\s(?:option|choice)\b)?[\s:*_]{0,8}",
    re.IGNORECASE,
)
_PICK = re.compile(
    r"\b(?:choose|pick|select|go(?:ing)? (?:with|for)|so it is|so it's|it must be|i'd say|i say)\s(?:option |choice )?"
    r"([(\[]?[A-Z][)\]]?)(?=[.,;!]|\s*$|\s*\n)",
    re.IGNORECASE,
)
_BARE = r"(?:[*_]{0,2}[(\[]?[A-Z][)\]]?[*_]{0,2})"
_SAID = re.compile(
    r"(?<!\w)(?:(?:(?i:it|that|this|answer) (?i:is|must be|has to be|should be|would be)|(?i:it's|that's)"
    r"|(?i:i|we) (?i:think|believe|guess|say|choose|pick)(?: (?i:that )?(?i:it is|it's))?)\s(?:(?i:option|choice) )?"
    r"|(?i:thus|so|hence|therefore),?\s(?=[(\[*_]{0,3}[A-Z][)\]*_]{0,3}[.!]?\s*$))"
    rf"({_BARE}(?:(?:,\s?(?:or |and )?|\s(?:or|and)\s|\s?/\s?){_BARE}(?!\w)){{0,8}})"
    r"(?=[.,;!:]|\s*$|\s(?:because|since)\b)"
)
"""A choice in the last line: "It is (B).", "I think B". A capital alone before more words is the article."""
_ASIDE = re.compile(
    r",? (?:because|since|as|rather than|instead of|and not|but not)\s|, (?:not|so|for)\s", re.IGNORECASE
)
_CORRECTED = re.compile(
    r"\b(?:wait|actually|hmm+|correction|(?:scratch|strike|make) that|on second thought|i was wrong|that's wrong"
    r"|let me re\w+|sorry|or rather|no|edit|edited|update|alternatively|alternative|instead|revised)\b(?=[\s,.!:;…-])",
    re.IGNORECASE,
)
_CONCLUDED = re.compile(
    r"(?i:thus|so|hence|therefore),?\s(?:(?i:it(?:'s| is)|(?i:the )?answer is)\s)?(?:(?i:option|choice)\s)?"
    r"[*_]{0,2}[(\[]?[A-Z][)\]]?[*_]{0,2}[.!]?\s*$"
)
_NEXT = re.compile(
    r"(?:(?:it|that|this|the answer)(?:'s| is| must be| should be) (?:actually )?|[,.!:;…\s-])?[\s,]*"
    r"(?:option |choice )?(?=.)"
)


class Answer(NamedTuple):
    """An answer as it stands: its plain text, and where the text goes on behind it."""

    said: str
    end: int


def answers(text: str, options: Options) -> list[Answer]:
    """The answers of the first place that has any, in order; at most the last ``MAX_ANSWERS``."""
    for look in (_boxed, _tagged, _marked):
        found = look(text)
        if found:
            return found[-MAX_ANSWERS:]
    claims = _claims(text, options)
    if claims:
        return claims
    tail = max(0, len(text) - 4 * MAX_ANSWER)
    picks = [match for match in _PICK.finditer(text, tail) if match.group(1).strip("()[]").isupper()]
    picks = [
        match for match in picks if is_pick(text[max(0, match.start() - MAX_BEFORE) : match.start()], match.group())
    ]
    if picks:
        return [_sentence(text, match.start(1)) for match in picks[-MAX_ANSWERS:]]
    return _in_first_line(text, options) or _in_last_line(text, tail, options)


def _claimed(text: str, match: re.Match[str]) -> bool:
    return is_claim(text[max(0, match.start() - MAX_BEFORE) : match.start()])


def _boxed(text: str) -> list[Answer]:
    found = [Answer(plain(box.content), box.end) for box in boxes(text)]
    return [answer for answer in found if answer.said]


def _tagged(text: str) -> list[Answer]:
    if "</answer>" not in text:
        return []
    return [Answer(plain(match.group(1)), match.end()) for match in _TAG.finditer(text)]


def _marked(text: str) -> list[Answer]:
    found = [Answer(plain(match.group(1)), match.end()) for match in _MARK.finditer(text)]
    return [answer for answer in found if len(answer.said) <= 60 or answer is found[-1]]


def _claims(text: str, options: Options) -> list[Answer]:
    """What stands behind "the answer is", where it names a choice."""
    spans = [match.span() for match in list(_ANCHOR.finditer(text))[-MAX_LOOKS:] if _claimed(text, match)][
        -MAX_ANSWERS:
    ]
    if not spans:
        return []
    ends = [start for start, _ in spans[1:]] + [len(text)]
    found = [_claim(text, after, stop) for (_, after), stop in zip(spans, ends, strict=True)]
    return [claim for claim in found if claim.said and named(claim.said, options) is not None]


def _claim(text: str, start: int, stop: int) -> Answer:
    """The first line, up to an aside or to a change of mind."""
    line = text[start : min(stop, start + MAX_ANSWER)]
    start += len(line) - len(line.lstrip())
    line = line.lstrip().partition("\n")[0]
    ends = [match.start() for match in (_ASIDE.search(line), _CORRECTED.search(line)) if match]
    line = line[: min(ends)] if ends else line
    return Answer(plain(line), start + len(line))


def _in_first_line(text: str, options: Options) -> list[Answer]:
    start = len(text) - len(text.lstrip())
    line, _, rest = text[start : start + WINDOW].partition("\n")
    if len(line) > MAX_ANSWER or not rest.strip():
        return []
    said = plain(line)
    read = alone(said, options) or (None if options.texts else labelled(said))
    return [Answer(said, start + len(line))] if read and explains(rest, read, options.texts) else []


def _in_last_line(text: str, tail: int, options: Options) -> list[Answer]:
    lines = [line for line in text[tail:].splitlines() if line.strip()]
    if not lines:
        return []
    last = plain(lines[-1])
    read = named(last, options)
    sentences = [part for part in SENTENCE.split(lines[-1][-MAX_ANSWER:]) if part.strip()]
    concluded = len(sentences) > 1 and _CONCLUDED.match(sentences[-1].strip()) is not None
    if (
        read is not None
        and not concluded
        and (len(lines) == 1 or is_bare(last, options) or named(last, Options({}, options.right)) is not None)
    ):
        found = [Answer(last, len(text))]
        for line in reversed(lines[-MAX_ANSWERS:-1]):  # a list of choices, one a line, is no answer
            if not is_bare(plain(line), options):
                break
            found.append(Answer(plain(line), len(text)))
        return found[::-1]
    end = lines[-1][-MAX_ANSWER:]
    offset = text.rindex(end)
    return [_sentence(text, offset + match.start(1)) for match in _SAID.finditer(end) if _claimed(end, match)][
        -MAX_ANSWERS:
    ]


def _sentence(text: str, start: int) -> Answer:
    """From a choice to the end of its sentence, or to an aside."""
    sentence = SENTENCE.split(text[start : start + MAX_ANSWER], maxsplit=1)[0]
    aside = _ASIDE.search(sentence)
    sentence = sentence[: aside.start()] if aside else sentence
    return Answer(plain(sentence), start + len(sentence))


def taken_back(text: str, answer: Answer, read: frozenset[str], options: Options) -> bool:
    """Whether the text behind an answer changes its mind ("wait, no, it is C"), or goes on with another one alone."""
    rest = text[answer.end : answer.end + 2 * MAX_ANSWER]
    following = next((said for part in SENTENCE.split(rest, maxsplit=3)[:3] if (said := plain(part))), "")
    if is_bare(following, options) and named(following, options) != read:
        return True
    if _withdrawn(rest, read, options):
        return True
    for match in list(_CORRECTED.finditer(rest))[:MAX_ANSWERS]:
        at = match.end()
        again = _CORRECTED.match(rest, at + len(rest[at:]) - len(rest[at:].lstrip(" ,.!:;…-")))
        if again:
            continue
        lead = _NEXT.match(rest, at)
        line = rest[lead.end() if lead else at :].partition("\n")[0]
        other = named(plain(SENTENCE.split(line, maxsplit=1)[0][:200]), options)
        if other is not None and other != read:
            return True
    return False


def _withdrawn(rest: str, read: frozenset[str], options: Options) -> bool:
    """Whether the same sentence denies the choice ("A, C but not A"), or a labelled line gives another letter."""
    same = SENTENCE.split(rest, maxsplit=1)[0]
    if _NO.match(rest.partition("\n")[0]):
        return True
    if _DENIES.match(same) and any(one.letter in read for one in mentions(same, options.texts)):
        return True
    for line in rest.splitlines()[:MAX_ANSWERS]:
        label, colon, other = line.rpartition(":")
        letters = only_letters(plain(other)) if colon and len(label.split()) <= 4 else frozenset()
        if letters and letters != read and not _OTHERS.search(label):
            return True
    return False


_DENIES = re.compile(r"\W*(?:(?:and|but|yet|though)\s)?(?:not|never|rather than|instead of|without)\s", re.IGNORECASE)
_NO = re.compile(r"[\s,;.–—-]*(?:no|nope|nah)[\s.!]*$", re.IGNORECASE)
_OTHERS = re.compile(
    r"\b(?:wrong|incorrect|false|eliminat\w+|reject\w+|not|others|rest|exclud\w+|out|distractors?)\b", re.I
)
