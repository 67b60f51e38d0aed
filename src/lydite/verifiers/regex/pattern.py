r"""The regular expression in a completion, by rule. Nothing here compiles it; all is linear in the text.

The rule: thinking is left out. The last complete fenced block counts (of several lines: its last raw string literal,
else its last line; all of them where it begins with ``(?x``), else the last inline code, else the whole text (of
several lines: the last one). A label such as ``Regex:`` before it is dropped. What is left is taken as one of these:

- ``/.../flags``, slashes inside escaped, with JavaScript's flags ``g i m s u y d`` (``g u y d`` mean nothing);
- ``r"..."``, Python's raw string, also within a line of code, with the flags of ``re`` that are named behind it;
- ``"..."`` in a text that is not marked as code: the quotes are dropped;
- else it is the expression itself.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from lydite.codec import well_formed
from lydite.verifiers.fences import fenced_blocks, pick_block
from lydite.verifiers.text import after_thinking, is_refusal

MAX_PATTERN = 5000
"""Characters of an expression; a longer one is not compiled."""
WINDOW = 20_000
"""Characters at the end of a text without a fenced block that are looked at, and of a block."""

_LABELS = frozenset({"regex", "regexp", "re", "python", "py", "python3", "javascript", "js", "text", "txt", "pcre", ""})
_INLINE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,5200})\1(?!`)")
_NAMED = re.compile(
    r"\s*[*_]{0,2}(?:the |my |final )?(?:regex|regexp|pattern|regular expression|answer)(?: is)?[*_]{0,2}\s?[:=]"
    r"[*_]{0,2}\s*",
    re.IGNORECASE,
)
_RAW = re.compile(
    r"""(?<![\w"'\\])[rR](?:\"\"\"([^"]*)\"\"\"|'''([^']*)'''|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)')""", re.DOTALL
)
_NAMED_FLAG = re.compile(r"\bre\.(?:(I|IGNORECASE)|(M|MULTILINE)|(S|DOTALL)|(X|VERBOSE)|(A|ASCII))\b")
_SLASHES = re.compile(r"/((?:[^/\\\n]|\\.)+)/([a-z]{0,8})")
_FLAGS = {"i": "i", "m": "m", "s": "s", "x": "x", "g": "", "u": "", "y": "", "d": ""}


class Pattern(NamedTuple):
    """An expression, and the flags (of ``imsx``) that came with it."""

    text: str
    flags: str = ""


def find_pattern(text: str) -> Pattern | str:
    """The expression of a completion, or why there is none: ``no_pattern``, ``refused``."""
    rest = after_thinking(text)
    if rest is None:
        return "no_pattern"
    block = pick_block(fenced_blocks(rest), _LABELS)
    if block is not None:
        found, code = _in_block(well_formed(block.text[-WINDOW:])), True
    else:
        tail = well_formed(rest[-WINDOW:])
        inline = list(_INLINE.finditer(tail))
        if not inline and is_refusal(tail):
            return "refused"
        found, code = (inline[-1][2], True) if inline else (_last_line(tail), False)
    found = found.strip(" \t\r\n")
    named = _NAMED.match(found)
    if named and not code:
        found = found[named.end() :]
    return _read(found, code) if found else "no_pattern"


def _in_block(text: str) -> str:
    text = text.strip("\r\n")
    if "\n" not in text or text.lstrip().startswith("(?x"):
        return text
    raw = list(_RAW.finditer(text))
    if not raw:
        return _last_line(text)
    return raw[-1].group() + text[raw[-1].end() :].partition("\n")[0]


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


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
