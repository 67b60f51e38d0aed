"""What people say of a run's flags: ``flags-review.jsonl``, beside the ledger and no part of it.

One line a decision, in the order in which they were made, synced before anything is told of it; nothing is ever
changed, the last decision on a flag counts. A process that is killed while it writes leaves at most a part of a line,
which is left out when the file is read. Several may review at once.

A decision is about one flag: the attempt, the detector and its version. Dismissed flags bar nothing any more, confirmed
ones bar whatever their detector does; what else a run says stays as it was.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path

import msgspec

from lydite.codec import canonical
from lydite.errors import InputError
from lydite.flag import Flag
from lydite.ledger.contents import Contents
from lydite.ledger.files import open_regular, storage, sync_folder, write_all
from lydite.ledger.record import Row

FILE = "flags-review.jsonl"
MAX_NOTE = 2000
"""Characters of a note."""

Key = tuple[str, str, int]
"""Of a flag: id of the rollout, detector, version."""


class Decision(StrEnum):
    """What a person says of a flag."""

    CONFIRMED = "confirmed"  # it is what the detector took it for
    DISMISSED = "dismissed"  # it is not: honest work, or of no account
    WITHDRAWN = "withdrawn"  # no decision after all


class Review(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One decision.

    Attributes:
        rollout: id of the attempt.
        detector, version: whose flag.
        decision: what was said.
        time: seconds since the epoch.
        note: why, in a person's words.
    """

    rollout: str
    detector: str
    version: int
    decision: Decision
    time: float
    note: str = ""

    @property
    def key(self) -> Key:
        return self.rollout, self.detector, self.version


class Reviews:
    """The decisions of a run: the last one on each flag.

    Attributes:
        damaged: lines that could not be read, and were left out.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._last: dict[Key, Review] = {}
        self.damaged = 0
        try:
            with open_regular(self._path) as file:
                data = file.readall()
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path=self._path) from error
        decode = msgspec.json.Decoder(Review).decode
        for line in data.split(b"\n"):
            if not line.strip():
                continue
            try:
                review = decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self.damaged += 1
                continue
            self._last[review.key] = review

    def __len__(self) -> int:
        return len(self._last)

    def of(self, rollout: str, flag: Flag) -> Review | None:
        """The decision on a flag, where there is one."""
        found = self._last.get((rollout, flag.detector, flag.version))
        return None if found is None or found.decision is Decision.WITHDRAWN else found

    def applied(self, row: Row) -> Row:
        """A row whose flags bar as people decided."""
        if not self._last or not row.record.flags:
            return row
        flags = tuple(self._decided(row.rollout.id, flag) for flag in row.record.flags)
        if flags == row.record.flags:
            return row
        return Row(row.rollout, msgspec.structs.replace(row.record, flags=flags), row.seq)

    def _decided(self, rollout: str, flag: Flag) -> Flag:
        review = self.of(rollout, flag)
        bars = flag.bars if review is None else review.decision is Decision.CONFIRMED
        return flag if bars == flag.bars else msgspec.structs.replace(flag, bars=bars)

    def add(self, decisions: Iterable[tuple[str, Flag, Decision]], note: str = "") -> list[Review]:
        """Write decisions: all of them in one piece, synced to disk.

        Args:
            decisions: id of the rollout, its flag, what is said of it.
            note: why.

        Raises:
            StorageError: they could not be written.
        """
        now = round(time.time(), 3)
        made = [
            Review(
                rollout=rollout,
                detector=flag.detector,
                version=flag.version,
                decision=decision,
                time=now,
                note=note[:MAX_NOTE],
            )
            for rollout, flag, decision in decisions
        ]
        if made:
            _append(self._path, b"".join(canonical(review) + b"\n" for review in made))
            self._last.update((review.key, review) for review in made)
        return made


def _append(path: Path, data: bytes) -> None:
    """Add lines at the end. What a killed process left of a line becomes a line of its own, so that it harms no
    other."""
    fresh = not path.exists()
    with storage(path):
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                data = b"\n" + data
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    if fresh:
        sync_folder(path.parent)


class Reviewed:
    """A run whose flags bar as people decided; whatever takes rows takes this."""

    def __init__(self, run: Contents) -> None:
        self._run, self.reviews = run, Reviews(run.path)

    def rows(self) -> Iterator[Row]:
        """The run's rows. Errors as of ``RunFolder.rows``."""
        return map(self.reviews.applied, self._run.rows())
