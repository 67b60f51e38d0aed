r"""What stands right behind a box and belongs to its answer: ``\boxed{5} million``, ``$\boxed{80}$ m/s``.

Without it the box says another number than its writer: five million read as five.
"""

from __future__ import annotations

import re

from lydite.verifiers.math.units import KNOWN, parse_unit
from lydite.verifiers.math.words import SCALES

_WORDS = re.compile(
    r"[\s$~]{0,4}(?:\\[,;! ]\s?|\\\))?[\s$~]{0,4}(?:\\(?:text|mathrm|textrm|mbox)\s?\{\s?)?"
    r"(?P<power>(?:square|cubic|sq\.?|cu\.?) )?(?P<word>[A-Za-z]{2,14}|\\?%)"
    r"(?P<rest>(?:/[A-Za-z]{1,10}|\s?per [a-z]{1,10})?\}?(?:\^\{?[23]\}?|[²³])?)(?![A-Za-z\d])"
)
_ATTACHED = re.compile(
    r"_(?:\d|\{[^{}]{1,20}\}|\{\\text\{[a-z]{1,12}\}\})|\^(?:\d|\\circ(?![A-Za-z])|\{[^{}]{1,20}\})|\\pi(?![A-Za-z])"
    r"|\\sqrt\s?(?:\d|\{[^{}]{1,20}\})|[a-zA-Z](?![A-Za-z])"
)
_PERCENT = frozenset(["percent", "%", "\\%"])
_AMBIGUOUS = frozenset(["in", "as", "at", "is", "of", "second", "pt", "score"])
r"""Words of other meanings: "\boxed{5} in total"."""


_SHORT = frozenset(name for name in KNOWN if len(name) == 2) | {name.lower() for name in KNOWN if len(name) == 2}
_BEGINNINGS = frozenset(
    word[:3].lower()
    for word in [*KNOWN, *SCALES, "percent", "square", "cubic", "sq ", "sq.", "cu ", "cu.", "text", "math"]
) | frozenset(["mbo", "per"])


def may_belong(tail: str) -> bool:
    """Whether a look at the first letters leaves it open that something of the answer stands behind the box."""
    if tail[:1] in ("_", "^") or (tail[:1].isalpha() and not tail[1:2].isalpha()) or tail[:3] in ("\\pi", "\\sq"):
        return True
    begins = tail[:12].lstrip(" $~\\,;!)\n")[:3].lower()
    return begins in _BEGINNINGS or begins[:1] == "%" or begins[:2].rstrip("}/^ .,") in _SHORT


def belongs(answer: str, tail: str) -> str:
    """The answer with the scale word, percent sign or unit behind its box; of a box that ends in a number."""
    if not tail or not answer or not (answer[-1].isalnum() or answer[-1] in "}π"):
        return answer
    attached = _ATTACHED.match(tail[:80])
    if attached is not None:
        return answer + attached.group()
    match = _WORDS.match(tail[:80])
    if match is None:
        return answer
    word = match.group("word")
    plain = word.lower()
    if plain in _PERCENT:
        return f"{answer}\\%"
    if plain.removesuffix("s") in SCALES and plain not in _AMBIGUOUS:
        return f"{answer} {word}{_unit_behind(tail[match.end() :])}"
    if plain in _AMBIGUOUS or not (word in KNOWN or plain in KNOWN or plain.removesuffix("s") in KNOWN):
        return answer
    named = f"{match.group('power') or ''}{word}{match.group('rest')}".replace("}", "", match.group("rest")[:1] == "}")
    unit = parse_unit(named)
    if unit is None or not unit.dims or any(name.startswith("of:") for name, _ in unit.dims):
        return answer
    return f"{answer} \\text{{{named}}}"


_COMMAND = re.compile(
    r"\\(?:sqrt|[dt]?frac|log|ln|sin|cos|tan|overline|cancel)(?:\[[^\[\]]{0,9}\])?(?:\{[^{}]{0,40}\})?\{$"
)


ADJOINING = frozenset("-−{0123456789")
"""Characters that, right before a box, may change what it says."""


def before(text: str, start: int) -> str | None:
    r"""The sign right before a box, ``-\boxed{6}``; ``None`` where the box is a part of a number or of a root."""
    char = text[start - 1]
    if char == "{":
        return None if _COMMAND.search(text[max(0, start - 80) : start]) else ""
    if char.isdigit():
        return None
    ahead = text[max(0, start - 12) : start - 1].rstrip()[-1:]
    return "-" if not ahead or ahead in "=$({[,:" else ""


def _unit_behind(tail: str) -> str:
    """The unit behind a scale word: five million dollars."""
    match = _WORDS.match(tail[:40])
    return (
        f" {match.group('word')}"
        if match is not None and match.group("word").lower().removesuffix("s") in KNOWN
        else ""
    )
