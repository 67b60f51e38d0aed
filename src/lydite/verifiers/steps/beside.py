r"""What stands right beside a sign of equality, as patterns: plain sides, and sides with an unknown value.

Each says no more than what the full reading (``reading``) makes of the same characters whatever stands further away:
the comments name what would spoil that. Patterns that are TURNED match text that is turned round, from the sign on.
All of them look at a bounded number of characters.
"""

from __future__ import annotations

import re

_split = str.split  # tables of words stay readable

_SIGN_WORDS = _split("plus minus times equals equal percent of by to x r rem remainder divided multiplied with")
"""Read as signs, or together with the number behind them."""
_NO_UNITS = _SIGN_WORDS + _split(
    "and then are was were because since which that where but for thus hence therefore when while the from has had"
    " they you she mod choose"
)


def _none_of(words: list[str], *, turned: bool = False) -> str:
    """A pattern: here stands none of the words. Their first letter may be a capital."""
    spelled = [f"[{word[0].upper()}{word[0]}]{word[1:]}" for word in words]
    if turned:
        spelled = [f"{word[:0:-1]}[{word[0].upper()}{word[0]}]" for word in words]
    return rf"(?!(?:{'|'.join(spelled)})(?![\w'’-]))"


_NUM = r"(?!0\d)(?:\d{1,3}(?:,\d{3}){1,4}+|\d{1,12}+)(?:\.\d{1,9}+)?(?![.,]?\d)"
_UNIT = rf"(?: (?=[a-z]){_none_of(_NO_UNITS)}[a-z]{{3,15}}+(?![\w'’-])){{0,2}}"
_SIGN = r"(?:[-+*/^×÷·−–]|\\(?:times|cdot|div)(?![A-Za-z]))"
_NEXT = rf"(?:\$? {{0,2}}{_SIGN} {{0,2}}(?:\\?\$)?(?:{_NUM}|(?<=\^)\{{\d\}})| x {_NUM})"
_SIDE = rf"{_NUM}(?:{_UNIT}{_NEXT}){{0,12}}"
# No word in capitals, so that few spellings of the others need be known.
_WORD = rf"(?=[A-Za-z]){_none_of(_SIGN_WORDS)}[A-Za-z][a-z]{{0,25}}+(?:['’-][A-Za-z]{{1,25}}+){{0,3}}+(?![\w'’])"
_LETTER = r"(?![xX][ $\\]*[(.\d])[A-Za-z](?![\w'’(]|[-][A-Za-z])"  # "2x 3" is a product
_OPEN = r" {0,2}(?:\*\*|\\\(|\\?\$)? ?"
_CLOSE = r"(?:\$|\\\)|\\\]|\*\*(?=\s|\Z))?"
# A line ends a side, unless a sign of equality comes next.
_LINE = r" *(?:\n|\\\\)(?=\s{0,4}(?:[-*] |\\\[|\\\(|\$){0,2}\*{0,2} ?[A-Za-z\d#])"
_LAST = r"\s*\Z"

JOINED = re.compile(rf"{_OPEN}(?P<side>-?{_SIDE})(?P<unit>{_UNIT})\$? {{0,2}}")
"""One plain side between two signs."""
HEAD = re.compile(
    rf"{_OPEN}(?:(?P<boxed>\\boxed\{{-?{_NUM}\}})|(?P<side>-?{_SIDE})){_CLOSE}"
    rf"(?:(?P<clean>[;:.](?=[\s$]|\Z)|,(?! 000)(?=[\s$]|\Z)|{_LAST}|{_LINE})|[)\]}}]|(?P<remark> \()"
    # At most four words are a unit; a sign behind them carries on with the side.
    rf"|(?! (?:(?:and|a) ){{3}})(?: {_WORD}){{1,5}}+(?:[.,;:](?=\s|\Z)|{_LAST}|{_LINE}| \(?\$?\d| \()"
    rf"|(?! (?:(?:and|a) ){{3}})(?: {_WORD}){{5}} (?=[A-Za-z]))"
)
"""A plain side behind a sign, and what shows that it has ended."""
UNKNOWN_HEAD = re.compile(
    rf"{_OPEN}-?(?:{_WORD}(?!\()|{_LETTER}|[A-Za-z]\(|{_NUM}(?![mgLlhs]){_LETTER}"
    rf"|{_SIDE}\$? {{0,2}}{_SIGN} {{0,2}}{_LETTER}\$?[\^+/.,;:)])"
)
"""A side behind a sign that has an unknown value, or is none."""

_NUM_TURNED = r"(?:\d{1,9}\.)?(?:(?:\d{3},){1,4}+\d{1,3}|\d{1,12}+)(?<!\d0)(?![.,]?\d)"
_UNIT_TURNED = rf"(?:(?=[a-z]){_none_of(_NO_UNITS, turned=True)}[a-z]{{3,15}}+ ){{0,2}}"
_SIGN_TURNED = r"(?:[-+*/^×÷·−–]|(?:semit|todc|vid)\\)"
_NEXT_TURNED = rf"(?:(?:\$\\?)? {{0,2}}{_SIGN_TURNED} {{0,2}}\$?| x )"
_FIRST_TURNED = rf"(?:\}}\d\{{\^)?{_NUM_TURNED}"
_SIDE_TURNED = rf"{_FIRST_TURNED}(?:{_NEXT_TURNED}{_UNIT_TURNED}{_FIRST_TURNED}){{0,12}}"
_WORD_TURNED = (
    rf"(?=[A-Za-z]){_none_of(_SIGN_WORDS, turned=True)}"
    rf"(?:[a-z]{{1,25}}+['’-]){{0,3}}[a-z]{{0,25}}[A-Za-z](?=[\s,;:.()$*\"]|\Z)"
)
_BREAK_TURNED = r" {1,2}[,;:.](?![.\\])"

TAIL = re.compile(
    rf" {{0,2}}\$?(?P<unit>{_UNIT_TURNED})(?P<side>{_SIDE_TURNED})(?:\*\*|[(\[]\\|\$\\?)?"
    rf"(?:(?P<clean> {{0,3}}(?:\Z|\n)|{_BREAK_TURNED})| [-*+](?:\Z|\n)|\((?!\\)| (?P<word>{_WORD_TURNED}))"
)
"""A plain side before a sign, and what shows where it began. TURNED."""
UNKNOWN_TAIL = re.compile(
    rf" {{0,2}}\$? {{0,2}}(?:\)[A-Za-z]\([A-Za-z]"
    # "we get -3 + 5" has a sign of its own
    rf"|(?:{_SIDE_TURNED}(?: {{1,2}}{_SIGN_TURNED} {{1,2}}|{_SIGN_TURNED}(?! )))?"
    rf"[A-Za-z](?<![mgLlhs])(?=\d{{0,12}}(?:[\s$(+*/]|\Z))"
    rf"|[mgLlhs](?=[ $]{{1,3}}(?:[,;:](?!\\)|{_WORD_TURNED}))"
    rf"|{_WORD_TURNED}(?: {_WORD_TURNED}){{0,3}}(?: {_WORD_TURNED}| ?\Z| ?\n|{_BREAK_TURNED}))"
)
"""A side before a sign that has an unknown value, or is none. TURNED."""
PARTED = re.compile(r"[^\[\]{}]{0,400}?(?:[ \n][.,;:](?![.\\])|\n *[\w.,;:)])")
"""A clause or a line ends somewhere before a sign, with no bracket between. TURNED."""
