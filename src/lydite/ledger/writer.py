"""What a run folder holds while it is written: the lock, the files, and how far they are."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lydite.ledger import taskfile
from lydite.ledger.contents import LEDGER, ROLLOUTS
from lydite.ledger.files import Appender, Lock
from lydite.ledger.merkle import Tree

METRICS = "metrics.jsonl"


class Writer:
    """Open files of a run folder that this process owns.

    Attributes:
        mutex: held by whoever changes anything.
        failed: a write was not finished; nothing more is written, since what is on disk is not what is known here.
        waiting: samples in ``rollouts.jsonl`` that have no record yet.
        sealed_size: bytes of ``rollouts.jsonl`` that have records.
        phases: number of recorded samples per phase.
        tree: over the hashes of the records.
        beside: a thread for a write that goes on beside other work.
        noted: when ``run.json`` was last written, on the monotonic clock.
    """

    def __init__(self, folder: Path, lock: Lock) -> None:
        self.lock = lock
        self.tasks = Appender(folder / taskfile.FILE)
        self.rollouts = Appender(folder / ROLLOUTS)
        self.ledger = Appender(folder / LEDGER)
        self.metrics = Appender(folder / METRICS)
        self.mutex = threading.RLock()
        self.beside = ThreadPoolExecutor(1, thread_name_prefix="lydite-writer")
        self.failed = False
        self.waiting = 0
        self.sealed_size = 0
        self.phases: Counter[str] = Counter()
        self.tree = Tree()
        self.noted = 0.0

    @contextlib.contextmanager
    def failing(self) -> Iterator[None]:
        """Remember that something went wrong between the first byte and the last: what is on disk is not known here."""
        try:
            yield
        except BaseException:
            self.failed = True
            raise

    def close(self) -> None:
        self.beside.shutdown()
        for file in (self.tasks, self.rollouts, self.ledger, self.metrics):
            file.close()
        self.lock.release()
