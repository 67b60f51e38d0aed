"""From the text of an answer to the answer."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from lydite.verifiers.math import choices, notations, words
from lydite.verifiers.math.answer import Answer
from lydite.verifiers.math.nodes import Node, NotMathError, TooBigError, num
from lydite.verifiers.math.normalise import normalise, trim, undressed
from lydite.verifiers.math.plain import FAST, MEASURED, plain_number
from lydite.verifiers.math.spelling import respelled
from lydite.verifiers.math.structure import structure
from lydite.verifiers.math.tokens import tokenize
from lydite.verifiers.math.units import KNOWN, Unit, name_temperatures, parse_unit
from lydite.verifiers.math.work import working

MAX_CHARS = 4000

_SPACE = re.compile(r"\s+|\\(?:left|right|displaystyle|,|;|!|quad|qquad)(?![A-Za-z])\s*|~")
_PACKED = re.compile(r"[!-[\]-}]*")  # nothing of what is left out below
_GAP = re.compile(r"(?<=\d)(?:\s|\\[ ,;!]|~)+(?=\d)")  # 4 2 is not 42
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|between|either|unless|except|otherwise|any (?:other )?(?:value"
    r"|number|of)|could be|might|not sure"
    r"|somewhere|something|not)\b",
    re.IGNORECASE,
)
_ROUGH = re.compile(
    r"\d[\s~}$]{0,3}(?:\\[a-z]{4,6}\s?\{)?[\s~–-]{0,2}(?:ish|(?<=[-–])odd|(?:or )?thereabouts|give or take)\b",
    re.IGNORECASE,
)
"""56ish is no number."""
_HAS_NONE = re.compile(r"\b(?:has|have|there (?:is|are)) no (?:real )?solutions?$")
_BETWEEN = re.compile(r"[\s\-.]+")
_CHOICE = re.compile(r"[(\[]?([A-Z])[)\].]?")
_LETTERS = re.compile(r"(?:[(\[][A-J][)\]][\s,]{0,2}){2,10}")
_CHOSEN = re.compile(r"(?:[(\[]([A-J])[)\]][.:]?|([A-J])[).:])\s*(?=\S)")
_UNWRAP = re.compile(r"\\(?:text[a-z]{0,6}|math(?:rm|bf|it|sf|tt)|mbox|bf|rm|operatorname)\b\s?|\\[ ,;!]|[{}$~*]")
_TOLD = re.compile(
    r"(?:\\(?:text|textbf|mathrm)\s?\{\s?)?(?:(?:so|thus|hence|therefore),?\s)?(?:the\s|my\s)?(?:final\s|correct\s)?"
    r"answer(?:\sis)?\s?[:=]?\s?\}?\s?(?=\S)",
    re.IGNORECASE,
)


_TIME_ENDS = frozenset(["lock", "noon", "ning", "ight", "oday", "ours", " hrs", "dday"])
_WRAPPED = re.compile(r"\\(?:text[a-z]{0,6}|math(?:rm|bf|sf)|mbox)\s?\{([^{}]{1,120})\}")
_COLON = re.compile(r"[A-Za-z][A-Za-z' \-]{1,60}(?:\s?\([^()]{1,20}\))?\s?:\s*(?=\S)")
_DENIES = re.compile(
    r"\b(?:not|no|never|wrong|incorrect|false|except|but|guess|maybe|either|or|if|unless|least|most|than|mistake"
    r"|instead|rejected|without|lambda|else|return|def|suppose|assume)\b|n't",
    re.IGNORECASE,
)
_WORD = re.compile(r"\s*([A-Za-z]+)(?:[\s~:=.]+|(?=[^A-Za-z\s\d]))")
_GLOSS = re.compile(r"([^()]{1,100}?)[\s~\\]{0,3}(?:\\text\s?\{\s?)?\(([^()]{1,60})\)\}?(?:[\s~]+([a-z]{2,20}))?")
_split = str.split  # tables of words stay readable
_LEADING = frozenset(
    _split(
        "the is are so thus hence therefore we get ans year about approximately roughly"
        " final correct answer answers total area perimeter volume length"
        " width height radius remainder value values point points interval intervals vector line equation ratio"
        " probability option choice set solution solutions root roots coordinates vertex center centre result sum"
        " product difference angle distance speed average mean median number there it costs cost price equals exactly"
    )
)


def read(text: str, thousands: bool = True) -> Answer:
    """The answer that a text states. Never raises; a text that says nothing is of kind ``none``.

    Args:
        text: an answer, as extracted.
        thousands: whether ``1,250`` is one number (else a list of two).
    """
    if len(text) > MAX_CHARS:
        return Answer("big", "")
    return _cached(text, thousands) if len(text) <= 200 else _parsed(text, thousands)


@lru_cache(maxsize=8192)
def _cached(text: str, thousands: bool) -> Answer:
    return _parsed(text, thousands)


def _parsed(text: str, thousands: bool) -> Answer:
    if thousands:
        if len(text) < 16 and text.isascii() and text.isdigit():
            return Answer("integer", text, num(int(text)))
        fast = FAST.fullmatch(text)
        if fast is not None:
            return plain_number(text, fast)
        counted = MEASURED.fullmatch(text)
        if counted is not None and _ROUGH.search(text) is None and (unit := _unit_named(counted.group(3))) is not None:
            number, point, word = counted.groups()
            value = Fraction(number.replace(",", "") + (point or ""))
            return Answer("quantity", f"{number}{point or ''}\\text{{{word}}}", num(value), unit)
    if _ROUGH.search(text) is not None:
        return Answer("text", text, hedged=True)
    clean = trim(name_temperatures(normalise(text)))
    if clean[:1] in ("{", "\\") and (bare := undressed(clean)) is not clean:
        clean = trim(bare)
    clean = respelled(clean)
    if thousands and clean != text:
        fast = FAST.fullmatch(clean)
        if fast is not None:
            return plain_number(clean, fast)
    raw = clean if _PACKED.fullmatch(clean) else _SPACE.sub("", _GAP.sub("_", clean))
    if not (raw[1:2].isalnum() or any(char.isalnum() or char == "\\" for char in raw)) and raw not in ("{}",):
        return Answer("none", raw)
    try:
        with working():  # chains are compared: an account of its own, for what is read is kept
            return _read(clean, raw, thousands)
    except TooBigError:
        return Answer("big", raw)
    except NotMathError:
        shown = _shown(clean, thousands) if len(clean) <= 200 else None
        if shown is not None:
            return shown
        rest = clean
        while (told := _TOLD.match(rest)) is not None and told.end() < len(rest):
            rest = trim(rest[told.end() :])
        if rest is not clean:
            return read(rest, thousands)
        return _text(clean, raw)
    except RecursionError:
        return Answer("big", raw)


@lru_cache(maxsize=1024)
def _unit_named(word: str) -> Unit | None:
    """What a known word measures behind any number: "dollars"; not "am", nor "dozen"."""
    if not (word in KNOWN or word.removesuffix("s") in KNOWN):
        return None
    units = set()
    for number in ("2", "1,357", "0.5"):
        clean = f"{number} \\text{{{word}}}"
        try:
            answer = _read(clean, clean.replace(" ", ""), True)
        except (NotMathError, TooBigError):
            return None
        plain = Answer("quantity", answer.raw, num(Fraction(number.replace(",", ""))), answer.unit)
        units.add(answer.unit if answer == plain else None)
    return units.pop() if len(units) == 1 else None


def _read(clean: str, raw: str, thousands: bool) -> Answer:
    plain = (
        " ".join(_UNWRAP.sub(" " if "~" in clean else "", clean).split())
        if "\\" in clean or "{" in clean or "$" in clean
        else clean
    )
    plain = plain.strip(" .,")
    single = _CHOICE.fullmatch(plain)
    if single is not None:
        return Answer("choice", raw, Node("sym", (single.group(1),)), data=single.group(1))
    chosen = _CHOSEN.match(plain)
    both = _LETTERS.fullmatch(plain)
    if both is not None:
        letters = tuple(
            Answer("choice", "", Node("sym", (letter,)), data=letter)
            for letter in both.group().strip("()[]")[::1]
            if letter in "ABCDEFGHIJ"
        )
        return Answer("list", raw, items=letters, data="and")
    if chosen is not None and choices.offers_more(plain[chosen.end() :]):
        return Answer("text", raw, data=words.fold(clean), hedged=True)
    if chosen is not None and not plain[chosen.end() :].startswith(("=", "-", "+", "/", "^")):
        rest = clean[clean.index(chosen.group(1) or chosen.group(2)) + 1 :].lstrip("}) ].:")
        return Answer(
            "choice",
            raw,
            None,
            items=(read(rest.strip()),) if rest.strip() else (),
            data=chosen.group(1) or chosen.group(2),
            hedged=choices.may_offer_more(plain[chosen.end() :]),
        )
    if clean[0] == "&":
        return _read(clean.lstrip("&= "), raw, thousands)
    noted = notations.special(clean, plain, raw)
    if noted is not None:
        return noted
    wordy = (
        any(len(word) > 2 and word.isalpha() for word in _BETWEEN.split(plain))
        or plain[:3].casefold() in ("yes", "no,")
        if " " in plain or plain.isalpha() or "-" in plain
        else False
    )
    if ":" in plain or plain[-1:] in "mM." or plain[-4:].lower() in _TIME_ENDS:
        time = words.clock(plain)
        if time is not None:
            return Answer("time", raw, data=time)
    if wordy or plain.count("-") == 2:
        day = words.date(plain)
        if day is not None:
            return Answer("date", raw, data=day)
        if len(plain) < 200 and not any(char.isdigit() for char in plain):
            spoken = re.split(r"[\s\-]+", plain.casefold().replace(",", ""))
            value = words.number_words(spoken)
            if value is not None:
                return Answer("integer" if value.denominator == 1 else "rational", raw, num(value))
            if spoken[-1] in ("percent", "percentage") and (value := words.number_words(spoken[:-1])) is not None:
                return Answer("percent", raw, num(value))
            counted = _counted(spoken)
            if counted is not None:
                return Answer("quantity", raw, num(counted[0]), counted[1])
        told = _YES_NO.match(clean)
        if told is not None and not _ELSE.search(clean[told.end() :]):
            return Answer("text", raw, data=told.group(1).casefold())
        phrase = words.fold(clean)
        if phrase in words.NUMBER_SETS:
            return Answer("set", raw, Node("named", (words.NUMBER_SETS[phrase],)))
        if phrase in ("infinity", "-infinity"):
            infinity = Node("const", ("oo",))
            return Answer("expression", raw, infinity if phrase[0] == "i" else Node("neg", (infinity,)))
        if phrase in (words.NO_SOLUTION, words.ALL_REALS):
            return Answer("set", raw, Node("set") if phrase == words.NO_SOLUTION else Node("named", ("R",)))
        if _HEDGE.search(plain):
            return Answer("text", raw, data=phrase, hedged=True)
    answer = structure(tokenize(clean, thousands), raw)
    if answer is None:
        raise NotMathError
    return answer


def _text(clean: str, raw: str) -> Answer:
    folded = words.fold(clean)
    if folded.endswith(("solution", "solutions")) and _HAS_NONE.search(folded):
        return Answer("set", raw, Node("set"))
    return Answer("text", raw, label=words.listed(clean), data=folded) if folded else Answer("none", raw)


_YES_NO = re.compile(r"(?:\\text\s?\{\s?)?(yes|no)[,.;:!]\s?(?=[a-z])", re.IGNORECASE)
_ELSE = re.compile(r"\b(?:yes|no|maybe|perhaps|but|unless|if|or)\b", re.IGNORECASE)


def _shown(clean: str, thousands: bool) -> Answer | None:
    """A value with words around it that change nothing."""
    try:
        with working():
            return _introduced(clean, thousands) or _glossed(clean, thousands)
    except (NotMathError, TooBigError, RecursionError):
        return None


def _introduced(clean: str, thousands: bool) -> Answer | None:
    """A value behind words that only say what it is: "Area: 42", "the ratio is 2:3", "Option B"."""
    wrapped = _WRAPPED.match(clean)
    text = f"{wrapped.group(1)} {clean[wrapped.end() :]}" if wrapped is not None else clean
    colon = _COLON.match(text)
    at = colon.end() if colon is not None and not _DENIES.search(colon.group()) else 0
    while not at or colon is None:
        word = _WORD.match(text, at)
        said = word.group(1).casefold() if word is not None else ""
        joins = said in ("of", "a", "an") and text[word.end() if word else 0 :][:1] not in ("", "-")
        if word is None or not (said in _LEADING or (joins and (at or text[word.end() : word.end() + 1].isalpha()))):
            break
        at = word.end()
    rest = text[at:].strip(" :=~")
    if not at or not rest:
        return None
    return _read(rest, _SPACE.sub("", _GAP.sub("_", rest)), thousands)


def _glossed(clean: str, thousands: bool) -> Answer | None:
    """A value and the same once more in brackets: 36 (thirty-six)."""
    match = _GLOSS.fullmatch(clean)
    if match is None:
        return None
    said, word, noun = match.groups()
    value = _read(said, _SPACE.sub("", said), thousands)
    if value.kind in ("integer", "rational", "decimal") and noun is None and _is_counted(word):
        return _read(f"{said} {word}", _SPACE.sub("", f"{said} {word}"), thousands)  # 6 (minutes)
    gloss = _read(word, _SPACE.sub("", word), thousands)
    if value.kind != gloss.kind or value.node != gloss.node or value.node is None:
        return None
    return value if noun is None else _read(f"{said} {noun}", _SPACE.sub("", f"{said} {noun}"), thousands)


def _is_counted(word: str) -> bool:
    """Whether a word is a unit, or the plural of what is counted: no number, nothing that changes one."""
    plain = word.removeprefix("\\text{").removesuffix("}").strip().casefold()
    if not plain.isalpha() or words.number_words([plain]) is not None or plain.removesuffix("s") in words.SCALES:
        return False
    unit = parse_unit(plain)
    return (
        unit is not None
        and bool(unit.dims)
        and (plain in KNOWN or plain.removesuffix("s") in KNOWN or plain[-1] == "s")
    )


def _counted(spoken: list[str]) -> tuple[Fraction, Unit] | None:
    """``seven apples``: a number in words and what it counts."""
    for size in range(min(len(spoken) - 1, 24), 0, -1):
        value = words.number_words(spoken[:size])
        if value is not None:
            unit = parse_unit(" ".join(spoken[size:]))
            return (value, unit) if unit is not None else None
    return None
