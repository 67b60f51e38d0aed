"""What stands behind the letter of a choice: its option's text, or a second answer."""

from __future__ import annotations

import re

MAX_OPTION = 100
_MORE = re.compile(
    r"(?i:or|and|maybe|perhaps|possibly|probably|nor|otherwise|else|alternatively|vs|versus|if not|but|isn't|unless"
    r"|not(?=\s*$)|(?:is |was )?(?:not (?:correct|right|the answer)|incorrect|wrong(?= |,|$))|is not"
    r"|lor|vee|wedge|land)(?![A-Za-z])"
    r"|[|;,/&?]|\\(?:lor|vee|wedge|land|mid|vert)(?![A-Za-z])|\\&"
    r"|[(\[]?[A-J][)\].]{0,2}$"
)
_LABEL = re.compile(r"(?<![A-Za-z\d)])(?:[(\[][A-J][)\]]|[A-J][).:](?=\s|$))")
_OPEN = re.compile(
    r"\bor(?! (?:more|fewer|less|greater|higher|lower|above|below|later|earlier)\b)(?![A-Za-z])"
    r"|\b(?:maybe|perhaps|possibly|probably|otherwise|alternatively|not sure|guess)\b|\?",
    re.IGNORECASE,
)


def offers_more(rest: str) -> bool:
    """Whether the words behind a choice's letter name another choice or begin no option: "or (B)", "maybe", "and C"."""
    rest = rest.strip()
    return _MORE.match(rest) is not None or _LABEL.search(rest) is not None


def may_offer_more(rest: str) -> bool:
    """Whether the words may be two answers, unless they are what the option says: "3 or 4"."""
    return _OPEN.search(rest) is not None


def is_option(letter: str, rest: str, prompt: str) -> bool:
    """Whether a prompt has an option of this letter and text, white space and punctuation apart."""
    said = [char for char in rest if char.isalnum()]
    if not 0 < len(said) <= MAX_OPTION:
        return False
    spread = r"[^\w\n]{0,9}".join(said)
    option = rf"(?<![A-Za-z]){letter}[).:\]][^\w\n]{{0,9}}{spread}(?![^\W_])"
    return re.search(option, prompt, re.IGNORECASE) is not None
