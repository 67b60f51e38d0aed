"""Values that the words behind an answer state in its place: "Edit: 16", "but this must be halved, which gives 15"."""

from __future__ import annotations

import re

from lydite.verifiers.math.mentions import COUNTERFACTUAL, ENDS, VALUE, bare, may_name, sentence_start
from lydite.verifiers.text import holds

NO_SOLUTION = "no solution"
_STATES = re.compile(
    r"(?:\b(?:the|my|our|its) (?:true|correct|correctly|actual|real|right|proper|corrected|revised|accurate"
    r"|new) (?:[a-z]{1,14} ){0,4}?"
    r"(?:is|was|are|equals|should be|should have been|must be|would be|becomes|to)"
    r"|\b(?:it|this|that|answer|value|count|result|total|number|sum)(?:'s| is| was)? (?:should"
    r"|ought to) (?:instead |really |actually |rather )?"
    r"(?:be|have been|read|equal)"
    r"|(?:^|[.:;!?(\n]\s{0,4}|\bedit:? |\bupdate:? )(?:i )?(?:should|it'?s|it is|that's|that is|meant"
    r"|mean)(?: instead| really| actually)?"
    r"(?: be| have been| read| say)?"
    r"|\b(?:edit|edited|update|updated|corrected|revised|fixed|amended|amendment|errata|addendum"
    r"|p\.?s)\b\.?(?: to| answer| value| result| version)?\s?[:—–-]?"
    r"|\b(?:sorry|oops|whoops|nope|i meant|i mean|make (?:that|it)|or rather|instead|on second thoughts?|better"
    r"|rather|apologies|read)\b"
    r"[,:;.!—–-]{0,2}"
    r"|(?:^|[.!?;:\n]\s{0,4})no[,.:!]"
    r"|\b(?:on|upon|after|with) (?:a |an )?(?:closer|second|further|re-?\w{2,12}|careful|more careful|another"
    r"|double|checking|correcting|thinking)\b"
    r"[^.!?\n\d$]{0,60}?\b(?:is|was|are|be|get|got|find|found|obtain|=)"
    r"|\b(?:so|thus|hence|therefore|in total|altogether|overall)\b,?[^.!?\n\d$]{0,40}?\b(?:there (?:are|is)"
    r"|(?:the|our) (?:count|total|answer|number"
    r"|result|sum|final)\b[^.!?\n\d$]{0,40}?\b(?:is|are|equals|=))"
    r"|\b(?:for|to|in|gives|makes) a (?:new |grand )?total of|\b(?:brings?|raises?|lowers?|reduces?) (?:it|this"
    r"|us|the (?:total|count|answer|number)) (?:up |down )?to"
    r"|\b(?:is|was|are) (?:really|actually|in fact|in truth|in reality)|\bturn(?:s|ed) out to be|\bthe truth is"
    r"|\bactually,?(?: (?:it(?:'s| is| was| should be)|that's|that is))?"
    r"|\b(?:making|giving|leaving|bringing|turning) (?:it(?: into| to)?|us|a total of|the (?:true |correct "
    r"|actual )?(?:total|count|answer|result)(?: of| to)?)"
    r"|\b(?:but|however|although|though|yet|unfortunately)\b[^.!?\n]{0,120}\b(?:so|thus|hence|therefore"
    r"|meaning)\b[A-Za-z' ,]{0,60}?"
    r"\s(?:is|are|=|equals|get|have|be|becomes|need|needs))"
    r"(?: (?:exactly|only|in fact|really|equal to|instead|now|simply|just))?:?\s?\*{0,2}"
    rf"(?P<value>{VALUE}|(?-i:[A-HJ])(?=[\s.,!]|$)|(?-i:I)(?=[.,!]|$))",
    re.IGNORECASE,
)
_STATING = (
    "true", "closer", "second", "further", "re", "careful", "another", "double", "check", "think", "so ", "so,",
    "thus", "hence", "therefore", "total", "altogether", "overall", "bring", "raise", "lower", "reduce", "fact",
    "truth", "turn", "correct", "actual", "real", "right", "proper", "revised", "accurate", "new", "should", "ought",
    "it's", "its", "it is", "that's", "that is", "mean", "edit", "update", "fixed", "amend", "errata", "addendum", "ps",
    "p.s", "sorry", "oops", "nope", "make ", "rather", "instead", "second thought", "better", "apolog", "making",
    "giving", "leaving", "bringing", "turning", "but", "however", "although", "though", "yet", "unfortunately",
    "read", "no,", "no.", "no:", "no!",
)  # fmt: skip
_CHANGES = re.compile(
    r"\b(?:but|however|then again|must|needs? to|ha(?:s|ve) to|divide|dividing|halve|halving|subtract\w{0,3}"
    r"|leaving|leaves)\b",
    re.IGNORECASE,
)
_RESULT = re.compile(
    r"(?:\b(?:leaving|leaves|giving|gives|getting|get|making|makes|yielding|yields|becomes|equals|is|are|have"
    r"|obtain)|[=:])"
    rf"(?: (?:us|it|only|exactly|just|really))?\s?(?P<value>{VALUE})[^\d$]{{0,60}}$",
    re.IGNORECASE,
)
_ALSO = re.compile(
    rf"(?P<value>{VALUE}) (?:is |are )?also (?:works?|valid|possible|satisf|an? (?:valid |possible )?(?:solution"
    rf"|answer))",
    re.IGNORECASE,
)
_CHANGING = (
    "but", "however", "then again", "must", "need", "to ", "divid", "halv", "subtract", "leav", "also",
)  # fmt: skip
_EXPLAINS = re.compile(
    r"\b(?:not|no|never|cannot|fails?|wrong|incorrect|reject\w{0,3}|discard\w{0,3}|exclud\w{1,3}|negative|extraneous"
    r"|because|since|than|at (?:least|most)|only|verif\w{1,5}|substitut\w{1,5}|plug\w{0,4}|method|approach"
    r"|alternative\w{0,2}"
    r"|forget|remember|recall|each|every|where|as|earlier|original\w{0,2})\b|n't\b|[<>≤≥]|\\[lg]eq?\b",
    re.IGNORECASE,
)
_NO_SOLUTION = re.compile(
    r"(?:^|[.;:!\n]\s{0,4}|,\s|\b(?:so|thus|hence|therefore|consequently|meaning|means|but|that|conclude)\b,? )"
    r"(?:(?:that )?there (?:is|are|exists?|can be) (?:in fact |actually |really |therefore |then )?(?:no|not any)"
    r"|(?:it|(?:the|this) (?:equation|system|problem)) has (?:in fact |actually )?no|we (?:have|get|find) no|no) "
    r"(?:(?:real|valid|such|integer|possible|actual|admissible|positive) ){0,2}"
    r"(?:solutions?|answers?|roots?|[xn]|values?|integers?|numbers?|triangles?)(?: exists?| satisf\w{1,6}| works?"
    r"| at all| here)?"
    r"(?=\s{0,4}(?:[.!;,)*]|$))"
    r"|\bnone (?:exists?|works?)\b|\b(?:does not|doesn't) exist\b|\b(?:the )?(?:answer|value|solution) is undefined\b",
    re.IGNORECASE,
)
_LACKING = ("no ", "not any ", "none ", "exist", "undefined")
"""One of these is in whatever _NO_SOLUTION matches."""
_SUPPOSED = re.compile(
    r"\b(?:would|if|had|were|unless|suppose|assuming|allowed|naive|naively|common|case|cases|when|whenever|for"
    r"|otherwise|other"
    r"|further|more|smaller|larger|greater|bigger|better|additional|another|tempting|incorrectly|wrongly"
    r"|might think|students?)\b",
    re.IGNORECASE,
)


