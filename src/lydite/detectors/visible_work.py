"""``no_visible_work``: a correct answer that shows no work.

Two equations that are written out outside of the answer (``3 * 5 = 15``), one of which comes to it, are work too,
however few words go with them.

The cheapest way to earn a reward without learning to solve anything is to write the answer alone: guessed, memorised,
or copied from a leak. Such a sample stays correct; it is flagged, and barred from becoming a preferred example.

Applies to ``correct`` verdicts of ``math`` (words and numbers are counted) and ``choice`` (words alone: the work of a
choice question need not have numbers in it), alone or in a composite with checkers that leave room for work. Not to
``exact``, where the whole completion has to be the answer.
"""

from __future__ import annotations

import re
from typing import Any

from lydite.detectors.kinds import kinds
from lydite.detectors.thresholds import read_whole
from lydite.flag import Flag
from lydite.rollout import Rollout
from lydite.verdict import Verdict

MIN_WORDS = 20
MIN_NUMBERS = 2
MIN_STEPS = 2

# The answer itself is not work. Boxes nest at most twice in this scan, which is a count, not a parser.
_ANSWER = re.compile(
    r"\\(?:boxed|fbox)\s?\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|<answer>[^<]*</answer>|^[ \t]*####[^\n]*",
    re.MULTILINE,
)
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+(?:['’.,][^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_ENOUGH_WORDS = re.compile(rf"(?:[\W_]*+[^\W_]++(?:['’.,][^\W_]++)*+){{{MIN_WORDS}}}")
_ENOUGH_NUMBERS = re.compile(rf"(?:\D*+\d++(?:[.,]\d++)*+){{{MIN_NUMBERS}}}")
# What an equation comes to; the annotations of GSM8K (<<3*5=15>>15) may stand before that.
_COMES_TO = re.compile(r"=\s{0,3}(?:<<[^>\n]{0,80}>>)?[$]?(-?\d[\d.,]{0,40})")
_PLAIN_NUMBER = re.compile(r"[$]?(-?\d[\d,]{0,40}(?:\.\d{1,40})?)")
_DIGIT = re.compile(r"\d")
_OPERATION = re.compile(r"[-+*/×÷x·−(]|\\times|\\div|\\cdot")
_WINDOW = 80
"""Characters before an equals sign in which the operation stands."""
_MARKS = ("\\boxed", "\\fbox", "<answer>", "####")
_START = 1000
"""Characters in which most work shows itself."""


class NoVisibleWork:
    """Thresholds per task: ``metadata.flags.no_visible_work = {min_words, min_numbers, min_steps}``; 0 switches one off
    (``min_steps``: equations then make up for nothing)."""

    name = "no_visible_work"
    version = 3
    bars = True

    def look(self, rollout: Rollout, verdict: Verdict, config: dict[str, Any]) -> Flag | None:
        """A flag when a correct answer has fewer words or numbers outside of the answer than the thresholds say.

        Raises:
            InputError: a threshold that is unknown, or not a whole number of at least 0.
        """
        if not verdict.correct:
            return None
        judged = kinds(verdict)
        if not judged & {"math", "choice"} or not judged <= {"math", "choice", "steps", "format"}:
            return None
        min_words, min_numbers, min_steps = _thresholds(config, MIN_NUMBERS if "math" in judged else 0)
        said = rollout.text
        end = _first_answer(said)
        if min_words <= MIN_WORDS and min_numbers <= MIN_NUMBERS and _shows_work(said, end):
            return None  # what stands behind could only add to that
        text = _ANSWER.sub(" ", said)
        words, numbers = _count(_WORD, text, min_words), _count(_NUMBER, text, min_numbers)
        if (words >= min_words and numbers >= min_numbers) or _steps(text, min_steps, verdict.extracted):
            return None
        evidence = {"words": words, "numbers": numbers, "min_words": min_words, "min_numbers": min_numbers}
        return Flag(detector=self.name, version=self.version, bars=self.bars, evidence=evidence)


def without_answer(text: str) -> str:
    """A text without what it marks as its answer."""
    return _ANSWER.sub(" ", text)


def shows_no_work(text: str, judged: frozenset[str], config: dict[str, Any], answer: str | None = None) -> bool:
    """Whether a text has fewer words or numbers outside of the answer than the thresholds say, whatever was said of it;
    ``answer`` as the verdict has it.

    Raises:
        InputError: as ``NoVisibleWork.look``.
    """
    min_words, min_numbers, min_steps = _thresholds(config, MIN_NUMBERS if "math" in judged else 0)
    if min_words <= MIN_WORDS and min_numbers <= MIN_NUMBERS and _shows_work(text, _first_answer(text)):
        return False
    rest = without_answer(text)
    few = _count(_WORD, rest, min_words) < min_words or _count(_NUMBER, rest, min_numbers) < min_numbers
    return few and not _steps(rest, min_steps, answer)


def _steps(text: str, least: int, answer: str | None) -> bool:
    """Whether so many different equations stand in a text, one of which comes to the answer where that is a number."""
    if not least or "=" not in text:
        return False
    number = _PLAIN_NUMBER.fullmatch((answer or "").strip())
    wanted = number[1].replace(",", "") if number is not None else None
    seen: set[str] = set()
    after = 0
    for match in _COMES_TO.finditer(text):
        place = match.start()
        start = max(after, place - _WINDOW, text.rfind("\n", max(0, place - _WINDOW), place) + 1)
        after = place + 1
        digit = _DIGIT.search(text, start, place)
        sign = _OPERATION.search(text, digit.end(), place) if digit is not None else None
        if digit is None or sign is None or _DIGIT.search(text, sign.end(), place) is None:
            continue
        seen.add(text[digit.start() : match.end()])
        if wanted is not None and match[1].replace(",", "").rstrip(".") == wanted:
            wanted = None
        if len(seen) >= least and wanted is None:
            return True
    return False


def _first_answer(text: str) -> int:
    """Where the first thing stands that may be an answer, or where most work has shown itself."""
    end = _START
    for mark in _MARKS:
        place = text.find(mark, 0, end + len(mark))
        end = place if 0 <= place < end else end
    return end


def _shows_work(text: str, end: int) -> bool:
    """Whether words and numbers enough stand before a place. Characters that are words count as one in a row."""
    return _ENOUGH_NUMBERS.match(text, 0, end) is not None and _ENOUGH_WORDS.match(text, 0, end) is not None


def _count(pattern: re.Pattern[str], text: str, enough: int) -> int:
    """Matches, counted no further than it matters (at least to 1000, so that the evidence says something)."""
    count = 0
    for _ in pattern.finditer(text):
        count += 1
        if count >= enough:
            break
    return count


def _thresholds(config: dict[str, Any], min_numbers: int) -> tuple[int, int, int]:
    if not config:
        return MIN_WORDS, min_numbers, MIN_STEPS
    found = read_whole(config, "no_visible_work", min_words=MIN_WORDS, min_numbers=min_numbers, min_steps=MIN_STEPS)
    return found["min_words"], found["min_numbers"], found["min_steps"]
