r"""What stands right beside a sign of equality, as patterns: plain sides, and sides with an unknown value.

Each says no more than what the full reading (``reading``) makes of the same characters whatever stands further away.
Patterns that are TURNED match text that is turned round, from the sign on. All look at a bounded number of characters.

What would read otherwise than it looks are some words. That they are not there is for the caller to see to (within the
patterns it would cost more): in the group ``side`` none of ``NO_UNITS``, in ``words`` none of ``SPOKEN``, in ``word``
neither of those nor, alone, one of ``JOINING``. The group ``many`` counts behind five words only.
"""

from __future__ import annotations

import re

_split = str.split  # tables of words stay readable

SPOKEN = frozenset(_split("plus minus times equals equal percent x r rem remainder divided multiplied"))
"""Read as signs, or together with the number behind them."""
JOINING = frozenset(["of", "by"])
"""Together with what stands before them they may be a sign: ``2/3 of 6``, ``divided by 6``."""
NO_UNITS = SPOKEN | frozenset(
    _split(
        "and then are was were because since which that where but for thus hence therefore when while the from has had"
        " they you she mod choose"
    )
)

_NUM = r"(?:(?!0\d)(?:\d{1,3}(?:,\d{3}){1,4}+|\d{1,12}+)(?:\.\d{1,9}+)?|\.\d{1,9}+)(?![.,]?\d)(?:\\?%)?+"
_FRACTION = r"\\[dt]?frac\{\d{1,9}\}\{[1-9]\d{0,8}\}"
_NAME = r"(?:[A-Za-z]{3,15}+|kg|km|cm|mm|ml|lb|oz|ft|hr)(?![\w'’-])"
_UNIT = rf"(?:(?= ?[A-Za-z/]) ?(?:[mgLlhs](?![\w'’-])|{_NAME}(?: {_NAME}){{0,2}}(?: ?/ ?{_NAME})?|/ ?{_NAME}))?"
_SIGN = r"(?:[-+*/^×÷·−–]|\\(?:times|cdot|div)(?![A-Za-z]))"
_FLAT = rf"(?:\\?\$)?(?:{_NUM}|{_FRACTION})"
_VALUE = rf"(?:{_NUM}|{_FRACTION}|\({_FLAT}(?:{_UNIT} {{0,2}}{_SIGN} {{0,2}}{_FLAT}){{1,6}}{_UNIT}\))"
_NEXT = (
    rf"(?:\$? {{0,2}}{_SIGN} {{0,2}}(?:\\?\$)?(?:{_VALUE}|(?<=\^)\{{\d\}})"
    rf"| (?:x|(?:(?<=[%)}}] )|(?<=/\d ))of) (?:\\?\$)?{_NUM})"
)
_SIDE = rf"{_VALUE}(?:{_UNIT}{_NEXT}){{0,12}}"
_WORD = r"[A-Za-z]{1,25}+(?:['’-][A-Za-z]{1,25}+){0,3}+(?![\w'’])"
# No remainder, and no share. "4 times a day" is no product: two words are no value.
_AFTER = rf"(?! (?:(?:and|a|of|with) ){{3}}| [Oo][Ff]\b(?! [A-Za-z]))(?: times(?= {_WORD} {_WORD}))?"
_LETTER = r"(?![xX][ $\\]*[(.\d])[A-Za-z](?![\w'’(]|[-][A-Za-z])"  # "2x 3" is a product
_OPEN = r" {0,2}(?:\*\*|\\\(|\\?\$)? ?"
_CLOSE = r"(?:\$|\\\)|\\\]|\*\*(?=\s|\Z))?"
# A line ends a side, unless a sign of equality comes next. Behind white space, the end of a line is white space.
_LINE = r"(?:\n| *\\\\)(?=\s{0,4}(?:[-*] |\\\[|\\\(|\$){0,2}\*{0,2} ?[A-Za-z\d#])"
_LAST = r"\s*\Z"

JOINED = re.compile(rf"{_OPEN}(?P<side>-?{_SIDE})(?P<unit>{_UNIT})\$? {{0,2}}")
"""One plain side between two signs."""
HEAD = re.compile(
    rf"{_OPEN}(?:(?P<boxed>\\boxed\{{-?{_NUM}\}})|(?P<side>-?{_SIDE})){_CLOSE}"
    rf"(?:(?P<clean>[;:.](?=[\s$]|\Z)|,(?! 000)(?=[\s$]|\Z)|{_LAST}|{_LINE})|[)\]}}]|(?P<remark> \()|{_AFTER}"
    # At most four words are a unit; behind them a sign would carry on with the side.
    rf"(?P<words>(?: {_WORD}){{1,5}}+)(?:[.,;:](?=\s|\Z)|{_LAST}|{_LINE}| \(?\$?\d| \(|(?P<many> (?=[A-Za-z]))))"
)
"""A plain side behind a sign, and what shows that it has ended."""
UNKNOWN_HEAD = re.compile(
    rf"{_OPEN}-?(?:(?P<words>{_WORD}(?!\())|[A-Za-z]\(|{_NUM}(?![mgLlhs]){_LETTER}"
    rf"|(?P<side>{_SIDE})\$? {{0,2}}{_SIGN} {{0,2}}{_LETTER}\$?[\^+/.,;:)])"
)
"""A side behind a sign that has an unknown value, or is none."""

