r"""What sentences state: the one value of a labelled sentence, and whether a last sentence states one at all.

| sentence | what it states |
|---|---|
| "The slope is $\frac53$", "The train travels at 60 km/h" | the value behind its verb, where but a unit follows |
| "Yes, they are similar", "The claim is false" | Yes, false |
| "Let us consider 31", "It depends on 31", "the rest follows from Theorem 31", "Is it 31?", "Try 31" | nothing |
"""

from __future__ import annotations

import re

from lydite.verifiers.text import holds

_FORMULA = r"\$[^$\n]{1,300}\$|\\\((?:[^\\\n]|\\[^)\n]){1,300}+\\\)"
_NUMBER = r"[-−]?\\?[$€£]?\d[\d,./]{0,24}(?<![.,/])%?"
_VALUE_LAST = re.compile(
    r"^(?P<subject>[^\n]{2,200}?)\s(?:is|are|was|were|equals|has|have|contains?|gives|yields|becomes|comes to"
    r"|travels at"
    r"|measures|costs|takes|needs|makes)(?: (?:therefore|thus|then|exactly|simply|just|given by|equal to"
    r"|a total of))?:?\s"
    rf"(?:\*\*)?(?P<value>{_FORMULA}|{_NUMBER})(?:\*\*)?(?P<rest>(?:\s[A-Za-z°/²³^]{{1,16}}){{0,3}})(?:\*\*)?$"
)
_FORMULA_LAST = re.compile(
    rf"^(?P<subject>[^\n\d$\\]{{4,200}})\s(?P<value>(?=[^\n]*(?:\d|\\infty))(?:{_FORMULA}))(?P<rest>)(?:\*\*)?$"
)
_VERDICT = re.compile(
    r"(?:\*\*)?(?P<word>yes|no|true|false)(?:\*\*)?\s?(?:[,;:.—–]"
    r"|\s-)\s?(?:\*\*)?\s?(?=[A-Za-z$\\])(?P<rest>[^\n]{0,300})$",
    re.IGNORECASE,
)
_JUDGED = re.compile(
    r"(?:the|this|that|our|his|her) (?:[a-z]{1,12} )?(?:statement|claim|assertion|proposition|conjecture"
    r"|inequality|equation|identity)"
    r" is (?:always |indeed |therefore |in fact |thus )?(?P<word>true|false)$",
    re.IGNORECASE,
)
_QUALIFIES = re.compile(
    r"\b(?:not|never|no|cannot|if|unless|when|or|either|about|approximately|roughly|around|least|most|more|less"
    r"|fewer|between"
    r"|than|maybe|perhaps|possibly|probably|might|may|could|would|except|only|sometimes|depends|but|times|sure"
    r"|percent of)\b|n't\b|\?",
    re.IGNORECASE,
)
_YES_BUT = re.compile(
    r"\b(?:unless|if|maybe|perhaps|possibly|probably|might|could|except|only|sometimes|depends|but|not sure|or"
    r"|wait|actually"
    r"|yes|no,)\b|\bno\s?[.;:!]?$|\?",
    re.IGNORECASE,
)

