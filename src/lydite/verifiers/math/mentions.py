"""Values that words name, and the sentence in which they do: what ``rejections`` and ``revisions`` share."""

from __future__ import annotations

import re

VALUE = (
    r"(?:\$[^$\n]{1,80}\$|\\\((?:[^\\\n]|\\[^)\n]){1,80}+\\\)"
    r"|(?:[A-Za-z]\s?=\s?)?(?:[-−]?\\?[$€£]?\d[\d,./]{0,20}(?:\s?\\?%)?"
    r"|[-−]?\\[dt]?frac\s?\{?\w{1,9}\}?\s?\{?\w{1,9}\}?|\([A-J]\)))"
)
"""A pattern: a formula, a number, a fraction, or a choice in brackets."""
COUNTERFACTUAL = re.compile(
    r"\b(?:would|if|unless|suppose|assuming|naive|naively|tempting|incorrectly|wrongly|check|checking|verify"
    r"|common"
    r"|might think|students?)\b",
    re.IGNORECASE,
)
ENDS = re.compile(r"[.!?](?=\s)|\n")
_NAMES = re.compile(r"[\d$\\(]|[A-J](?=[\s.,!]|$)")
_IN_SENTENCE = re.compile(VALUE)


def may_name(text: str) -> bool:
    """Whether a look at the characters leaves it open that a value or a choice is named."""
    return _NAMES.search(text) is not None


def sentence_start(text: str, at: int) -> int:
    """Where the sentence begins that holds a place; 200 characters before it at most."""
    start = max(0, at - 200)
    for match in ENDS.finditer(text, start, at):
        start = match.end()
    return start


def last_value(sentence: str) -> str | None:
    value = None
    for match in _IN_SENTENCE.finditer(sentence):
        value = match.group()
    return None if value is None else bare(value)


def bare(value: str) -> str:
    return value.strip(" *").strip("$").removeprefix("\\(").removesuffix("\\)").rstrip(".,/ ").strip()