_NUM_TURNED = (
    r"(?=[\d%])(?:%\\?)?(?:(?:\d{1,9}\.)?(?:(?:\d{3},){1,4}+\d{1,3}|\d{1,12}+)(?<!\d0)|\d{1,9}\.(?!\.))(?![.,]?\d)"
)
_FRACTION_TURNED = r"\}\d{0,8}[1-9]\{\}\d{1,9}\{carf[dt]?\\"
_NAME_TURNED = r"(?:[A-Za-z]{3,15}+|gk|mk|mc|mm|lm|bl|zo|tf|rh)"
_UNIT_TURNED = (
    rf"(?:(?=[A-Za-z])(?:[mgLlhs]|(?:{_NAME_TURNED} ?/ ?)?(?:{_NAME_TURNED} ){{0,2}}{_NAME_TURNED}"
    rf"|{_NAME_TURNED} ?/) ?(?=[\d%)}}]))?"
)
_SIGN_TURNED = r"(?:[-+*/^×÷·−–]|(?:semit|todc|vid)\\)"
_FLAT_TURNED = rf"{_UNIT_TURNED}(?:{_NUM_TURNED}|{_FRACTION_TURNED})(?:\$\\?)?"
_VALUE_TURNED = (
    rf"(?:{_NUM_TURNED}|{_FRACTION_TURNED}|\}}\d\{{\^{_NUM_TURNED}"
    rf"|\){_FLAT_TURNED}(?: {{0,2}}{_SIGN_TURNED} {{0,2}}{_FLAT_TURNED}){{1,6}}\()"
)
_NEXT_TURNED = rf"(?:\$\\?)?(?: {{0,2}}{_SIGN_TURNED} {{0,2}}\$?| x | fo (?=[%)}}]|\d/))"
_SIDE_TURNED = rf"{_VALUE_TURNED}(?:{_NEXT_TURNED}{_UNIT_TURNED}{_VALUE_TURNED}){{0,12}}"
_WORD_TURNED = r"(?:[A-Za-z]{1,25}+['’-]){0,3}[A-Za-z]{1,25}+(?=[\s,;:.()$*\"]|\Z)"
_BREAK_TURNED = r" {1,2}[,;:.](?![.\\])"
_LINE_TURNED = r"\n(?!\s)"

TAIL = re.compile(
    rf" {{0,2}}\$?(?P<side>(?P<unit>{_UNIT_TURNED}){_SIDE_TURNED})(?:\*\*|[(\[]\\|\$\\?)?"
    rf"(?:(?P<clean> {{0,3}}(?:\Z|{_LINE_TURNED})|{_BREAK_TURNED})| [-*+](?:\Z|{_LINE_TURNED})|\((?!\\)"
    rf"| (?P<word>(?:[fF][oO] )?{_WORD_TURNED}))"
)
"""A plain side before a sign, and what shows where it began. TURNED."""
UNKNOWN_TAIL = re.compile(
    rf" {{0,2}}\$? {{0,2}}(?:\)[A-Za-z]\([A-Za-z]"
    # "we get -3 + 5" has a sign of its own
    rf"|(?:(?P<side>{_SIDE_TURNED})(?: {{1,2}}{_SIGN_TURNED} {{1,2}}|{_SIGN_TURNED}(?! )))?"
    rf"[A-Za-z](?<![mgLlhs])(?=[\d.]{{0,12}}(?:[\s$(+*/]|\Z))"
    rf"|[mgLlhs][ $]{{1,3}}(?:[,;:](?!\\)|(?P<word>{_WORD_TURNED}))"
    rf"|(?P<words>{_WORD_TURNED}(?: {_WORD_TURNED}){{0,4}}+)(?:(?P<many> (?=[A-Za-z]))| ?\Z| ?{_LINE_TURNED}"
    rf"|{_BREAK_TURNED}))"
)
"""A side before a sign that has an unknown value, or is none. TURNED."""
PARTED = re.compile(r"[^\[\]{}]{0,400}?(?:[ \n][.,;:](?![.\\])|\n[\w.,;:)])")
"""A clause or a line ends somewhere before a sign, with no bracket between. TURNED."""

_ONLY_NUMBER = r"(?!0\d)\d{1,12}+(?![.,]?\d)"
_NOT_BEHIND = "".join(rf"(?<!{word} \d)" for word in sorted((SPOKEN | JOINING) - {"r"})) + r"(?<![^a-z]r \d)"
PLAINEST = re.compile(
    # A blank comes first: a search for one is fast. What must not stand before it is looked for behind it.
    rf" (?<=[a-z,;:.] )(\d{_NOT_BEHIND}(?:(?<!0)\d{{0,11}}+|(?!\d)))(?![.,]?\d) ?([-+*/]) ?({_ONLY_NUMBER})"
    rf" ?= ?\$?({_ONLY_NUMBER})(?=[.;:]\s|,\s(?!000)|\n[A-Za-z#]|\.?\Z)"
)
"""Two whole numbers and what they make, between clean ends; in ASCII, without backslashes up to the last of them."""
