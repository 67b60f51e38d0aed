"""Answers in no box: in tags, behind ``####``, behind "the answer is", on the last line, in the last number."""

from __future__ import annotations

import re

from lydite.verifiers.math import bounds, claims, disclaimed, second_thoughts, several
from lydite.verifiers.math.claims import MAX_ANSWER
from lydite.verifiers.math.extraction import MAX_BOXES, Extraction, Relation
from lydite.verifiers.math.formulas import is_prose, last_formula
from lydite.verifiers.math.sentences import is_no_statement, states_none
from lydite.verifiers.math.tail import CLOSING, taken_back, withdrawn
from lydite.verifiers.text import is_refusal

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


def tagged(text: str) -> Extraction | None:
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


def marked(text: str) -> Extraction | None:
    answers = claims.marked(text) if "#" in text else []
    if not answers:
        return None
    same = all(answer == answers[-1] for answer in answers)
    line = text.find("\n", text.rfind("####"))
    tail = text[line : line + 2000] if line >= 0 else ""
    told = (answers[-1],) if same else tuple(answers)
    return _with_tail(Extraction(told, "marker", "one" if same else "scatter"), tail)


def anchored(text: str) -> Extraction | None:
    """What a text claims to be the answer."""
    text = text[-claims.WINDOW :]
    found = claims.anchored(text)
    if not found:
        return None
    stands = [claim for claim in found if not claim.denied]
    found = stands or found
    tail = text[found[-1].behind :]
    if len(found) == 1:
        answers: tuple[str, ...] = (found[0].text,)
    else:
        told = [found[-1].text]
        for earlier, later in zip(found[-2::-1], found[:0:-1], strict=False):
            if withdrawn(text[max(earlier.behind, later.behind - 1000) : later.behind]):
                break
            if len(earlier.text) <= 40 and any(map(str.isdigit, earlier.text)):
                told.append(earlier.text)
        answers = tuple(dict.fromkeys(reversed(told[:MAX_BOXES])))
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


def last(text: str) -> Extraction:
    if text[-24:].rstrip(" .$\n")[-1:] in _DONE_ENDS:
        text = text[:-40] + _DONE.sub("", text[-40:])
    if is_refusal(text):
        return Extraction(refused=True)
    lines = reversed(text[-MAX_ANSWER:].splitlines())
    last_line = next((line for line in lines if line.strip() and not _ENDS.fullmatch(line.strip()[:60])), None)
    if last_line is None:
        return Extraction()
    if _CONTRADICTED.search(last_line[-200:]):
        return Extraction((last_line.strip()[-200:],), "last", hedged=True)
    line = _NOT_THAT.sub("", _WORKED.sub("", _QUOTE.sub("", last_line)).strip(" *_`#\t").rstrip("."))
    if "&" in line and "\\begin" in text:
        line = line.replace("&", "").removesuffix("\\\\")
    reason = _REASON.search(line)
    if reason is not None:
        line = line[: reason.end()].rstrip().rpartition(" ")[0].rstrip(" ,")  # what follows says why
    if _NUMBERED.fullmatch(line[:80]):
        return Extraction()
    if len(line) <= 60 and not is_prose(line):
        return Extraction((line,), "line", hedged=is_no_statement(line) or several.is_one_of(text))
    found = last_formula(line if len(line) < len(last_line) - 6 else text[-2000:])
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