def revised(tail: str) -> str | None:
    """The last value that is said to be right."""
    said: str | None = None
    place = -1
    may_state = may_name(tail)
    if may_state and holds(tail, _STATING):
        for match in _STATES.finditer(tail):
            if not COUNTERFACTUAL.search(tail, sentence_start(tail, match.start() + 1), match.end()):
                said, place = bare(match.group("value")), match.start()
    if may_state and said is None and holds(tail, _CHANGING):
        said = _changed(tail)
    if holds(tail, _LACKING):
        for match in _NO_SOLUTION.finditer(tail):
            start = match.start()
            if start > place and not _SUPPOSED.search(tail, sentence_start(tail, start + 1), match.end()):
                said, place = NO_SOLUTION, start
    return said


def _changed(tail: str) -> str | None:
    """The value in which a sentence ends that changes something: "but this must be halved, which gives 15"."""
    said: str | None = None
    at = 0
    for end in [*(match.start() for match in ENDS.finditer(tail)), len(tail)]:
        sentence = tail[at:end]
        at = end + 1
        match = _ALSO.search(sentence)
        if match is None and _CHANGES.search(sentence) and not _EXPLAINS.search(sentence):
            match = _RESULT.search(sentence)
        if match is not None and not COUNTERFACTUAL.search(sentence):
            said = bare(match.group("value"))
    return said
