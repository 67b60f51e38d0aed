r"""The regular expression in a completion, by rule. Nothing here compiles it; all is linear in the text.

Thinking is left out. Then the first of these that there is:

1. what stands in ``<answer>`` tags, else in a box, outside of fenced blocks;
2. the last complete fenced block labelled ``regex`` or so, else as a language, else not at all, else the last one, else
   what follows a fence that is never closed. Of several lines: all of them where it begins with ``(?x``; else the raw
   string that is given to a variable named like ``pattern``, or to ``re.compile``; else its last raw string; else its
   last line;
3. inline code: the last one before words that go on to explain (``matches``, ``Here``, ``for example`` ...), unless one
   behind them is introduced as the expression (``so the regex is``, ``I mean``, ``instead use``);
4. the line behind a label (``Regex: ...``, also on the next line), else the last bold text that is no heading, else
   the last line that is neither prose nor one of an explanation.

Several different ones in tags or boxes, in variables of a program, and ones that are offered by ``or``, are
``ambiguous``. What is left is taken as one of these:

- ``/.../flags``, slashes inside escaped, with JavaScript's flags ``g i m s u y d`` (``g u y d`` mean nothing);
- ``r"..."``, Python's raw string, also within a line of code, with the flags of ``re`` that are named behind it;
- ``"..."`` in a text that is not marked as code: the quotes are dropped;
- else it is the expression itself.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from lydite.codec import well_formed
from lydite.verifiers.fences import Block, fenced_blocks, pick_block
from lydite.verifiers.marks import Span, answers, bold, inline, is_prose
from lydite.verifiers.text import after_thinking, is_refusal

MAX_PATTERN = 5000
"""Characters of an expression; a longer one is not compiled."""
WINDOW = 20_000
"""Characters at the end of a text without a fenced block that are looked at, and of a block."""

_REGEX = frozenset({"regex", "regexp", "re", "pcre"})
_CODE = frozenset({"python", "py", "python3", "javascript", "js"})
_PLAIN = frozenset({"", "text", "txt"})
_NAMES = r"(?:the |my |final )?(?:regex|regexp|pattern|regular expression|expression|answer)"
_NAMED = re.compile(rf"\s*[*_]{{0,2}}{_NAMES}(?: is)?[*_]{{0,2}}\s?[:=][*_]{{0,2}}\s*", re.IGNORECASE)
_EXPLAINS = re.compile(
    r"\b(?:match(?:es|ed)|accepts|rejects|means|stands for|e\.g\.|for (?:example|instance)|such as|examples?"
    r"|explanation|breakdown|note)\b|(?:[.!:;,\n]|\A)\s{0,4}(?:[-*] )?(?:Here|where|This|It|In this|In it|The)\b",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(
    rf"(?:\b{_NAMES}(?: is| would be| becomes)?:?|\bI mean|\b(?:instead|better|rather)(?: is|:|,)?(?: use)?|\buse)"
    r"\s*\Z",
    re.IGNORECASE,
)
_OR = re.compile(r"[\s,]*(?:or,? alternatively|or also|or|alternatively)[\s,:]*", re.IGNORECASE)
_LISTED = re.compile(r"\s*(?:[-*•+]|\d{1,2}[.)])\s")
_ENDS = re.compile(r"(?:explanation|breakdown|examples?|notes?|here|where|this|it)\b", re.IGNORECASE)
_RAW = re.compile(
    r"""(?<![\w"'\\])[rR](?:\"\"\"([^"]*)\"\"\"|'''([^']*)'''|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)')""", re.DOTALL
)
_GIVEN = re.compile(
    r"(?:(\w*(?:pattern|regex|regexp|expr|expression))\s?(?::[^=\n]{1,40})?=\s?)?(re\.compile\()?\s{0,20}\Z",
    re.IGNORECASE,
)
_NAMED_FLAG = re.compile(r"\bre\.(?:(I|IGNORECASE)|(M|MULTILINE)|(S|DOTALL)|(X|VERBOSE)|(A|ASCII))\b")
_SLASHES = re.compile(r"/((?:[^/\\\n]|\\.)+)/([a-z]{0,8})")
_FLAGS = {"i": "i", "m": "m", "s": "s", "x": "x", "g": "", "u": "", "y": "", "d": ""}


class Pattern(NamedTuple):
    """An expression, and the flags (of ``imsx``) that came with it."""

    text: str
    flags: str = ""


def find_pattern(text: str, tags: bool = True) -> Pattern | str:
    """The expression of a completion, or why there is none: ``no_pattern``, ``refused``, ``ambiguous``. ``tags``:
    whether ``<answer>`` and boxes are marks of the answer, rather than what the expression is about."""
    rest = after_thinking(text)
    if rest is None:
        return "no_pattern"
    rest = rest.replace("\r\n", "\n")
    blocks = fenced_blocks(rest)
    marked = answers(rest, blocks) if tags else []
    if marked:
        found = dict.fromkeys(_found(one, fenced_blocks(one)) for one in marked)
        return next(iter(found)) if len(found) == 1 else "ambiguous"
    return _found(rest, blocks)


