"""What came of a run's flags: how many per detector, what people said of them, how often a detector is right.

Precision is confirmed / (confirmed + dismissed) with Wilson's interval. It speaks of the flags that were reviewed: a
fair estimate for all of them where these are a fair sample, as the order in which ``suspicions`` gives them is (by
hash)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from lydite.codec import sha256
from lydite.evaluation.intervals import wilson
from lydite.flag import Flag
from lydite.ledger.reviews import Decision, Review, Reviews

if TYPE_CHECKING:
    from lydite.ledger import Row
    from lydite.ledger.contents import Contents


class Suspicion(msgspec.Struct, frozen=True):
    """A flag, the attempt that it stands at, and what was decided."""

    row: Row
    flag: Flag
    review: Review | None


class DetectorSummary(msgspec.Struct, kw_only=True):
    """What came of one version of a detector.

    Attributes:
        flags: attempts that it flagged; ``correct`` of them were judged correct.
        bars: how many of its flags keep an attempt from being chosen, reviews taken into account.
        confirmed, dismissed: by people; the rest is open.
        precision: of the reviewed ones, with its 95 % interval; ``None`` where none was reviewed.
    """

    detector: str
    version: int
    flags: int = 0
    correct: int = 0
    bars: int = 0
    confirmed: int = 0
    dismissed: int = 0
    precision: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def open(self) -> int:
        return self.flags - self.confirmed - self.dismissed


def suspicions(run: Contents, reviews: Reviews, detector: str | None = None) -> list[Suspicion]:
    """The flags of a run, of one detector or of all, in an order whose beginning is a fair sample: by hash of what they
    stand at. Held in memory: flags are few."""
    found = [
        Suspicion(row, flag, reviews.of(row.rollout.id, flag))
        for row in run.rows()
        for flag in row.record.flags
        if detector is None or flag.detector == detector
    ]
    return sorted(found, key=lambda one: sha256(f"{one.row.rollout.id}:{one.flag.detector}".encode("utf-8", "replace")))


def summarise_flags(runs: Iterable[tuple[Contents, Reviews]]) -> list[DetectorSummary]:
    """Counts per detector and version over runs, by name."""
    found: dict[tuple[str, int], DetectorSummary] = {}
    for run, reviews in runs:
        for row in run.rows():
            for flag in row.record.flags:
                _count(found, row, flag, reviews.of(row.rollout.id, flag))
    for one in found.values():
        reviewed = one.confirmed + one.dismissed
        if reviewed:
            bounds = wilson(one.confirmed, reviewed)
            one.precision, one.low, one.high = one.confirmed / reviewed, bounds.low, bounds.high
    return [found[key] for key in sorted(found)]


def _count(found: dict[tuple[str, int], DetectorSummary], row: Row, flag: Flag, review: Review | None) -> None:
    key = flag.detector, flag.version
    one = found.setdefault(key, DetectorSummary(detector=flag.detector, version=flag.version))
    one.flags += 1
    one.correct += row.record.verdict.correct
    if review is None:
        one.bars += flag.bars
    elif review.decision is Decision.CONFIRMED:
        one.confirmed += 1
        one.bars += 1
    else:
        one.dismissed += 1


def open_ones(found: Iterable[Suspicion]) -> Iterator[Suspicion]:
    """Those that nobody has decided on."""
    return (one for one in found if one.review is None)
