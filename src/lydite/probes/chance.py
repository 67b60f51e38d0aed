"""How far guessing goes: the chance level of tasks with few possible answers.

Nothing is wrong with such a checker, and no attack is: whoever answers ``B`` to four choices is right once in four
times. But a policy is paid for it, groups reward the guess, and a pass rate means little below it. So it is told.
"""

from __future__ import annotations

from lydite.probes.protocol import Check, Finding, Level, Target
from lydite.task import Checker

WORTH_TELLING = 0.2
"""Chance level from which it is a warning."""
LETTERS = 4
"""Choices that are assumed where a task names none: nearly all sets have four."""
_TWO = frozenset({"yes", "no", "true", "false", "right", "wrong", "0", "1"})
_MEND = "more choices, or a part of the answer that cannot be guessed; else compare pass rates with this level"


def chance(checker: Checker) -> tuple[float, str] | None:
    """The chance level in [0, 1] and what is guessed, where the possible answers can be counted."""
    config = checker.config
    if checker.type == "choice":
        choices = config.get("choices")
        count = len(choices) if isinstance(choices, list | dict) and choices else LETTERS
        return 1 / count, f"one of {count} choices"
    if checker.type in ("exact", "math"):
        golds = config.get("answer")
        every = golds if isinstance(golds, list) else [golds]
        if every and all(str(gold).strip().casefold() in _TWO - {"0", "1"} for gold in every):
            return 0.5, "one of two words"
    if checker.type == "code":
        tests = config.get("tests") or []
        values = [test.get("expected") for test in tests if isinstance(test, dict) and "expected" in test]
        if values and len(values) == len(tests) and all(isinstance(value, bool) for value in values):
            alone = len(set(values)) == 1
            return (1.0, "one truth in all tests") if alone else (0.5 ** len(values), f"{len(values)} truths")
    return None


def finding(target: Target) -> Finding | None:
    """What is told of a task. Of a composite, the part that is hardest to guess counts: all have to be."""
    found = [chance(part) for part in target.parts]
    if not found or any(level is None for level in found):
        return None
    level, what = min((one for one in found if one is not None), key=lambda one: one[0])
    return Finding(
        task=target.task.id,
        check=Check.GAMEABILITY,
        kind="chance_level",
        level=Level.WARNING if level >= WORTH_TELLING else Level.PASSED,
        share=level,
        told=f"a guess is right at a rate of {level:.0%}: {what}" if level >= WORTH_TELLING else "",
        what="a guess",
        mend=_MEND,
    )
