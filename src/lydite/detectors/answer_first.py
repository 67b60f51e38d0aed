"""``answer_first``: the answer stands before any work, and what follows only speaks for it.

Such a text shows nothing of how the answer was found. It does not bar: some people write so, and servers may keep the
thinking that came before to themselves.

Applies to ``math`` and ``choice`` where the attempt was judged correct and nothing was thought in the text before.
"""

from __future__ import annotations

import re
from typing import Any

from lydite.detectors.thresholds import read_whole
from lydite.flag import Flag
from lydite.rollout import Rollout
from lydite.verdict import Verdict

MAX_WORDS = 5
MIN_AFTER = 20
_WINDOW = 200
"""Characters in which an early answer begins."""
_EARLY = re.compile(
    r"(?P<before>[^\d]*?)(?:\\(?:boxed|fbox)\s?\{|<answer>|^[ \t]*####|\b[Aa]nswer(?:\s+is|\s*:)\s*[*$\s(]{0,4}"
    r"(?:[-+−]?\$?\d[\d.,/]{0,30}%?|[A-J])[*$)]{0,3}\s{0,2}(?:[.\n!]|\\\)|$))",
    re.MULTILINE,
)
_WORD = re.compile(r"\w+")


class AnswerFirst:
    """Thresholds per task: ``{max_words}`` before the answer (default 5), ``{min_after}`` words behind it (20)."""

    name = "answer_first"
    version = 1
    bars = False

    def look(self, rollout: Rollout, verdict: Verdict, config: dict[str, Any]) -> Flag | None:
        """A flag when an answer stands within the first words, with no number before it, and text behind it."""
        most, least = MAX_WORDS, MIN_AFTER
        if config:
            values = read_whole(config, self.name, max_words=MAX_WORDS, min_after=MIN_AFTER)
            most, least = values["max_words"], values["min_after"]
        text = rollout.text
        head = text[: _WINDOW + 10 * most]
        if "box" not in head and "nswer" not in head and "####" not in head:
            return None
        match = _EARLY.match(head)
        if match is None or "think" in match["before"]:
            return None
        before = len(_WORD.findall(match["before"]))
        if before > most:
            return None
        after = 0
        for _ in _WORD.finditer(text, match.end()):
            after += 1
            if after >= max(least, 1):
                break
        if after < least:
            return None
        evidence = {"words_before": before, "max_words": most, "begins": " ".join(text[:80].split())}
        return Flag(detector=self.name, version=self.version, bars=self.bars, evidence=evidence)
