"""Sentences of a Coq file: where they end, without parsing them."""

from __future__ import annotations

import re

_PIECE = re.compile(r'\(\*|\*\)|"|\.(?=\s|$)')
_THEOREM = re.compile(
    r"(?:#\[[^\]]*\]\s*|(?:Local|Global|Polymorphic|Monomorphic|Program)\s+)*"
    r"(?:Theorem|Lemma|Fact|Remark|Corollary|Proposition|Property|Example|Definition|Fixpoint|CoFixpoint)\s+"
    r"([\w']+)"
)
_REPLAYED = re.compile(
    r"(?:From\s.*\s)?(?:Require|Import|Export)\b|(?:Local\s+|Global\s+)?(?:Open|Close)\s+Scope\b", re.S
)
_SPACE = re.compile(r"\s+")


def sentences(text: str) -> list[str]:
    """The sentences, comments and surrounding white space removed; what follows the last full stop is the last one.

    Linear in the text. Comments nest and may hold strings; a string ends at a quotation mark that is not doubled.
    """
    found: list[str] = []
    current: list[str] = []
    depth, at, quoted = 0, 0, False
    for piece in _PIECE.finditer(text):
        word = piece.group()
        if quoted:
            quoted = word != '"'
        elif word == '"':
            quoted = True
        elif word == "(*":
            if not depth:
                current.append(text[at : piece.start()])
            depth += 1
            continue
        elif word == "*)":
            if depth:
                depth -= 1
                if not depth:
                    current.append(" ")
                    at = piece.end()
            continue
        elif word == "." and not depth:
            current.append(text[at : piece.end()])
            found.append("".join(current).strip())
            current, at = [], piece.end()
    if not depth:
        current.append(text[at:])
    rest = "".join(current).strip()
    return [*found, rest] if rest else found


def name_of(sentence: str) -> str | None:
    """The name that a sentence states or defines, if it is of that kind."""
    match = _THEOREM.match(sentence)
    return match.group(1) if match else None


def is_replayed(sentence: str) -> bool:
    """Whether a sentence speaks of this file alone (imports, scopes), so that every file needs it again."""
    return _REPLAYED.match(sentence) is not None


def plain(sentence: str) -> str:
    """A sentence with its white space made even, for comparison."""
    return _SPACE.sub(" ", sentence).strip()
