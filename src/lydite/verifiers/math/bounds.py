"""Numbers that a last sentence only bounds or doubts: "at least 12", "12 or more", "I doubt it is 12"."""

from __future__ import annotations

import re

_BEFORE = re.compile(
    r"(?:(?<!needs )(?<!need )(?<!requires )(?<!require )(?<!takes )\bat (?:least|most)"
    r"|\bup to|\b(?:is|be|are|was|lies|stays|must be|well) (?:strictly )?(?:above|below|under|over|beyond)"
    r"|\bbounded (?:above |below )?by|\b(?:nearly|almost|hardly|barely|not quite|at the (?:least|most)))"
    r"[\s$(*\\]{1,4}$"
    r"|(?<!no )(?<!not )(?<!a )\b(?:doubt|doubtful|deny|dispute|unlikely|disbelieve)\b[^.,;:!?\n\d]{0,40}$",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"[\s$)*\\]{0,4}(?:[a-z]{1,14} )?(?:at (?:the )?(?:least|most)\b"
    r"|or (?:more|fewer|less|greater|above|below|higher|lower)\b)",
    re.IGNORECASE,
)
# "At least 12 coins are needed" says what is asked for.
_NEEDED = re.compile(r"[\s$)*\\]{0,4}(?:[a-z]{1,14} ){0,2}(?:are|is) (?:needed|required|necessary)\b")
_WORDS = (
    "at ", "up to", "above", "below", "under", "over", "beyond", "bounded", "nearly", "almost", "hardly", "barely",
    "not quite", "doubt", "deny", "dispute", "unlikely", "disbelieve",
)  # fmt: skip


def is_bounded(text: str, start: int, end: int) -> bool:
    """Whether the words around a number keep it from being the value."""
    before = text[max(0, start - 60) : start]
    plain = before.lower()
    behind = text[end : end + 40].lower()
    if any(word in plain for word in _WORDS) and _BEFORE.search(before) and not _NEEDED.match(behind):
        return True
    return ("at " in behind or "or " in behind) and _BEHIND.match(behind) is not None
