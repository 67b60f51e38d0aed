"""Whether a sentence gives a choice as its answer, or only speaks of it.

A letter in a sentence is an answer in these forms alone: by itself; behind answering words ("so I would go with B");
before its own text or a reason ("B) 5 m", "B, since ..."); before words that approve of it ("B is the best one"). All
else ("rule out B", "B fails") says something about a choice. The text of a choice may stand in any sentence that does
not reject or doubt it, for such a sentence may be the answer in full ("the capital is London").
"""

from __future__ import annotations

import re

MAX_BEFORE = 300

_CLAUSE = re.compile(
    r"[.!?;,:]\s|\n|→|[-=]>|\s[-–—]\s|—|\b(?:so|but|hence|thus|therefore|because|since|and|then|while|whereas)\b",
    re.IGNORECASE,
)
_ANSWERING = re.compile(
    r"(?:(?:(?:that|which) (?:is|are) (?:not|false|incorrect)(?: \w+)?(?= is\b)|(?:incorrect|false|untrue) statement"
    r"|(?:i|we|you|it|that)['’](?:d|ll|m|re|ve|s)|so|thus|hence|therefore|then|ok|okay|yes|and|the|my|our|your|final|finally|overall|correct|right|best|most"
    r"|likely|probable|accurate|appropriate|suitable|true|only|answers?|ans|options?|choices?|letters?|solution|response"
    r"|is|are|was|be|must|has|have|should|would|will|to|it|its|it's|it’s|that|that's|that’s|this|i|we|i'd|i’d|i'll"
    r"|i’ll|we'd|i'm|i’m|am|think|believe|say|guess|feel|choose|chose|choosing|you|let|let's|would|will|can|pick|picked|select|selected|go|going"
    r"|opt|with|for|conclude|get|find|stick|settle|on|as|sure|confident|certain|definitely|clearly|simply|obviously"
    r"|certainly|just|surely|indeed|here|a|an|one|of|these|from|in|conclusion|summary|at|arrive|mark|write|take|both"
    r"|leaves|leaving|means|us|me|remains|answering|answering|which|fits|matches|describes|completes|statement|statements)\b|[\s\"'“”‘’()\[\].,:;=>→#•*-])*+",
    re.IGNORECASE,
)
_REJECTS = re.compile(
    r"\b(?:wrong|incorrect|false|least|worst|impossible|unlikely|improbable|implausible|invalid|untrue|trap|distractor"
    r"|decoy|contradict\w*|(?:rul|eliminat|exclud|reject|discard|dismiss|avoid|deny|deni|refut|disprov|doubt|discount"
    r"|disregard|strik|cross)(?:e|es|ed|ing|s)?|deny|deny|fails?|failed|cannot|never|hardly|neither|nor|not|nope|nah"
    r"|whether|if|unless|suppos\w+|assum\w+|unsure|uncertain)\b|n['’]t\b|≠|!=|¬",
    re.IGNORECASE,
)
_BEFORE_REJECTS = re.compile(
    r"\b(?:wrong|incorrect|false|least|worst|impossible|unlikely|trap|distractor|decoy|doubt|deny|reject|avoid|cannot"
    r"|never|hardly|neither|nor|not|whether|if|unless|suppos\w+|assum\w+|unsure|uncertain)\b|n['’]t\b"
    r"|\b(?:second|other|another|alternative)(?:[ -]best)?\s*$",
    re.IGNORECASE,
)
_REASON = re.compile(r"[)\]\"'*]*\s*[,;:–—-]?\s*(?:because|since|as|due to|given|based on|for|by|from|per)\b", re.I)
_APPROVES = re.compile(
    r"[)\]\"'*]*\s(?:(?:is|are|was|must be|has to be|should be|would be|will be|seems|looks|appears|to be|definitely"
    r"|clearly|indeed|therefore|thus|hence|obviously|certainly|then|the|my|our|a|one|most|only|very|best|better"
    r"|correct|right|true|likely|probable|accurate|appropriate|suitable|valid|good|final|answers?|options?|choices?"
    r"|solutions?|statement|works?|fits?|match(?:es)?|holds?|satisfies|follows|wins|remains|stands)\b\s?)+"
)
_APPROVAL = re.compile(
    r"\b(?:best|better|correct|right|true|likely|probable|accurate|appropriate|suitable|valid|good|final|answers?"
    r"|solutions?|works?|fits?|match(?:es)?|holds?|satisfies|follows|wins|remains|stands)\b"
)
_LABEL = re.compile(r"[\"'*]*(?:[)\].:,;/&+|]|\s?[-–—=(→]|\s?=>|\s(?=[^a-z\s]))")
_PREDICATE = re.compile(
    r"\s(?:(?:is|are|was|has|looks|seems|appears|would|should|must|can|could|may|might|does|did)\b"
    r"|[a-z]+s\s(?:the|a|an|to|with|on|out|its?|itself|what|all|some|no)\b)"
)
_OWN_END = re.compile(r"[.!?](?:\s|$)|\n")


