r"""Stage one: where in a completion the answer is. Linear-time scanners only.

| place, first hit wins | strict | lenient |
|---|---|---|
| text after the thinking (``text.THINKING``); thinking that never ends holds no answer | yes | yes |
| the boxes (``\boxed``, ``\fbox``), balanced and not empty | yes | yes |
| ``<answer>...</answer>`` | no | yes |
| a line ``#### ...`` (GSM8K) | no | yes |
| "the answer is ...", "Answer: ...", "... is the answer" | no | yes |
| the last line, where it is nothing but an answer | no | yes |
| the last formula or number, where its sentence states one (``sentences``), never when there was a box | no | yes |

Several boxes are one answer when they say the same; the last one when the text between withdraws those before, or when
it is plainly the final one (``several``); one list when they are joined by commas, "and" or "or" and labels. Otherwise
they are a scatter, which no comparison can make right; so are several "the answer is ..." that disagree. Of a longer
text, the last ``WINDOW`` characters are looked at; comments (``disclaimed``) are not. Boxes and claims that are struck
out or denied give way to those that are not; where there are no others, the answer is hedged. What the text behind an
answer makes of it: ``second_thoughts``.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal, NamedTuple

from lydite.verifiers.math import bounds, claims, disclaimed, second_thoughts, several
from lydite.verifiers.math.behind import ADJOINING, before, belongs, may_belong
from lydite.verifiers.math.direct import last_box, last_marker
from lydite.verifiers.math.sentences import is_no_statement, states_none
from lydite.verifiers.math.tail import (
    CLOSING,
    NOTHING,
    looked_at,
    replaced,
    says_nothing,
    short_look,
    taken_back,
    withdrawn,
)
from lydite.verifiers.text import Box, after_thinking, box_commands, boxes, is_refusal

Place = Literal["box", "tag", "marker", "anchor", "line", "last", "none"]
Relation = Literal["one", "list", "scatter"]
WINDOW = 65536
MAX_ANSWER = claims.MAX_ANSWER
MAX_BOXES = 64
"""Of more boxes, the last ones are asked whether they are denied or struck out, and those before must say the same."""


class Extraction(NamedTuple):
    """What was found.

    Attributes:
        answers: the answer; several where boxes are joined as a list or scattered; empty where there is none.
        place: where it was found.
        relation: how several answers belong together: ``one``, ``list`` (joined by "and", "or", commas) or ``scatter``.
        hedged: the words around the answer take it back or leave it open.
        refused: no answer, and the text says that it gives none.
        after: what the text claims to be the answer once more, behind the box.
        rejected: values that the text behind the answer rejects.
    """

    answers: tuple[str, ...] = ()
    place: Place = "none"
    relation: Relation = "one"
    hedged: bool = False
    refused: bool = False
    after: str | None = None
    rejected: tuple[str, ...] = ()


_JOIN = re.compile(
    r"[\s$,;.&()\[\]\\]{0,12}(?:and|or|und|oder|et|y)?[\s$,;\\(\[&]{0,12}"
    r"(?:\\(?:quad|qquad|text\{ ?(?:and|or) ?\})[\s$,]{0,8})?"
    r"(?:[A-Za-z](?:_\{?\w{1,2}\}?)?\s?=\s?[\s$]{0,4})?[\s$(\[]{0,4}"
)
_LABELLED = re.compile(r",|;|\band\b|\bor\b|&|=")
_EITHER = re.compile(r"\beither\b[^.\n]{0,40}$", re.IGNORECASE)
_MIGHT = re.compile(
    r"\b(?:(?:can't|cannot|can not|not) be (?:sure|certain)|(?:might|may|could) (?:well |also |possibly )?be"
    r"|maybe|perhaps|possibly|probably|i(?:'d| would)? guess)\b",
    re.IGNORECASE,
)
_WORKED = re.compile(r"<<[^<>\n]{1,80}>>")  # GSM8K's calculator notes
_NUMBERED = re.compile(
    r"(?:problem|question|exercise|step|part|case|task|example|figure|section|chapter|page|attempt"
    r"|note)s?\.?\s{0,3}#?\d{1,6}"
    r"\s{0,3}[:.)]?",
    re.IGNORECASE,
)
_EMPTY = " \t\r\n.$~,;:…"
"""A box of these holds nothing."""
_TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<|end_of_text|>", "<|end|>")
_TAGS = ("answer", "final_answer", "ANSWER", "Answer")
_CONTRADICTED = re.compile(
    r"(?:contradiction|impossible|\?\s{1,3}(?:no|nope|not (?:at all|quite"
    r"|really))(?:,[^\n\d]{0,40})?)[.!\s*]{0,4}$",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"^\s*>+\s+(?=[*_$\\(\[A-Za-z])")
_REASON = re.compile(r"(?<=[\d$)%}])[^\d\n.?!]{0,40}?(?:,? because|,? since|, as (?!an? ))\s?")
_NOT_THAT = re.compile(r"(?<=[\d$)%])\s?[,(]\s?(?:and |but )?not \$?[-−\d./]{1,20}\$?\)?$")  # 12 (not 13)
_ENDS = re.compile(
    r"(?:\\end\{[a-z*]{1,20}\}|\\begin\{[a-z*]{1,20}\}|\\\]|\$\$|```[a-z]{0,10}|---+"
    r"|</?[a-z]{1,12}>)\s{0,4}"
)


def extract(text: str, policy: Literal["strict", "lenient"] = "lenient") -> Extraction:
    """Find the answer of a completion.

    Args:
        text: the completion.
        policy: ``strict`` takes boxes alone; ``lenient`` the places in the table above.
    """
    seen = last_box(text)
    if seen is not None and seen[0].strip(_EMPTY) and says_nothing(seen[1]):
        return Extraction((seen[0],), "box")
    if policy == "lenient" and (marked := last_marker(text)) is not None:
        return Extraction((marked,), "marker")
    return _searched(text, policy)


def _searched(text: str, policy: str) -> Extraction:
    rest = after_thinking(text)
    if rest is None:
        return Extraction()
    if "|" in rest and "<|" in rest:  # what follows the end of the turn was not said by its writer
        rest = rest[: min((place for place in map(rest.find, _TURN_ENDS) if place >= 0), default=len(rest))]
    rest = disclaimed.without_html_comments(rest[-WINDOW:])
    commands = box_commands(rest)
    plain = disclaimed.without_tex_comments(rest, commands)
    if plain is not rest:
        rest, commands = plain, box_commands(plain)
    every = boxes(rest, commands) if commands else []
    found = [box for box in every if box.content.strip(_EMPTY)]
    if found:
        return _boxed(rest, found, policy)
    if policy == "strict":
        return Extraction(refused=is_refusal(rest))
    said = _tagged(rest) or _marked(rest) or _anchored(rest)
    if said is None and every:
        return Extraction(refused=is_refusal(rest))  # the box was left empty
    return said or _last(rest)


def _boxed(text: str, found: list[Box], policy: str) -> Extraction:
    stands = disclaimed.standing(text, found[-MAX_BOXES:])
    found = found[:-MAX_BOXES] + stands if stands else found
    last = found[-1]
    tail = text[last.end : last.end + 2000]
    told = len(tail) > 1 and tail.strip(CLOSING) != ""
    back, again, after, rejected = (short_look(tail) if len(tail) <= 40 else looked_at(tail)) if told else NOTHING
    hedged = not stands or back
    if hedged and after is not None and policy == "lenient" and replaced(tail, after):
        return Extraction((after.text,), "anchor")
    answer = last.content.strip()[:MAX_ANSWER]
    if may_belong(tail):
        answer = belongs(answer, tail)
    if last.start and text[last.start - 1] in ADJOINING:
        sign = before(text, last.start)
        hedged = hedged or sign is None
        answer = (sign or "") + answer
    if len(found) == 1:
        return Extraction((answer,), "box", "one", hedged, False, again, rejected)
    contents = [*(box.content.strip()[:MAX_ANSWER] for box in found[:-1]), answer]
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


def _tagged(text: str) -> Extraction | None:
    if "<" not in text:
        return None
    for tag in _TAGS:
        found: list[tuple[str, int, int]] = []  # content, start, end; from the last one on
        end = text.rfind(f"</{tag}>")
        while end >= 0 and len(found) < MAX_BOXES:
            start = text.rfind(f"<{tag}>", 0, end)
            if start < 0:
                break
            content = text[start + len(tag) + 2 : end].strip()
            if content:
                if found and withdrawn(text[end : found[-1][1]][-1000:]):
                    break
                found.append((content[: 2 * MAX_ANSWER], start, end + len(tag) + 3))
            end = text.rfind(f"</{tag}>", 0, start)
        if found:
            answers = tuple(dict.fromkeys(_of_tag(content) for content, _, _ in reversed(found)))
            relation: Relation = "one" if len(answers) == 1 else "scatter"
            return _with_tail(Extraction(answers, "tag", relation), text[found[0][2] :])
    return None


def _of_tag(content: str) -> str:
    inner = claims.anchored(content)
    return ((inner[-1].text if inner else claims.claim(content)) or content)[:MAX_ANSWER]


def _marked(text: str) -> Extraction | None:
    answers = claims.marked(text)
    if not answers:
        return None
    same = all(answer == answers[-1] for answer in answers)
    line = text.find("\n", text.rfind("####"))
    tail = text[line : line + 2000] if line >= 0 else ""
    told = (answers[-1],) if same else tuple(answers)
    return _with_tail(Extraction(told, "marker", "one" if same else "scatter"), tail)


def _anchored(text: str) -> Extraction | None:
    text = text[-20000:]
    found = claims.anchored(text)
    if not found:
        return None
    stands = [claim for claim in found if not _claim_denied(text, claim)]
    found = stands or found
    tail = found[-1].rest
    told = [found[-1]]
    for earlier, later in zip(found[-2::-1], found[:0:-1], strict=False):
        if withdrawn(earlier.rest[: len(earlier.rest) - len(later.rest)][-1000:]):
            break
        if len(earlier.text) <= 40 and any(char.isdigit() for char in earlier.text):
            told.append(earlier)
    answers = tuple(dict.fromkeys(claim.text for claim in reversed(told[:MAX_BOXES])))
    told_one = Extraction(answers, "anchor", "one" if len(answers) == 1 else "scatter", not stands)
    if not any(map(str.isdigit, answers[-1])):  # the sentence of "No, it does not" goes on
        end = _SENTENCE_END.search(tail)
        return _with_tail(told_one, tail, tail[end.end() :] if end is not None else "")
    return _with_tail(told_one, tail)


_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")


def _with_tail(found: Extraction, tail: str, rest: str | None = None) -> Extraction:
    """What was found, with what the text behind it makes of it."""
    tail = tail[:2000]
    if not tail.strip(CLOSING):
        return found
    back, rejected, stated = second_thoughts.behind(tail if rest is None else rest, at_once=False)
    return found._replace(hedged=found.hedged or back or taken_back(tail), after=stated, rejected=rejected)


def _claim_denied(text: str, claim: claims.Claim) -> bool:
    end = len(text) - len(claim.rest)
    if claim.text.lower().startswith("not "):
        return True
    # A claim of the form "... is the answer" stands before the words that the rest follows.
    return text.endswith(claim.text, 0, end) and disclaimed.denied(text, end - len(claim.text), end)


def _last(text: str) -> Extraction:
    if text[-24:].rstrip(" .$\n")[-1:] in _DONE_ENDS:
        text = text[:-40] + _DONE.sub("", text[-40:])
    if is_refusal(text):
        return Extraction(refused=True)
    lines = [line for line in text[-MAX_ANSWER:].splitlines() if line.strip()]
    lines = [line for line in lines if not _ENDS.fullmatch(line.strip()[:60])]
    if not lines:
        return Extraction()
    if _CONTRADICTED.search(lines[-1][-200:]):
        return Extraction((lines[-1].strip()[-200:],), "last", hedged=True)
    line = _NOT_THAT.sub("", _WORKED.sub("", _QUOTE.sub("", lines[-1])).strip(" *_`#\t").rstrip("."))
    if "&" in line and "\\begin" in text:
        line = line.replace("&", "").removesuffix("\\\\")
    reason = _REASON.search(line)
    if reason is not None:
        line = line[: reason.end()].rstrip().rpartition(" ")[0].rstrip(" ,")  # what follows says why
    if _NUMBERED.fullmatch(line[:80]):
        return Extraction()
    if len(line) <= 60 and not claims.is_prose(line):
        return Extraction((line,), "line", hedged=is_no_statement(line))
    found = claims.last_formula(line if len(line) < len(lines[-1]) - 6 else text[-2000:])
    if not found:
        return Extraction((line[:200],), "line")
    place = max(text.rfind(found), 0)
    open_ = _left_open(line) or disclaimed.last_denied(text, found) or states_none(text, place)
    open_ = open_ or bounds.is_bounded(text, place, place + len(found))
    return Extraction((found,), "last", hedged=open_)


_DONE = re.compile(r"\s{0,4}(?:\$\s?\\(?:blacksquare|square|qed|Box)\s?\$|[∎■□])[\s.]{0,4}$")
_DONE_ENDS = frozenset("edx∎■□")  # the last letters of what ends a proof


def _left_open(line: str) -> bool:
    return line.endswith("?") or _MIGHT.search(line[-400:].replace("’", "'")) is not None
