"""Equalities that a sentence says to be false: ``it is false that 2 + 2 = 4``, ``2 + 2 = 4 is wrong``. They claim
nothing."""

from __future__ import annotations

import re

from lydite.verifiers.text import holds

_LOOK = 80
"""Characters before and behind an equality that are looked at."""
_FALSE = r"(?:false|wrong|incorrect|untrue|not (?:true|correct|right|so|the case))"
_BEFORE = re.compile(
    rf"\b(?:{_FALSE}|den(?:y|ies)|doubt|reject|disagree|(?:isn't|wasn't) (?:true|correct|right|so|the case))"
    r" (?:that|to (?:say|claim|think|write|state|believe)(?: that)?)[\s$(\"'“*\\:]{0,6}\Z",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"[\s$)\]*\\\"'”,]{0,6}"
    rf"(?:\({_FALSE}\)|(?:(?:which|that|this|it) )?"
    rf"(?:(?:is|was|would be) (?:clearly |simply |plainly |just )?{_FALSE}\b"
    r"|(?:isn't|wasn't) (?:true|correct|right|so|the case)\b|(?:does not|doesn't) hold\b|cannot be (?:true|right)\b))",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:(?:isn't|wasn't) (?:true|correct|right|so)|doesn't hold)\b", re.IGNORECASE)
_MAY = re.compile(
    rf"{_FALSE}|den(?:y|ies)|doubt|reject|disagree|n['’]t (?:true|correct|right|so|the case|hold)|not hold|cannot be",
    re.IGNORECASE,
)
_DENYING = (
    "false", "wrong", "correct", "true", "right", "the case", "hold", "deny", "denies", "doubt", "reject", "disagree",
    " so", "cannot",
)  # fmt: skip
"""One of these is in whatever denies."""


def may_deny(text: str) -> bool:
    """Whether a text holds a word with which something is denied."""
    return holds(text, _DENYING) and _MAY.search(text) is not None


def is_denied(text: str, start: int, last: int, end: int) -> bool:
    """Whether an equality is said to be false.

    Args:
        text: what it stands in.
        start: where it starts.
        last: where its last side does.
        end: where it ends, with the words that were taken for a unit.
    """
    before = text[max(0, start - _LOOK) : start].replace("’", "'")
    behind = text[end : end + _LOOK].replace("’", "'")
    return (
        _BEFORE.search(before) is not None
        or _BEHIND.match(behind) is not None
        or _NEGATED.search(text[last:end].replace("’", "'")) is not None
    )
