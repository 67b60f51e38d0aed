"""What a target takes for right, as far as its configuration says so, and values that are surely something else."""

from __future__ import annotations

import random
import re
from fractions import Fraction

from lydite.probes.protocol import Target, leaves
from lydite.tasksets.checkers import CHECKERS
from lydite.verifiers.text import boxes

ANSWERS = ("math", "exact", "choice")
"""Checkers of one short answer."""
LONGEST = 400
"""Characters of a gold; what is longer is a text or a program, not a short answer."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def own(target: Target) -> bool:
    """Whether a checker is none of the built-in ones: nothing is known of what it takes."""
    return any(kind not in CHECKERS for kind in target.kinds)


def golds(target: Target) -> list[str]:
    """Right answers that the checker names. Of a checker of the user's own: every text and number of its configuration,
    else the reference solution."""
    found: list[str] = []
    for part in target.parts:
        if part.type in ANSWERS:
            found += leaves(part.config.get("answer"))
        elif part.type not in CHECKERS:
            found += leaves(part.config)
    if not found and (text := target.solution_text) is not None:
        found += [box.content for box in boxes(text) if box.content.strip()][-1:] or [text.strip()]
    return [gold for gold in dict.fromkeys(found) if gold.strip() and len(gold) <= LONGEST]


def same(one: str, two: str) -> bool:
    """Whether two answers are the same by their letters and digits, or by their value."""
    values = value(one), value(two)
    if None not in values:
        return values[0] == values[1]
    return re.sub(r"[\W_]", "", one).casefold() == re.sub(r"[\W_]", "", two).casefold()


def numbers(text: str) -> list[str]:
    """Numbers that stand in a text, each once, in order."""
    return list(dict.fromkeys(_NUMBER.findall(text)))


def value(text: str) -> Fraction | None:
    """A plain number, read exactly; ``None`` for anything else."""
    try:
        return Fraction(text.strip().replace(",", ""))
    except (ValueError, ZeroDivisionError):
        return None


def other(gold: str, seed: str, step: int = 1) -> str:
    """A well-formed answer of the gold's kind that is another one, far from it: its first number changed, else a word.

    Deterministic in gold, seed and step; different steps give different answers.
    """
    draw = random.Random(f"{seed}/{gold}").randint(1, 7) * 8 + step

    ordered = re.search(r"[<>≤≥\[]|\\[lg]e", gold)  # bounds keep their order, or nothing would lie between them

    def changed(match: re.Match[str]) -> str:
        number = match.group()
        places = len(number.partition(".")[2])
        new = Fraction(number) + draw if ordered else 3 * abs(Fraction(number)) + draw
        return str(new) if not places else f"{float(new):.{places}f}"

    different, count = _NUMBER.subn(changed, gold, count=0 if ordered else 1)
    if count:
        return different
    if re.fullmatch(r"\W*[A-Za-z]\W*", gold) and not gold.strip().islower():
        letter = re.sub(r"\W", "", gold).upper()
        return gold.replace(re.sub(r"\W", "", gold), chr((ord(letter) - 65 + step) % 26 + 65))
    return ("quartz", "marble", "granite")[(draw + step) % 3] if step < 3 else f"quartz{step}"