_STATES_NOTHING = re.compile(
    r"^\W{0,6}(?:(?:so|now|then|next|first|also|and|but|here|ok(?:ay)?|well),? )?"
    r"(?:let(?!(?:'s| us| me) (?:know|verify|check|double-check|confirm|compute|calculate)\b)(?:'s| us| me)?"
    r"|suppose|assume|assuming|given|hmm|consider(?:ing)?|try(?:ing)?|take|recall|remember|see|use|using|if"
    r"|for (?:example|instance)|e\.g\.|say|imagine|what if|we (?:need|want|have to|must|should|could|can|note"
    r"|recall) (?:to )?"
    r"(?:consider|find|look|try|use|check|show|prove|compute|determine|that)|could|can|does|do|would|should|might"
    r"|what|which"
    r"|how|why)\b",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r",[^.!?]{0,40}\b(?:so|then|thus|hence|therefore|we (?:get|find|obtain|have|conclude|see)|gives?|yields?|produces?"
    r"|making)\b",
    re.IGNORECASE,
)
# "If he is 99 now, he will be 99 + 10 = 109": what is worked out is stated, whatever it was worked out from.
_PREMISE = re.compile(r"\W{0,6}(?:(?:so|now|then|and|but),? )?(?:if|given|considering|let(?:'s| us))\b", re.IGNORECASE)
_RECKONED = re.compile(r"\d[^=\n]{0,40}[-+*/×÷−x][^=\n]{1,40}=\s?[$€£(]{0,2}\s?$")
_NO_STATEMENT = re.compile(
    r"\b(?:g[ia]ve up|giving up|(?:am|are|got|get|getting|i'm|we're) stuck|(?:it|this|that|answer|which|rest"
    r"|result) (?:\w{1,10} )?depends? on"
    r"|or so|i suppose|(?:lower|upper) bound|exceeds?|close to|so far|such as|according to|none of|candidate"
    r"|comes? to mind|(?:not|isn't) clear|continue|ends? with|at this point|somewhere|asked (?:about|for|to)"
    r"|(?:question|problem|hint|text|statement) (?:mentions?"
    r"|says|asks|gives|states|tells)"
    r"|(?:more|further) information|we (?:start|started|begin|began) (?:from|with|at)|(?:to do with|unsolved"
    r"|unclear|no idea|not clear|i wonder)|things? to consider|(?:need|have|want) to (?:think|consider|look|find"
    r"|check|prove|show)"
    r"|in particular the number|(?:might|may|could) (?:depend|be|involve|have to|need)|(?:do not|don't|not) know)\b",
    re.IGNORECASE,
)
_UNSTATING = (
    " up", "stuck", "depend", "or so", "suppose", "bound", "exceed", "close to", "so far", "such as", "according",
    "none of", "candidate", "to mind", "clear", "continue", "end", "at this point", "somewhere", "asked", "mention",
    "says", "asks", "gives", "states", "tells", "information", "start", "beg", "to do with", "unsolved", "no idea",
    "wonder", "consider", "need to", "have to", "want to", "in particular", "might ", "may ", "could ", "know",
)  # fmt: skip
"""One of these is in whatever _NO_STATEMENT matches."""
_REFERENCE = re.compile(
    r"(?<!this )(?<!that )(?<!each )(?<!every )(?<!either )\b(?:equations?|eqs?\.|theorems?|lemmas?|corollary"
    r"|cor\.|propositions?"
    r"|figures?|fig\.|tables?|sections?|chapters?|pages?|step|case|part|problem|question|exercise|line|rule"
    r"|method|example|note"
    r"|definition|axiom|attempt)\s(?:no\.? |number )?[($#]{0,2}\s?$",
    re.IGNORECASE,
)
_REFERRING = (
    "equation", "equations", "eq.", "eqs.", "theorem", "theorems", "lemma", "lemmas", "corollary", "cor.",
    "proposition", "propositions", "figure", "figures", "fig.", "table", "tables", "section", "sections", "chapter",
    "chapters", "page", "pages", "step", "case", "part", "problem", "question", "exercise", "line", "rule", "method",
    "example", "note", "definition", "axiom", "attempt", "no", "no.", "number",
)  # fmt: skip
"""One of these ends whatever _REFERENCE matches, but for brackets and spaces."""
_BOUND = re.compile(r"\b(?:more|less|fewer|greater|larger|smaller|other) than[\s$(]{0,3}$", re.IGNORECASE)
_CUT_OFF = re.compile(
    r"(?:\b(?:and|or|the|an|of|with|to|we|is|are|that|then|by|from|for|if|so|which|where|since|because|but)|[,=+(])$"
)
_ENDS = re.compile(r"[.!?](?=\s|$)|\n")
MAX_REST = 160
"""Characters that may follow the sentence of a last number."""


def stated(sentence: str) -> str | None:
    """The one value that a sentence states; ``None`` where that is not plain."""
    sentence = sentence.strip()
    if len(sentence) > 400:
        return None
    verdict = _VERDICT.match(sentence)
    if verdict is not None:
        return None if _YES_BUT.search(verdict.group("rest")) else verdict.group("word")
    judged = _JUDGED.match(sentence)
    if judged is not None:
        return judged.group("word")
    match = _VALUE_LAST.match(sentence) or _FORMULA_LAST.match(sentence)
    if match is None or _QUALIFIES.search(match.group("subject")) or _QUALIFIES.search(match.group("rest")):
        return None
    if re.search(r"\d", re.sub(_FORMULA, "", match.group("subject"))):
        return None  # another number
    return f"{match.group('value')}{match.group('rest')}"


def states_none(text: str, place: int) -> bool:
    """Whether the sentence that holds a place, or what follows it, shows that no answer is given there."""
    start = 0
    for match in _ENDS.finditer(text, max(0, place - 400), place):
        start = match.end()
    end = next((match.start() for match in _ENDS.finditer(text, place)), len(text))
    while end + 1 < len(text) and text[end] == "." and text[end + 1].isdigit():
        end = next((match.start() for match in _ENDS.finditer(text, end + 1)), len(text))
    sentence = text[start:end].replace("’", "'").strip()
    rest = text[end + 1 :].replace("’", "'")
    return (
        text[end : end + 1] == "?"
        or (
            _STATES_NOTHING.match(sentence) is not None
            and _CONCLUDES.search(text[start:place]) is None
            and not (_PREMISE.match(sentence) and _RECKONED.search(text[max(start, place - 120) : place]))
        )
        or _BOUND.search(text[max(0, place - 20) : place]) is not None
        or _says_nothing(sentence[-400:])
        or _says_nothing(rest[-400:])
        or _refers(text[max(0, place - 40) : place])
        or len(rest) > MAX_REST
        or _CUT_OFF.search(text[-40:].rstrip(" *_")) is not None
    )


def _says_nothing(words: str) -> bool:
    return holds(words, _UNSTATING) and _NO_STATEMENT.search(words) is not None


def _refers(before: str) -> bool:
    """Whether the words before a number make it the name of something: "Theorem 31"."""
    return before.rstrip().rstrip("($#").rstrip().lower().endswith(_REFERRING) and _REFERENCE.search(before) is not None


def is_no_statement(line: str) -> bool:
    """Whether a short last line states nothing: "Try 31"."""
    return states_none(line, len(line))
