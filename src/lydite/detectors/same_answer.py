"""``same_answer_no_work``: attempts at one task give the same answer, and none of them shows work.

One guess without work may be luck. Where at least three, and at least half of a group, agree on an answer that none of
them derives, the answer comes from somewhere: memory, a leak, an attempt that left it behind for the others; or the
policy has collapsed to a guess.

Applies to ``math`` and ``choice``. What counts as work is what ``no_visible_work`` says, with the task's thresholds for
it; a task that switches that one off has this one off too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from lydite.detectors.answers import value_of
from lydite.detectors.kinds import kinds
from lydite.detectors.thresholds import read_whole
from lydite.detectors.visible_work import shows_no_work
from lydite.flag import Flag
from lydite.rollout import Rollout
from lydite.task import Task
from lydite.verdict import Outcome, Verdict

MIN_SAME = 3
MIN_PERCENT = 50


class SameAnswerNoWork:
    """Thresholds per task: ``{min_same}`` attempts (default 3), ``{min_percent}`` of the group (default 50)."""

    name = "same_answer_no_work"
    version = 1
    bars = True

    def look(
        self, rollouts: Sequence[Rollout], verdicts: Sequence[Verdict], config: dict[str, Any], task: Task
    ) -> list[Flag | None]:
        """Flags for the attempts that share an answer without work."""
        limits = read_whole(config, self.name, min_same=MIN_SAME, min_percent=MIN_PERCENT)
        flags: list[Flag | None] = [None] * len(rollouts)
        settings = task.metadata.get("flags") or {}
        work = settings.get("no_visible_work", {}) if isinstance(settings, dict) else {}
        if not isinstance(work, dict) or len(rollouts) < limits["min_same"]:
            return flags
        same: dict[str, list[int]] = defaultdict(list)
        graded = sum(verdict.outcome is not Outcome.INVALID for verdict in verdicts)
        least = max(limits["min_same"], 2, -(-limits["min_percent"] * graded // 100))
        for at, verdict in enumerate(verdicts):
            if verdict.extracted is not None and (judged := kinds(verdict)) and judged <= _KINDS:
                same[value_of(verdict.extracted)].append(at)
        for answer, alike in same.items():
            members = _without_work(alike, least, rollouts, verdicts, work)
            if not members:
                continue
            evidence = {"answer": answer[:80], "same": len(members), "group": graded, **limits}
            for at in members:
                flags[at] = Flag(detector=self.name, version=self.version, bars=self.bars, evidence=evidence)
        return flags


def _without_work(
    alike: list[int], least: int, rollouts: Sequence[Rollout], verdicts: Sequence[Verdict], work: dict[str, Any]
) -> list[int]:
    """Those that show no work, where there are enough of them; whoever shows some early ends the look."""
    found: list[int] = []
    for done, at in enumerate(alike):
        if len(found) + len(alike) - done < least:
            return []
        if shows_no_work(rollouts[at].text, kinds(verdicts[at]), work, verdicts[at].extracted):
            found.append(at)
    return found if len(found) >= least else []


_KINDS = frozenset(["math", "choice", "steps", "format"])
