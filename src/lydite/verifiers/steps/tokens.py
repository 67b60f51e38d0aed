r"""From a text to the tokens of its arithmetic: numbers, signs, words, breaks. One pass.

Only lines with a sign of equality are looked at, and of a long line only the surroundings of such signs. What dresses
mathematics up (``$``, ``\left``, emphasis, quotes) leaves no token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from lydite.verifiers.math.normalise import normalise

MAX_RELATIONS = 5000
"""Signs of equality in a text; more is no work that anybody reads."""
MAX_TOKENS = 80_000
"""Tokens of all lines with a sign of equality."""
WINDOW = 2000
"""Characters on either side of a sign of equality that are looked at, within its line."""
GROUP = 1000
"""Characters of a text that are glanced at together."""
_GOES_ON = ("equals", "is equal", "x", "X")
"""What begins a line that goes on from the one before."""
_DULL = " \t\r\n&$*\\"

_EQUAL = re.compile(r"[=＝≈≒]+")
_EQUAL_ASCII = re.compile("==*")  # begins with a letter: ten times as fast
_SIGNS_HAVE = ("=", "＝", "≈", "≒", "equal", "\\")
"""One of these is in each sign of equality."""
_NOT_BEFORE = frozenset("<>!:+-*/≤≥≠")
_SAID = (
    re.compile(r"\\(?:approx|simeq|doteq|thickapprox)(?![A-Za-z])"),
    re.compile(r"equals\b"),
    re.compile(r"is equal to\b"),
)
_LEX = re.compile(
    r"(?P<opaque>\d+:\d+(?::\d+)?|\d+(?:\.\d+){2,}|0x[\dA-Fa-f]+)"
    r"|(?P<num>\d{1,3}(?:(?:,|\{,\}|\\,|\\!,|,\\!)\d{3}|, 000)++(?!\d)(?:\.\d+)?"
    r"|\d{1,3}(?: \d{3})++(?![\d/]|[.,]\d)|\d+(?:\.\d+)?|\.\d+)(?P<open>\.{3}|…|\\l?dots)?"
    r"|\\(?:text|mathrm|textrm|mbox|textit|textnormal|operatorname)\s?\{(?P<text>[^{}]{0,80})\}"
    r"|\\(?:begin|end)\s?\{(?P<env>[^{}]{0,40})\}"
    r"|\\(?P<cmd>[A-Za-z]+|\S)"
    r"|(?P<word>[^\W\d_][^\W_]*+(?:['-](?=[^\W\d_])[^\W_]++)*+)"
    r"|(?P<under>_(?:\{[^{}]{0,20}\}|\w*))"
    r"|(?P<line>\n)"
    r"|(?P<space>\s+|[$`\"'&~])"
    r"|(?P<brk>[<>!:+*/-]=|=>|->|={3,}|//|\.{2,}|--+)"
    r"|(?P<rel>={1,2})"
    r"|(?P<op>\*\*|[-+*/^])"
    r"|(?P<other>.)",
    re.DOTALL,
)
_FENCE = re.compile(r"^[ \t]{0,3}```[ \t]*([A-Za-z+#]+)[^\n]*$(?:\n(?![ \t]{0,3}```)[^\n]*+)*+", re.MULTILINE)
_PLAIN_FENCES = frozenset(["text", "txt", "math", "latex", "tex", "markdown", "md", "plaintext", "plain"])
_NOTE = re.compile(r"<<([^<>\n]{1,200})>>")
_DASH = re.compile(r"[—―]|(?<=\s)--+(?=\s)")
# "5 is right. Boxes x 3" is a product, across the sentence.
_SENTENCE = re.compile(
    r"\\.|[()\[\]{}]|(?<=[a-z]{3})\.(?= [A-Z][a-z])(?!(?:\s+\S+){0,4}\s+\S*?(?<![A-Za-z])[xX])", re.DOTALL
)
_ITEM = re.compile(r"[-+*•·][ \t]")

_COMMANDS = {
    "times": "*", "cdot": "*", "ast": "*", "div": "/", "approx": "~", "simeq": "~", "doteq": "~", "thickapprox": "~",
    "frac": "frac", "dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "sqrt": "sqrt", "%": "%", "\\": "\n",
}  # fmt: skip
_split = str.split  # tables of words stay readable

_DRESS = frozenset(
    _split(
        "left right big Big bigg Bigg bigl bigr displaystyle textstyle boxed mathbf textbf bf boldsymbol underline emph"
        " mathit fbox quad qquad , ; ! : $ ( ) [ ]"
    )
)
_SPOKEN = {"plus": "+", "minus": "-", "times": "*", "equals": "=", "percent": "%"}
_JOINING = frozenset(["of", "and", "or", "so", "then", "if", "is", "where", "for"])
_OPERAND_END = frozenset(["num", ")", "%", "word", "unit", "sym", "!"])


class TooManyClaimsError(Exception):
    """More signs of equality, more arithmetic, or more different claims than any work has."""


class Token(NamedTuple):
    """One token.

    Attributes:
        kind: ``num``, ``op``, ``rel`` (``=`` or ``~``), ``(``, ``)``, ``%``, ``!``, ``word``, ``unit`` (words set as
            text), ``sym`` (a value that is not known), ``frac``, ``sqrt``, ``line``, ``brk``.
        text: a number without its separators, a sign, a word.
        spaced: white space stands before it.
        start, end: where it stands in the region.
    """

    kind: str
    text: str
    spaced: bool
    start: int
    end: int


def relations(text: str) -> Iterator[tuple[int, int]]:
    """Where the signs of equality stand, in order; no more than one beyond ``MAX_RELATIONS``.

    Lazily: who has seen enough does not pay for the rest.
    """
    found = _signs(text)
    if "equal" in text or ("\\" in text and ("approx" in text or "simeq" in text or "doteq" in text)):
        said = (islice(pattern.finditer(text), MAX_RELATIONS) for pattern in _SAID)
        found = iter(sorted([*islice(found, MAX_RELATIONS + 1), *(match.span() for each in said for match in each)]))
    return islice(found, MAX_RELATIONS + 1)


def _signs(text: str) -> Iterator[tuple[int, int]]:
    for match in (_EQUAL_ASCII if text.isascii() else _EQUAL).finditer(text):
        start, end = match.span()
        if end - start < 3 and text[start - 1 : start] not in _NOT_BEFORE and text[end : end + 1] != ">":
            yield start, end


def regions(text: str) -> Iterator[str]:
    """The parts of a text that may hold a claim, with one spelling for characters; annotations ``<<...>>`` last.

    Fenced code is left out: an assignment claims nothing.

    Raises:
        TooManyClaimsError: more than ``MAX_RELATIONS`` signs of equality.
    """
    text, notes = work_and_notes(text)
    yield from regions_of(text)
    for note in notes:
        yield spelled(note)


def work_and_notes(text: str) -> tuple[str, list[str]]:
    """A text without fenced code and annotations, and what stands in those, each once.

    Raises:
        TooManyClaimsError: more than ``MAX_RELATIONS`` signs of equality.
    """
    if "```" in text:
        text = _FENCE.sub(lambda fence: fence[0] if fence[1].casefold() in _PLAIN_FENCES else "\n", text)
    notes = list(dict.fromkeys(_NOTE.findall(text))) if "<<" in text else []
    text = _NOTE.sub("", text) if notes else text
    most = sum(map(text.count, _SIGNS_HAVE)) + len(notes)  # counted fast, and with others that are none
    if most > MAX_RELATIONS and sum(1 for _ in relations(text)) + len(notes) > MAX_RELATIONS:
        raise TooManyClaimsError
    return text, notes


def regions_of(text: str) -> Iterator[str]:
    """The same, of a text without fenced code and annotations."""
    start = end = 0  # of the region that is open
    for place in relations(text):
        low, high = _around(text, *place)
        if low > end:
            if end > start:
                yield _spelled(text, start, end)
            start = low
        end = max(end, high)
    if end > start:
        yield _spelled(text, start, end)


def groups(text: str) -> Iterator[str]:
    """A text in groups of whole lines, of about ``GROUP`` characters, none of which says anything about another one's
    claims: a line that ends with a sentence comes before, and one that begins with a word behind."""
    start, end = 0, text.find("\n", GROUP)
    while end >= 0:
        if text[end - 1] in ".!?:;" and text[end + 1 : end + 2].isalpha() and not text.startswith(_GOES_ON, end + 1):
            yield text[start:end]
            start = end + 1
            end = text.find("\n", start + GROUP)
        else:
            end = text.find("\n", end + 1)
    yield text[start:]


def may_claim(part: str) -> bool:
    """Whether a part of a region may hold a sign of equality."""
    return "=" in part or not part.isascii() or may_say_equal(part)


def may_say_equal(part: str) -> bool:
    """Whether there may be a word or a command that says so."""
    lower = part.lower()
    return "equal" in lower or ("\\" in part and ("approx" in lower or "simeq" in lower or "doteq" in lower))


def sentences(region: str) -> Iterator[str]:
    """A region cut where a sentence ends within no bracket: what is claimed on one side is not read on the other."""
    start = depth = 0
    for match in _SENTENCE.finditer(region):
        mark = match.group()
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth = max(0, depth - 1)
        elif mark == "." and not depth:
            yield region[start : match.end()]
            start = match.end()
    yield region[start:]


def spelled(note: str) -> str:
    """An annotation, with one spelling for characters."""
    return _spelled(note, 0, len(note))


def _spelled(text: str, start: int, end: int) -> str:
    region = text[start:end]
    if not region.isascii() or "--" in region:
        region = normalise(_DASH.sub(" ; ", region))
    # What was cut within a line is a sum with an unknown part: no number is cut in two.
    before = "" if start == 0 or text[start - 1] == "\n" else "\\ldots+"
    return before + region + ("" if end == len(text) or text[end] == "\n" else "+\\ldots")


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """The lines that the two sides of a sign of equality stand in: a side that its own line lacks is in the next."""
    floor, ceiling = max(0, start - WINDOW), min(len(text), end + WINDOW)
    low = text.rfind("\n", floor, start) + 1 or floor
    if low > floor and not text[low:start].strip(_DULL):
        low = text.rfind("\n", floor, floor + len(text[floor:low].rstrip(_DULL))) + 1 or floor
    high = text.find("\n", end, ceiling)
    if high >= 0 and not text[end:high].strip(_DULL):
        high = text.find("\n", ceiling - len(text[high:ceiling].lstrip(_DULL)), ceiling)
    return low, high if high >= 0 else ceiling


def tokenize(text: str) -> list[Token]:
    """Tokens of a region.

    Raises:
        TooManyClaimsError: more than ``MAX_TOKENS``.
    """
    out: list[Token] = []
    spaced = True
    item = _ITEM.match(text)
    at, size = item.end() if item else 0, len(text)
    while at < size:
        match = _LEX.match(text, at)
        assert match is not None
        kind, start, at = str(match.lastgroup), at, match.end()
        if len(out) > MAX_TOKENS:
            raise TooManyClaimsError
        if kind == "space":
            spaced = True
            continue
        if kind == "line":
            _add(out, "line", "\n", True, start, at)
            item = _ITEM.match(text, at)
            at = item.end() if item else at
        elif kind in ("num", "open"):
            digits = "".join(char for char in match.group("num") if char.isdigit() or char == ".")
            _add(out, "num", digits + ("..." if kind == "open" else ""), spaced, start, at)
        elif kind == "word":
            at = _word(out, match.group(), text, spaced, start, at)
        elif kind == "op":
            _operator(out, match.group(), text, spaced, start, at)
        elif kind == "cmd":
            if match.group("cmd") in _DRESS:
                spaced = spaced or match.group("cmd") not in ("left", "right", "!")
                continue
            _command(out, match.group("cmd"), spaced, start, at)
        elif kind == "text":
            said = match.group("text").strip()
            _add(out, "word" if said.casefold() in _JOINING else "unit", said, spaced, start, at)
        elif kind == "under":
            if not out or out[-1].kind not in ("word", "sym", ")"):
                _add(out, "sym", "_", spaced, start, at)
        elif kind == "other":
            _other(out, match.group(), spaced, start, at)
        else:
            kind = {"opaque": "sym", "env": "line", "rel": "rel"}.get(kind, "brk")
            text_of = "=" if kind == "rel" else match.group()
            _add(out, "sym" if text_of.startswith("..") else kind, text_of, spaced, start, at)
        spaced = False
    return out


def _add(out: list[Token], kind: str, text: str, spaced: bool, start: int, end: int) -> None:
    out.append(Token(kind, text, spaced, start, end))


def _word(out: list[Token], word: str, text: str, spaced: bool, start: int, end: int) -> int:
    """A word, a spoken sign, or the x of ``3 x 4``; where to go on."""
    before = out[-1].kind if out else "brk"
    lower = word.casefold()
    counted = before != "word" or (spaced and any(token.kind == "num" for token in out[-4:]))
    if word[0] in "xX" and before in _OPERAND_END and counted and (len(word) == 1 or word[1:].isdigit()):
        rest = text[start + 1 : start + 6].lstrip(" $\\")
        if rest[:1].isdigit() or rest[:1] in ("(", "."):
            _add(out, "op", "*", spaced, start, start + 1)
            return start + 1
    if lower in _SPOKEN:
        sign = _SPOKEN[lower]
        _add(out, {"=": "rel", "%": "%"}.get(sign, "op"), sign, spaced, start, end)
    elif lower == "by" and out and out[-1].text.casefold() in ("divided", "multiplied"):
        said = out.pop()
        _add(out, "op", "/" if said.text.casefold() == "divided" else "*", said.spaced, said.start, end)
    elif lower == "to" and len(out) > 1 and (out[-2].text, out[-1].text) == ("is", "equal"):
        del out[-1]
        said = out.pop()
        _add(out, "rel", "=", said.spaced, said.start, end)
    else:
        _add(out, "word", word, spaced, start, end)
    return end


def _operator(out: list[Token], sign: str, text: str, spaced: bool, start: int, end: int) -> None:
    after = text[end : end + 8].lstrip(" $*")
    operand = after[:1].isalnum() or after[:1] in ("(", "[", "{", "\\", ".", "-")
    if sign == "**" and not (operand and out and out[-1].kind in ("num", ")") and text[end : end + 1] != "\n"):
        return  # emphasis
    if sign == "*" and not (operand and out and out[-1].kind in _OPERAND_END):
        return
    if sign == "**" and spaced != text[end : end + 1].isspace():
        return
    _add(out, "op", "^" if sign == "**" else sign, spaced, start, end)


def _command(out: list[Token], name: str, spaced: bool, start: int, end: int) -> None:
    sign = _COMMANDS.get(name)
    if sign is None:
        _add(
            out,
            "sym" if name.endswith("dots") or (name[0].isalpha() and name not in _BREAKS) else "brk",
            name,
            spaced,
            start,
            end,
        )
    elif sign == "\n":
        _add(out, "line", sign, True, start, end)
    elif sign in ("frac", "sqrt", "%"):
        _add(out, sign, sign, spaced, start, end)
    else:
        _add(out, "rel" if sign == "~" else "op", sign, spaced, start, end)


_BREAKS = frozenset(
    _split(
        "Rightarrow implies to rightarrow Leftrightarrow iff le leq ge geq ne neq lt gt equiv quad therefore because"
        " longrightarrow Longrightarrow mid in item hline tag"
    )
)


def _other(out: list[Token], char: str, spaced: bool, start: int, end: int) -> None:
    if char in "([{":
        _add(out, "(", char, spaced, start, end)
    elif char in ")]}":
        _add(out, ")", char, spaced, start, end)
    elif char in "%!":
        _add(out, char, char, spaced, start, end)
    elif char == "#":
        _add(out, "word", char, spaced, start, end)
    else:
        _add(out, "brk", char, spaced, start, end)
