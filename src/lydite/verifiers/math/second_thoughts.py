r"""What the words behind an answer make of it: they reject it, or state another one in its place.

| kind | examples behind "the answer is 3" |
|---|---|
| rejects what was said | "this cannot be", "it must be rejected", "which is not valid", "I take it back" |
| rejects a value by name | "x = 3 is not valid", "3 does not satisfy the equation", "so we discard 3" |
| states another value | "so the true count is 12", "Edit: 16", "it should be 16", "but ..., making it 20" |
| states that there is none | "Hence there is no solution." |

Values are handed on, to be compared with the answer: "Check: 4 + 2 = 6", "the root -2 is extraneous" and "the correct
value is 3.0" change nothing. "It" is the value named last in the sentence, or the answer where none is named. What
would be if things were different is not looked at. Every look is of bounded length.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from lydite.verifiers.math.alternatives import offered
from lydite.verifiers.text import holds

MAX_TAIL = 2000
"""Characters behind an answer that are looked at."""
MAX_VALUES = 8
NO_SOLUTION = "no solution"


class SecondThoughts(NamedTuple):
    """What stands behind an answer.

    Attributes:
        back: the answer is rejected, whatever it is.
        rejected: values that are rejected by name.
        stated: the value that is said to be right, the last of them.
    """

    back: bool = False
    rejected: tuple[str, ...] = ()
    stated: str | None = None


NOTHING = SecondThoughts()

_VALUE = (
    r"(?:\$[^$\n]{1,80}\$|\\\((?:[^\\\n]|\\[^)\n]){1,80}+\\\)"
    r"|(?:[A-Za-z]\s?=\s?)?(?:[-−]?\\?[$€£]?\d[\d,./]{0,20}(?:\s?\\?%)?"
    r"|[-−]?\\[dt]?frac\s?\{?\w{1,9}\}?\s?\{?\w{1,9}\}?|\([A-J]\)))"
)
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
_BY_NAME = re.compile(rf"({_VALUE}),? (?:(?:which|it|that|this) )?{REJECTS}", re.IGNORECASE)
_OBJECT = re.compile(
    r"\b(?:reject|discard|exclude|disregard|rule out|throw out|throw away|eliminate|retract|withdraw)(?:s|ed|ing)?"
    rf" (?:(?P<it>it|this|that|(?:the|my|our|this|that) (?:boxed |above |previous )?(?:answer|value|solution"
    rf"|result|box))\b"
    rf"|(?:the (?:value|solution|root|answer) )?(?P<value>{_VALUE}))",
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

_RETRACTS = re.compile(
    r"\b(?:(?:strike|scratch) (?:that|this|it)|(?:just |only )?(?:kidding|joking)|jk|my (?:bad|mistake|apologies)"
    r"|i (?:take"
    r"|took) (?:that|it|this)"
    r" back|i (?:retract|withdraw|stand corrected|misspoke|mistyped|messed up|meant to)|erratum|not so fast|never ?mind"
    r"|forget (?:that|it|this|what i)|that was (?:a joke|a typo|premature|nonsense|rubbish)|typo"
    r"|please (?:ignore|disregard|discard)|disregard|nope|(?:no longer|not (?:at all |really )?) ?(?:convinced"
    r"|believe|confident)|i doubt (?:it|this|that)|i changed my mind)\b",
    re.IGNORECASE,
)
_RETRACTING = (
    "strike", "scratch", "kidding", "joking", "jk", "my ", "i take", "i took", "retract", "withdraw", "corrected",
    "misspoke", "mistyped", "messed", "meant", "erratum", "so fast", "mind", "forget", "that was", "typo", "please",
    "disregard", "nope", "convinced", "believe", "confident", "doubt", "changed",
)  # fmt: skip
_SLIPS = re.compile(
    r"\b(?:but|however|oh|oops|wait|unfortunately|though|yet|actually)\b[^.!?\n]{0,40}\b(?:i|we) (?:have |had |also )?"
    r"(?:double[- ]?counted|over-?counted|under-?counted|inverted|mixed up|swapped|misplaced|overlooked|omitted"
    r"|neglected"
    r"|dropped|missed|misapplied|misused|mistakenly|forgot|miscounted|miscopied|confused|should have|did not|didn't)\b",
    re.IGNORECASE,
)
_SLIPPING = (
    "but", "however", "oh", "oops", "wait", "fortunately", "though", "yet", "actually",
)  # fmt: skip
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
    rf"(?P<value>{_VALUE}|[A-J](?=[\s.,!]|$))",
    re.IGNORECASE,
)
_STATING = (
    "true", "closer", "second", "further", "re", "careful", "another", "double", "check", "think", "so ", "so,",
    "thus", "hence", "therefore", "total", "altogether", "overall", "bring", "raise", "lower", "reduce", "fact",
    "truth", "turn", "correct", "actual", "real", "right", "proper", "revised", "accurate", "new", "should", "ought",
    "it's", "it is", "that's", "that is", "mean", "edit", "update", "fixed", "amend", "errata", "addendum", "ps",
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
    rf"(?: (?:us|it|only|exactly|just|really))?\s?(?P<value>{_VALUE})[^\d$]{{0,60}}$",
    re.IGNORECASE,
)
_ALSO = re.compile(
    rf"(?P<value>{_VALUE}) (?:is |are )?also (?:works?|valid|possible|satisf|an? (?:valid |possible )?(?:solution"
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
_SUPPOSED = re.compile(
    r"\b(?:would|if|had|were|unless|suppose|assuming|allowed|naive|naively|common|case|cases|when|whenever|for"
    r"|otherwise|other"
    r"|further|more|additional|another|tempting|incorrectly|wrongly|might think|students?)\b",
    re.IGNORECASE,
)
_COUNTERFACTUAL = re.compile(
    r"\b(?:would|if|unless|suppose|assuming|naive|naively|tempting|incorrectly|wrongly|check|checking|verify"
    r"|common"
    r"|might think|students?)\b",
    re.IGNORECASE,
)
_ENDS = re.compile(r"[.!?](?=\s)|\n")
_IN_SENTENCE = re.compile(_VALUE)


def behind(tail: str, at_once: bool = True) -> SecondThoughts:
    """What a text behind an answer makes of it.

    Args:
        tail: what follows the answer.
        at_once: it follows right behind: "is not valid" says it of the answer.
    """
    tail = tail[:MAX_TAIL].replace("’", "'")
    another = offered(tail)
    if not any(map(str.isalpha, tail)):
        return NOTHING if another is None else SecondThoughts(stated=another)
    back = holds(tail, _RETRACTING) and _RETRACTS.search(tail) is not None
    back = back or (holds(tail, _SLIPPING) and _SLIPS.search(tail) is not None)
    rejected: list[str] = []
    if holds(tail, _REJECTING):
        back = back or (at_once and _AT_ONCE.match(tail) is not None)
        for value in _named(tail):
            if value is None:
                back = True
            elif len(rejected) < MAX_VALUES:
                rejected.append(value)
    return SecondThoughts(back, tuple(rejected), _stated(tail) or another)


def _named(tail: str) -> list[str | None]:
    """Values that are rejected; ``None`` for the answer, called "it"."""
    found: list[str | None] = []
    for match in _BY_PRONOUN.finditer(tail):
        sentence = tail[_start(tail, match.start()) : match.start()]
        if not _COUNTERFACTUAL.search(sentence):
            found.append(_last_value(sentence))
    found.extend(
        _bare(match.group(1))
        for match in _BY_NAME.finditer(tail)
        if not _COUNTERFACTUAL.search(tail, _start(tail, match.start()), match.start())
    )
    for match in _OBJECT.finditer(tail):
        value = match.group("value")
        found.append(
            _bare(value) if value is not None else _last_value(tail[_start(tail, match.start()) : match.start()])
        )
    return found


def _stated(tail: str) -> str | None:
    """The last value that is said to be right."""
    said: str | None = None
    place = -1
    if holds(tail, _STATING):
        for match in _STATES.finditer(tail):
            if not _COUNTERFACTUAL.search(tail, _start(tail, match.start() + 1), match.end()):
                said, place = _bare(match.group("value")), match.start()
    if said is None and holds(tail, _CHANGING):
        said = _changed(tail)
    if "no" in tail.lower() or "undefined" in tail:
        for match in _NO_SOLUTION.finditer(tail):
            if match.start() > place and not _SUPPOSED.search(tail, _start(tail, match.start() + 1), match.end()):
                said, place = NO_SOLUTION, match.start()
    return said


def _changed(tail: str) -> str | None:
    """The value in which a sentence ends that changes something: "but this must be halved, which gives 15"."""
    said: str | None = None
    at = 0
    for end in [*(match.start() for match in _ENDS.finditer(tail)), len(tail)]:
        sentence = tail[at:end]
        at = end + 1
        match = _ALSO.search(sentence)
        if match is None and _CHANGES.search(sentence) and not _EXPLAINS.search(sentence):
            match = _RESULT.search(sentence)
        if match is not None and not _COUNTERFACTUAL.search(sentence):
            said = _bare(match.group("value"))
    return said


def _start(text: str, at: int) -> int:
    """Where the sentence begins that holds a place; 200 characters before it at most."""
    start = max(0, at - 200)
    for match in _ENDS.finditer(text, start, at):
        start = match.end()
    return start


def _last_value(sentence: str) -> str | None:
    value = None
    for match in _IN_SENTENCE.finditer(sentence):
        value = match.group()
    return None if value is None else _bare(value)


def _bare(value: str) -> str:
    return value.strip(" *").strip("$").removeprefix("\\(").removesuffix("\\)").rstrip(".,/ ").strip()
