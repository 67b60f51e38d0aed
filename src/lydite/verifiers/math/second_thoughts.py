r"""What the words behind an answer make of it: they reject it, or state another one in its place.

| kind | examples behind "the answer is 3" |
|---|---|
| rejects what was said | "this cannot be", "it must be rejected", "which is not valid", "I take it back" |
| rejects a value by name | "x = 3 is not valid", "3 does not satisfy the equation", "so we discard 3" |
| states another value | "so the true count is 12", "Edit: 16", "it should be 16", "but ..., making it 20" |
| states that there is none | "Hence there is no solution." |

Values are handed on, to be compared with the answer: "Check: 4 + 2 = 6", "the root -2 is extraneous" and "the correct
value is 3.0" change nothing. "It" is the value named last in the sentence, or the answer where none is named. What
would be if things were different is not looked at. Every look is of bounded length.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from lydite.verifiers.math import rejections
from lydite.verifiers.math.alternatives import offered
from lydite.verifiers.math.revisions import NO_SOLUTION, revised
from lydite.verifiers.text import holds

__all__ = ["NOTHING", "NO_SOLUTION", "SecondThoughts", "behind"]

MAX_TAIL = 2000
"""Characters behind an answer that are looked at."""
MAX_VALUES = 8


class SecondThoughts(NamedTuple):
    """What stands behind an answer.

    Attributes:
        back: the answer is rejected, whatever it is.
        rejected: values that are rejected by name.
        stated: the value that is said to be right, the last of them.
    """

    back: bool = False
    rejected: tuple[str, ...] = ()
    stated: str | None = None


NOTHING = SecondThoughts()

_RETRACTS = re.compile(
    r"\b(?:(?:strike|scratch) (?:that|this|it)|(?:just |only )?(?:kidding|joking)|jk|my (?:bad|mistake|apologies)"
    r"|i (?:take"
    r"|took) (?:that|it|this)"
    r" back|i (?:retract|withdraw|stand corrected|misspoke|mistyped|messed up|meant to)|erratum|not so fast|never ?mind"
    r"|forget (?:that|it|this|what i)|that was (?:a joke|a typo|premature|nonsense|rubbish)|typo"
    r"|please (?:ignore|disregard|discard)|disregard|nope|(?:no longer|not (?:at all |really )?) ?(?:convinced"
    r"|believe|confident)|i doubt (?:it|this|that)|i changed my mind)\b",
    re.IGNORECASE,
)
_RETRACTING = (
    "strike", "scratch", "kidding", "joking", "jk", "my ", "i take", "i took", "retract", "withdraw", "corrected",
    "misspoke", "mistyped", "messed", "meant", "erratum", "so fast", "mind", "forget", "that was", "typo", "please",
    "disregard", "nope", "convinced", "believe", "confident", "doubt", "changed",
)  # fmt: skip
_SLIPS = re.compile(
    r"\b(?:but|however|oh|oops|wait|unfortunately|though|yet|actually)\b[^.!?\n]{0,40}\b(?:i|we) (?:have |had |also )?"
    r"(?:double[- ]?counted|over-?counted|under-?counted|inverted|mixed up|swapped|misplaced|overlooked|omitted"
    r"|neglected"
    r"|dropped|missed|misapplied|misused|mistakenly|forgot|miscounted|miscopied|confused|should have|did not|didn't)\b",
    re.IGNORECASE,
)
_SLIPPING = (
    "but", "however", "oh", "oops", "wait", "fortunately", "though", "yet", "actually",
)  # fmt: skip


def behind(tail: str, at_once: bool = True) -> SecondThoughts:
    """What a text behind an answer makes of it.

    Args:
        tail: what follows the answer.
        at_once: it follows right behind: "is not valid" says it of the answer.
    """
    tail = tail[:MAX_TAIL].replace("’", "'")
    another = offered(tail)
    if not any(map(str.isalpha, tail)):
        return NOTHING if another is None else SecondThoughts(stated=another)
    back = holds(tail, _RETRACTING) and _RETRACTS.search(tail) is not None
    back = back or (holds(tail, _SLIPPING) and _SLIPS.search(tail) is not None)
    rejected = rejections.rejected(tail, at_once)
    values = tuple(value for value in rejected if value is not None)[:MAX_VALUES]
    return SecondThoughts(back or None in rejected, values, revised(tail) or another)
