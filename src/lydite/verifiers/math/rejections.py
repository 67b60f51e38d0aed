"""Values, and the answer itself, that the words behind an answer reject."""

from __future__ import annotations

import re

from lydite.verifiers.math.mentions import COUNTERFACTUAL, VALUE, bare, last_value, may_name, sentence_start
from lydite.verifiers.text import holds

_ADVERB = (
    r"(?: (?:also|thus|therefore|then|hence|clearly|actually|in fact"
    r"|really|obviously|now|simply|of course|indeed|definitely|certainly|likely|probably"
    r"|most likely|almost certainly|surely))?"
)
REJECTS = (
    rf"(?:(?:is|was|are|were|isn't|wasn't){_ADVERB} (?:not )?(?:a |an |the )?"
    r"(?:invalid|inadmissible|impossible|extraneous|wrong|incorrect|false|rejected|discarded|excluded|ruled out"
    r"|spurious"
    r"|a mistake|an error|absurd|nonsense|a contradiction|contradictory|off by|too (?:big|small|large|high|low"
    r"|many|few)"
    r"|double[- ]counted|over-?counted)\b"
    rf"|(?:(?:is|was|are|were){_ADVERB} not|isn't|wasn't|aren't|can't be|cannot be|can not be){_ADVERB} (?:an? "
    rf"|the |in fact )?"
    r"(?:(?:my |our )?(?:final |right |correct |true |valid |possible )?(?:answer|solution)|valid|correct|right"
    r"|possible|allowed|acceptable|admissible|permitted|true|permissible|feasible|the case)\b"
    r"|(?:is|was)(?: only| just| merely| but)? an? (?:guess|conjecture|overcount|undercount|overestimate|underestimate"
    r"|upper bound|lower bound|bound)\b"
    r"|(?:must|should|has to|have to|needs to|need to|can)(?: therefore| thus| then| clearly)? be (?:rejected|discarded"
    r"|excluded|ruled out|thrown out|dropped|eliminated|disregarded|ignored|withdrawn|corrected|revised|replaced)\b"
    r"|(?:can ?not|can't|could not|couldn't) (?:be|hold|work|happen|be true)(?=\s*(?:[.,;:!)\n]|$|because|since|as|so))"
    r"|(?:does not|doesn't|do not|don't|did not|didn't|fails to)(?: actually| even)? (?:satisfy|work|hold|check"
    r"|solve|fit"
    r"|make sense|add up|meet|obey|fulfil|fulfill)\b(?! (?:for|when|if|unless)\b)"
    r"|fails\b(?! (?:for|when|if|unless|at)\b)|(?:violates|contradicts|overcounts|undercounts|double[- ]?counts"
    r"|forgets|overlooks)\b"
    r"|(?:misses|omits|ignores) (?:the (?:case|fact|possibility)|that)\b"
    r"|counts [^.!?\n]{1,40} (?:twice|two times|double|three times|more than once|multiple times))"
)
ASIDE = (
    r"(?:would (?:only |also )?(?:be|have been)\b|is (?:what (?:most|many|some|one|people|you)|(?:a"
    r"|the) (?:common|naive|tempting)"
    r"|tempting)\b)"
)
"""Right behind a value: it is spoken of, not given."""
_PRONOUN = (
    r"(?:(?:this|that|it|the above|(?:the|my|our|this|that) (?:above |boxed |previous |final |given |stated |earlier )?"
    r"(?:answer|value|result|box|solution|total|count|root)(?: above)?))"
)
_BY_PRONOUN = re.compile(rf"(?:\b{_PRONOUN}|^[\s$).,\\\]]{{0,6}}which) {REJECTS}", re.IGNORECASE)
_AT_ONCE = re.compile(rf"[\s$).,\\\]*]{{0,8}}(?:(?:which )?{REJECTS}|{ASIDE})", re.IGNORECASE)
_BY_NAME = re.compile(rf"({VALUE}),? (?:(?:which|it|that|this) )?{REJECTS}", re.IGNORECASE)
_OBJECT = re.compile(
    r"\b(?:reject|discard|exclude|disregard|rule out|throw out|throw away|eliminate|retract|withdraw)(?:s|ed|ing)?"
    rf" (?:(?P<it>it|this|that|(?:the|my|our|this|that) (?:boxed |above |previous )?(?:answer|value|solution"
    rf"|result|box))\b"
    rf"|(?:the (?:value|solution|root|answer) )?(?P<value>{VALUE}))",
    re.IGNORECASE,
)
_REJECTING = (
    "invalid", "admiss", "possible", "extraneous", "wrong", "incorrect", "false", "reject", "discard", "exclude",
    "ruled", "rule ", "spurious", "mistake", "error", "absurd", "nonsense", "contradict", "off by", "too ", "count",
    "not", "n't", "drop", "eliminate", "regard", "ignore", "withdraw", "correct", "revise", "replace", "fail",
    "violate", "guess", "conjecture", "estimate", "bound", "would", "naive", "common", "tempting", "is what",
    "misses", "omits", "forgets", "overlook", "throw", "thrown", "retract",
)  # fmt: skip
"""One of these is in whatever rejects."""


def rejected(tail: str, at_once: bool) -> list[str | None]:
    """Values that are rejected; ``None`` for the answer, called "it".

    Args:
        tail: what follows the answer.
        at_once: it follows right behind: "is not valid" says it of the answer.
    """
    found: list[str | None] = []
    if not holds(tail, _REJECTING):
        return found
    if at_once and _AT_ONCE.match(tail):
        found.append(None)
    for match in _BY_PRONOUN.finditer(tail):
        sentence = tail[sentence_start(tail, match.start()) : match.start()]
        if not COUNTERFACTUAL.search(sentence):
            found.append(last_value(sentence))
    if may_name(tail):
        found.extend(
            bare(match.group(1))
            for match in _BY_NAME.finditer(tail)
            if not COUNTERFACTUAL.search(tail, sentence_start(tail, match.start()), match.start())
        )
    for match in _OBJECT.finditer(tail):
        value = match.group("value")
        found.append(
            bare(value) if value is not None else last_value(tail[sentence_start(tail, match.start()) : match.start()])
        )
    return found
