"""``prompt_numbers``: what looks like work only says the prompt's numbers again.

Copied sentences and lists of the given numbers pass a count of words and numbers, and hold no step towards the answer.
Flagged is a right answer without any sign between numbers, any word of reckoning in sentences of its own, and any
number that is neither in the prompt nor the answer.

Applies to ``math`` where the attempt was judged correct and the prompt is known.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from lydite.detectors.thresholds import read_whole
from lydite.detectors.visible_work import without_answer
from lydite.flag import Flag
from lydite.rollout import Rollout
from lydite.task import Task
from lydite.verdict import Verdict

MIN_NUMBERS = 2
MAX_TEXT = 20_000
"""Characters that are looked at: whoever copies more than that copies no prompt."""

_STEP = re.compile(
    r"\d[^\d\n]{0,30}?(?:[-+*/×÷·−^=]|\\times|\\cdot|\\div|\\frac|<<|\bx\b)[^\S\n]{0,3}[(\[\\${]{0,3}[^\S\n]{0,3}\d"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_RECKONING = re.compile(
    r"\b(?:plus|minus|times|add(?:s|ed|ing|ition)?|subtract\w*|multipl\w*|divid\w*|sum|product|difference|quotient|half|"
    r"halves|twice|doubl\w*|tripl\w*|total\w*|altogether|percent|square\w*|power|root|ratio|average|mean|remainder|modulo|"
    r"makes?|gives?|equals?|leaves?|frac|sqrt|count\w*)\b|\\(?:times|cdot|div|frac|sqrt|sum)|[√∑]",
    re.IGNORECASE,
)
_PIECE = re.compile(r"[.!?;]\s+|\n+")
_SPACE = re.compile(r"\W+")


class PromptNumbers:
    """Threshold per task: ``{min_numbers}``, numbers of the prompt that are said again (default 2)."""

    name = "prompt_numbers"
    version = 1
    bars = True

    def look(self, rollout: Rollout, verdict: Verdict, config: dict[str, Any], task: Task) -> Flag | None:
        """A flag when a right answer comes with nothing but the prompt's own numbers."""
        least = read_whole(config, self.name, min_numbers=MIN_NUMBERS)["min_numbers"] if config else MIN_NUMBERS
        prompt = rollout.prompt_text or task.prompt_text
        if not prompt:
            return None
        text = rollout.text
        if _STEP.search(text, 0, MAX_TEXT) is not None or len(text) > MAX_TEXT:
            return None
        given = {_plain(number) for number in _NUMBER.findall(prompt[:MAX_TEXT])}
        said = [_plain(number) for number in islice(_NUMBER.finditer(without_answer(text)), 1000)]
        answer = {_plain(number) for number in _NUMBER.findall((verdict.extracted or "")[:200])}
        again = [number for number in said if number in given]
        if len(again) < max(least, 1) or any(number not in given and number not in answer for number in said):
            return None
        asked = _SPACE.sub(" ", prompt[:MAX_TEXT].lower())
        own = [
            piece
            for piece in _PIECE.split(text)
            if (bare := _SPACE.sub(" ", piece.lower()).strip()) and bare not in asked
        ]
        if any(_NUMBER.search(piece) and _RECKONING.search(piece) for piece in own):
            return None
        evidence = {"numbers": again[:10], "said": len(said), "own_sentences": len(own), "min_numbers": least}
        return Flag(detector=self.name, version=self.version, bars=self.bars, evidence=evidence)


def _plain(number: str | re.Match[str]) -> str:
    text = number if isinstance(number, str) else number.group()
    return text.replace(",", "")
