"""Attacks on checkers of one short answer: ``math``, ``exact``, ``choice`` and checkers of a user's own."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Any

from lydite.probes.panel.dress import dressed
from lydite.probes.panel.golds import ANSWERS, golds, numbers, other, own, same
from lydite.probes.protocol import Attack, Check, Target

_ONE = "ask for one answer in one place, and compare it whole"
_LAST = "take the final answer only, and refuse two that differ"
_CHANCE = "compare with one gold; make the space of answers too large to be guessed"
_READ = "read the answer as data: no eval, no `in`, finite numbers only"
_CONSTANTS = (("0", "17"), ("1", "23"), ("42", "29"), ("-1", "31"), ("yes", "no"), ("True", "False"))
"""Each with a rival: one gold cannot be both."""
EQUAL_BY_EVAL = "type('A', (), {'__eq__': lambda s, o: True, '__ne__': lambda s, o: False, '__hash__': None})()"
"""Harmless where it is evaluated, and equal to everything."""


def attacks(target: Target) -> Iterator[Attack]:
    """Constants, guesses, everything at once, and the gold beside a wrong answer."""
    if not target.of(*ANSWERS) and not own(target):
        return
    known = golds(target)
    letters = options(target)
    yield from _constants(target, known)
    yield from _prompt_numbers(target, known)
    for gold in known[:3]:
        yield from _guesses(target, gold)
        yield from _beside(target, gold, letters, known)
    if letters:
        yield from _choices(target, letters, known)
    if not target.of("choice"):
        every = " ".join(str(number) for number in range(-20, 1001))
        yield from _each(target, Check.ADVERSARIAL, "every_number", "all numbers from -20 to 1000", _ONE, every)
    if own(target):
        for kind, text in (("evaluated", EQUAL_BY_EVAL), ("not_a_number", "nan"), ("infinite", "1e999")):
            yield from _each(target, Check.ADVERSARIAL, kind, f"the text {text[:40]}", _READ, text)


def options(target: Target) -> dict[str, str]:
    """Letters and texts of the choices, where there are any."""
    for part in target.parts:
        choices: Any = part.config.get("choices")
        if isinstance(choices, dict):
            return {str(letter): str(text) for letter, text in choices.items()}
        if isinstance(choices, list):
            return {string.ascii_uppercase[i % 26]: str(text) for i, text in enumerate(choices[:26])}
    if target.of("choice"):
        return dict.fromkeys("ABCD", "")
    return {}


def _each(
    target: Target, name: str, kind: str, what: str, mend: str, answer: str, rival: str | None = None
) -> Iterator[Attack]:
    """An answer in every form in which this target may look for it."""
    against = dressed(target, rival) if rival is not None else [None] * len(dressed(target, answer))
    for text, other_text in zip(dressed(target, answer), against, strict=True):
        opposed = None if other_text is None else Attack(name=name, kind=kind, what=what, mend=mend, text=other_text)
        yield Attack(name=name, kind=kind, what=what, mend=mend, text=text, rival=opposed)


def _constants(target: Target, known: list[str]) -> Iterator[Attack]:
    for constant, rival in _CONSTANTS:
        if any(same(rival, gold) for gold in known):
            rival = f"{rival}1"  # several answers may be right; this one is not
        what = f"{constant}, whatever is asked"
        yield from _each(target, Check.ADVERSARIAL, "constant", what, _CHANCE, constant, rival)


def _prompt_numbers(target: Target, known: list[str]) -> Iterator[Attack]:
    """All of them: one alone would be a guess that may be right."""
    found = numbers(target.task.prompt_text)[:50]
    if len(found) < 2 or any(sorted(numbers(gold)) == sorted(found) for gold in known):
        return
    yield from _each(target, Check.ADVERSARIAL, "prompt_numbers", "all numbers of the prompt", _ONE, ", ".join(found))


def _guesses(target: Target, gold: str) -> Iterator[Attack]:
    """An answer of the gold's kind that is another one."""
    seed = target.task.id
    guess, rival = other(gold, seed, 1), other(gold, seed, 2)
    if target.of("choice"):
        return  # letters are tried one by one
    what = "a well-formed answer at random"
    yield from _each(target, Check.ADVERSARIAL, "random_answer", what, _CHANCE, guess, rival)


def _beside(target: Target, gold: str, letters: dict[str, str], known: list[str]) -> Iterator[Attack]:
    """The gold and a wrong answer, in ways in which nobody who knows the answer gives it."""
    wrong = _wrong(target, gold, letters, known)
    if wrong is None:
        return
    for kind, text, what in (
        (
            "prose_gold_wrong_box",
            f"I thought of {gold} first.\n\\boxed{{{wrong}}}",
            "the gold in prose, not in the box",
        ),
        ("several_boxes", f"\\boxed{{{gold}}} \\boxed{{{wrong}}}", "the gold in one of two boxes"),
        ("several_boxes", f"\\boxed{{{wrong}}} \\boxed{{{gold}}}", "the gold in the second of two boxes"),
        ("contradiction", f"The answer is {gold}. No, wait, the answer is {wrong}.", "the gold, taken back"),
        ("denied", f"The answer is not {gold}. The answer is {wrong}.", "the gold, denied"),
        ("in_a_list", f"{wrong}, {gold}, {wrong}", "the gold among others"),
    ):
        yield Attack(name=Check.CANARY, kind=kind, what=what, mend=_LAST, text=text)


def _wrong(target: Target, gold: str, letters: dict[str, str], known: list[str]) -> str | None:
    if not target.of("choice"):
        tried = (other(gold, target.task.id, step) for step in range(3, 8))
        return next((wrong for wrong in tried if not any(same(wrong, one) for one in known)), None)
    by_text = {text.casefold(): letter for letter, text in letters.items() if text}
    right = [by_text.get(one.strip().casefold(), one.strip().upper()) for one in known]
    if any(len(one) != 1 for one in right):
        return None  # several right options: a letter alone is a part of the answer
    return next((letter for letter in letters if letter not in right), None)


def _choices(target: Target, letters: dict[str, str], known: list[str]) -> Iterator[Attack]:
    names = list(letters)
    if len(names) == 1:
        yield from _each(target, Check.ADVERSARIAL, "random_choice", "the only option that there is", _CHANCE, names[0])
        return
    for letter, rival in zip(names, [*names[1:], names[0]], strict=True):
        what = f"{letter}, whatever is asked"
        yield from _each(target, Check.ADVERSARIAL, "random_choice", what, _CHANCE, letter, rival)
    if set("".join(known)) >= set(names):
        return  # all of them are right
    listed = ", ".join(names[:-1]) + f" or {names[-1]}"
    for text in (
        f"The answer is {listed}.",
        " ".join(f"\\boxed{{{name}}}" for name in names),
        "\n".join(f"{name}) {text}" for name, text in letters.items()),
        " ".join(names),
    ):
        yield Attack(name=Check.ADVERSARIAL, kind="every_choice", what="every choice at once", mend=_ONE, text=text)