def _found(text: str, blocks: list[Block]) -> Pattern | str:
    if blocks:
        some = [block for block in blocks if not _only_calls(block)] or blocks
        block = pick_block(some, _REGEX, _CODE, _PLAIN)
        one, code = _in_block(well_formed(block.text[-WINDOW:])) if block is not None else "", True
    else:
        tail = well_formed(text[-WINDOW:])
        pieces = inline(tail)
        if not pieces and is_refusal(tail):
            return "refused"
        one, code = (_inline(tail, pieces), True) if pieces else _in_lines(tail)
    if one is None:
        return "ambiguous"
    one = one.strip(" \t\r\n")
    return _read(one, code) if one else "no_pattern"


def _only_calls(block: Block) -> bool:
    """Whether a block is a program that holds no expression, and only uses one."""
    text = block.text
    return block.label in _CODE and "\n" in text and "import " in text and not _RAW.search(text[-WINDOW:])


def _in_block(text: str) -> str | None:
    text = text.strip("\r\n")
    if "\n" not in text or text.lstrip().startswith("(?x"):
        return text
    raw = list(_RAW.finditer(text))
    if not raw:
        return text.strip().rpartition("\n")[2]
    given: dict[str, re.Match[str]] = {}
    for one in raw:
        place = _GIVEN.search(text, max(0, one.start() - 100), one.start())
        if place is not None and (place[1] or place[2]):
            given[place[1] or ""] = one
    if len({one.group() for one in given.values()}) > 1:
        return None
    chosen = next(iter(given.values())) if given else raw[-1]
    return chosen.group() + text[chosen.end() :].partition("\n")[0]


def _inline(text: str, pieces: list[Span]) -> str | None:
    """The inline code that counts; ``None`` where two are offered."""
    masked = _without(text, pieces)
    talk = _EXPLAINS.search(masked, pieces[0].end)
    before = [piece for piece in pieces if talk is None or piece.start < talk.start()]
    behind = [piece for piece in pieces[len(before) :] if _INTRODUCES.search(masked, piece.start - 60, piece.start)]
    chosen = behind[-1] if behind else before[-1]
    for one, other in pairwise(pieces):
        if chosen in (one, other) and one.text != other.text and _OR.fullmatch(text, one.end, other.start):
            return None
    return chosen.text


def _without(text: str, pieces: list[Span]) -> str:
    """A text in which inline code is blank, so that no word in it means anything."""
    parts: list[str] = []
    at = 0
    for piece in pieces:
        parts += [text[at : piece.start], "`" * (piece.end - piece.start)]
        at = piece.end
    return "".join([*parts, text[at:]])


def _in_lines(text: str) -> tuple[str, bool]:
    """The expression in a text without code, and whether it was marked as code."""
    text = text.strip()
    lines = text.split("\n")
    for at, line in enumerate(lines):
        named = _NAMED.match(line)
        if named is None:
            continue
        rest = line[named.end() :].strip() or next((one for one in lines[at + 1 :] if one.strip()), "").strip()
        if rest:
            strong = bold(rest)
            return (strong[0].text, True) if strong and strong[0].start == 0 else (rest, False)
    strong = bold(text)
    if strong:
        return strong[-1].text, True
    if len(lines) == 1:
        return text, False
    left: list[str] = []
    for line in lines:
        if left and _ENDS.match(line.strip(" *_#")) and (is_prose(line) or line.rstrip(" *_").endswith(":")):
            break
        if line.strip() and not is_prose(line) and not line.rstrip().endswith(":") and not _LISTED.match(line):
            left.append(line)
    return (left or lines)[-1], False


def _read(text: str, code: bool) -> Pattern:
    slashes = _SLASHES.fullmatch(text)
    if slashes and all(flag in _FLAGS for flag in slashes[2]):
        flags = "".join(sorted({_FLAGS[flag] for flag in slashes[2]}))
        return Pattern(slashes[1].replace("\\/", "/"), flags)
    raw = list(_RAW.finditer(text[: 2 * MAX_PATTERN]))
    if len(raw) == 1 and _is_code(text, raw[0]):
        named = {"imsxa"[flag.lastindex - 1] for flag in _NAMED_FLAG.finditer(text, raw[0].end()) if flag.lastindex}
        return Pattern(next(group for group in raw[0].groups() if group is not None), "".join(sorted(named)))
    if not code and len(text) > 2 and text[0] == text[-1] and text[0] in "\"'" and text[0] not in text[1:-1]:
        return Pattern(text[1:-1])
    return Pattern(text)


def _is_code(text: str, raw: re.Match[str]) -> bool:
    """Whether a line around a raw string is Python: ``pattern = r"..."``, ``re.compile(r"...", re.I)``."""
    before, after = text[: raw.start()], text[raw.end() :]
    return re.fullmatch(r"\s*(?:\w+\s?=\s?)?(?:\w+\.\w+\()?", before) is not None and (
        re.fullmatch(r"\s*(?:[),][^\n]{0,200})?", after) is not None
    )
