"""What a rescoring changed: verdicts before and after, and how they are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec

from lydite.codec import canonical
from lydite.ledger.contents import Contents
from lydite.verdict import Verdict


class Way(StrEnum):
    """Which way a verdict went."""

    GAINED = "gained"  # correct now, and was not
    LOST = "lost"  # was correct, and is not any more
    MOVED = "moved"  # another outcome or score, correct neither before nor now
    REWORDED = "reworded"  # the same outcome and score for another reason, another extracted answer, other parts
    SAME = "same"


class Flip(msgspec.Struct, frozen=True, kw_only=True):
    """One sample under both verdicts.

    Attributes:
        id: of the rollout.
        task: id of its task.
        way: which way it went.
        before, after: the verdicts.
        of, seq: lines of their records.
    """

    id: str
    task: str
    way: Way
    before: Verdict
    after: Verdict
    of: int
    seq: int


class FlipCounts(msgspec.Struct, kw_only=True):
    """Counts over a rescoring.

    Attributes:
        records: samples judged again.
        ways: how many went which way.
        outcomes: how many went from one outcome to another, as ``incorrect -> correct``.
        reasons: the same of outcome and reason, as ``incorrect:wrong_value -> correct:equal``, of flips only.
        tasks: per task with flips: how many went which way.
    """

    records: int = 0
    ways: dict[str, int] = msgspec.field(default_factory=lambda: {way.value: 0 for way in Way})
    outcomes: dict[str, int] = {}
    reasons: dict[str, int] = {}
    tasks: dict[str, dict[str, int]] = {}

    @property
    def flipped(self) -> int:
        """Samples with another outcome or score."""
        return self.ways[Way.GAINED] + self.ways[Way.LOST] + self.ways[Way.MOVED]


FLIPPED = (Way.GAINED, Way.LOST, Way.MOVED)


def flips(run: Contents, name: str) -> Iterator[Flip]:
    """Every sample of a rescoring under both verdicts, in the order of the ledger, streaming.

    Raises:
        InputError: a line is damaged.
    """
    for old, new in run.rescored(name):
        before, after = old.record.verdict, new.record.verdict
        yield Flip(
            id=old.rollout.id,
            task=old.rollout.task,
            way=_way(before, after),
            before=before,
            after=after,
            of=old.seq,
            seq=new.seq,
        )


def count(found: Iterable[Flip]) -> FlipCounts:
    """Count flips in one pass."""
    counts = FlipCounts()
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for flip in found:
        counts.records += 1
        counts.ways[flip.way] += 1
        outcomes[f"{flip.before.outcome} -> {flip.after.outcome}"] += 1
        if flip.way in FLIPPED:
            reasons[f"{_told(flip.before)} -> {_told(flip.after)}"] += 1
            task = counts.tasks.setdefault(flip.task, dict.fromkeys(map(str, FLIPPED), 0))
            task[flip.way] += 1
    counts.outcomes, counts.reasons = dict(outcomes.most_common()), dict(reasons.most_common())
    return counts


def _told(verdict: Verdict) -> str:
    return f"{verdict.outcome}:{verdict.reason}"


def _way(before: Verdict, after: Verdict) -> Way:
    if before.correct != after.correct:
        return Way.GAINED if after.correct else Way.LOST
    if (before.outcome, before.score) != (after.outcome, after.score):
        return Way.MOVED
    plain = msgspec.structs.replace(before, verifier=after.verifier)
    return Way.SAME if canonical(plain) == canonical(after) else Way.REWORDED
