"""The reward that a trainer recorded, and the verdict that it amounts to.

The rule: a recorded number becomes a score by ``(number - low) / (high - low)``, cut to [0, 1]; ``low`` and ``high``
are 0 and 1 unless they are given. A score within 1e-6 of an end is that end (trainers keep 32 bits). 1 is ``correct``,
0 is ``incorrect``, between is ``partial``; where no number was recorded the verdict is ``invalid``, with reason
``no_reward``. The verifier is ``imported@1`` and the detail says that Lydite judged nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from lydite.dumps.attempts import Attempt
from lydite.errors import InputError
from lydite.verdict import Part, Verdict
from lydite.verifiers.registry import RECORDED

VERIFIER = f"{RECORDED}@1"
DETAIL = "as the trainer recorded it; not judged by Lydite"
_END = 1e-6


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """Which numbers are rewards.

    Attributes:
        rewards: name and weight of each, at least one. The first is what the verdict is made of, the weighted sum is
            what the policy was trained on.
        low, high: what ``incorrect`` and ``correct`` are worth.
    """

    rewards: tuple[tuple[str, float], ...]
    low: float = 0.0
    high: float = 1.0

    @property
    def scheme(self) -> str:
        """In words, as it goes into every record."""
        return "recorded:" + "+".join(f"{name}*{weight:g}" for name, weight in self.rewards)

    def reward(self, attempt: Attempt) -> float | None:
        """The scalar that training saw: the weighted sum of what was recorded.

        Raises:
            InputError: a name is not in the row, or its number is infinite.
        """
        told = [(self._number(attempt, name), weight) for name, weight in self.rewards]
        known = [number * weight for number, weight in told if number is not None]
        return math.fsum(known) if known else None

    def score(self, number: float) -> float:
        """The score of a recorded number."""
        score = min(1.0, max(0.0, (number - self.low) / (self.high - self.low)))
        return round(score) * 1.0 if min(score, 1 - score) < _END else score

    def verdict(self, attempt: Attempt) -> Verdict:
        """What was recorded, as a verdict. Errors as of ``reward``."""
        parts = tuple(self._part(attempt, name) for name, _ in self.rewards) if len(self.rewards) > 1 else ()
        number = self._number(attempt, self.rewards[0][0])
        if number is None:
            return Verdict.invalid("no_reward", VERIFIER, parts=parts, detail="the trainer recorded no reward")
        return Verdict.of(self.score(number), "recorded", VERIFIER, parts=parts, detail=DETAIL)

    def _part(self, attempt: Attempt, name: str) -> Part:
        number = self._number(attempt, name)
        if number is None:
            return Part(name, None, "no_reward")
        return Part(name, self.score(number), "recorded", f"{number:g}")

    def _number(self, attempt: Attempt, name: str) -> float | None:
        if name not in attempt.numbers:
            known = ", ".join(attempt.numbers) or "there is none"
            raise attempt.wrong("no number of this name is in the row", name, f"numbers that are: {known}")
        number = attempt.numbers[name]
        if number is not None and math.isinf(number):
            raise attempt.wrong("is infinite", name)
        return number


def choose(names: Sequence[str], asked: Sequence[str], low: float, high: float, *, default: str = "") -> Recorded:
    """Which numbers of a dump are rewards.

    Args:
        names: of the numbers in its first row.
        asked: ``NAME`` or ``NAME=WEIGHT``, the verdict's first; empty where the dump leaves no choice.
        low, high: see ``Recorded``.
        default: the name that is meant where none is asked for.

    Raises:
        InputError: none or several could be meant, a name is not there, a weight is no number, or low is not below
            high.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"{low:g} is not below {high:g}", field="--range", remedy="LOW..HIGH, such as -1..1")
    if not asked:
        asked = [default] if default in names else list(names)
        if len(asked) != 1:
            known = ", ".join(names) or "there are none"
            raise InputError(
                "which number says whether an attempt is correct?",
                field="--reward",
                remedy=f"name it, and others that training added as NAME=WEIGHT; numbers in the dump: {known}",
            )
        return Recorded(rewards=((asked[0], 1.0),), low=low, high=high)
    rewards = tuple(_weighted(one, names) for one in asked)
    if len({name for name, _ in rewards}) < len(rewards):
        raise InputError("a name stands twice", field="--reward", remedy="give each once")
    return Recorded(rewards=rewards, low=low, high=high)


def _weighted(asked: str, names: Sequence[str]) -> tuple[str, float]:
    if asked in names:
        return asked, 1.0
    name, equals, weight = asked.rpartition("=")
    try:
        number = float(weight) if equals else math.nan
    except ValueError:
        number = math.nan
    if name not in names or not math.isfinite(number):
        remedy = f"NAME or NAME=WEIGHT of {', '.join(names) or 'nothing: the dump has no numbers'}"
        raise InputError(f"the dump has no number {asked!r:.80}", field="--reward", remedy=remedy)
    return name, number