def asserts_letter(said: str, start: int, end: int) -> bool:
    """Whether the plain text, with a letter at ``start`` to ``end``, gives that letter as its answer."""
    before, behind = _clause(said[:start]), said[end:]
    if not _ANSWERING.fullmatch(before):
        return False
    sentence = _OWN_END.split(behind, maxsplit=1)[0]
    if behind[len(sentence) : len(sentence) + 1] == "?":
        return False
    if not sentence.strip(" .,;:!\"')]*"):
        return "=" not in behind[:2]
    if _REASON.match(sentence):
        return True
    approves = _APPROVES.match(sentence)
    if approves and not re.match(r"out\b", sentence[approves.end() :]) and _APPROVAL.search(approves.group()):
        return not _REJECTS.search(approves.group() + sentence[approves.end() :].partition(",")[0])
    if re.match(r"[)\]]?\s?[,;(-]?\s*(?:not|rather than|instead of|and not|but not|no)\s+(?:option\s)?\S", sentence):
        return not re.match(r"[)\]]?\s?[,;-]?\s*no\b", sentence)
    bracketed = said[start] in "([" and not _PREDICATE.match(sentence)
    if bracketed or _LABEL.match(sentence):
        return not _REJECTS.search(sentence) and not re.match(r"\W*no\b(?!\s\w)", sentence)
    return False


def asserts_text(said: str, start: int, end: int) -> bool:
    """The same for the text of a choice: any sentence that does not reject or doubt it."""
    before, behind = _clause(said[:start]), _OWN_END.split(said[end:], maxsplit=1)[0]
    rejected = _BEFORE_REJECTS.search(before) or re.search(
        r"\b(?:rul\w+ out|eliminat\w*|exclud\w*|discard\w*|dismiss\w*|strik\w+ out|cross\w* out)\b", before, re.I
    )
    if rejected:
        return False
    own = re.split(r",\s|;|\b(?:because|since|as|so|than|not)\b", behind, maxsplit=1)[0]
    return not _REJECTS.search(own) and not re.match(r"\W*no\b(?!\s\w)", behind)


def is_claim(before: str) -> bool:
    """Whether what leads to "the answer is", "I choose", "it is" leaves it a claim ("I doubt that ..." does not)."""
    clause = _NO_DOUBT.sub("", _clause(before))
    return not _BEFORE_REJECTS.search(clause) and not _SAID_BY_OTHERS.search(clause)


_NO_DOUBT = re.compile(r"\b(?:no|without(?: any| a)?|beyond(?: any)?) doubt\b", re.IGNORECASE)
_SAID_BY_OTHERS = re.compile(
    r"\b(?:might|(?<!a )few|nobody|no one|people|students|others|tempt\w*|mistake\w*)\b", re.IGNORECASE
)


def is_pick(before: str, phrase: str) -> bool:
    """The same for a verb of choosing: "I would" chooses, "I refuse to", "nobody would" do not."""
    if not is_claim(before):
        return False
    clause = _clause(before)
    who = list(_SUBJECT.finditer(clause))
    return bool(_OWN_SUBJECT.match(phrase)) or bool(_ANSWERING.fullmatch(clause[who[-1].start() :] if who else clause))


_SUBJECT = re.compile(r"\b(?:i|we|you|let us|let's)\b", re.IGNORECASE)
_OWN_SUBJECT = re.compile(r"(?:so it|it must|i'd|i) ?", re.IGNORECASE)


def _clause(before: str) -> str:
    before = before[-MAX_BEFORE:]
    ends = [match.end() for match in _CLAUSE.finditer(before)]
    return before[ends[-1] :] if ends else before
