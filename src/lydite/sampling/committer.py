"""The thread that judges and writes, so that neither verification nor fsync stalls generation."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from lydite.ledger import Graded, RunFolder
from lydite.rollout import Rollout
from lydite.sampling.judge import Judge
from lydite.task import Task

if TYPE_CHECKING:
    from lydite.sandbox import Snapshot

Item = tuple[Rollout, Task, "Snapshot | None"]
"""An attempt, its task, and what its episode left behind."""

_THREADS = 2 * (os.cpu_count() or 1)
"""For checks that wait for processes of theirs. The others run one after another, as one interpreter does."""
_COMMIT_SIZE = 1024
_COMMIT_SECONDS = 0.5


class Committer:
    """Takes rollouts, judges them in the order of arrival and appends them to the run in group commits.

    A commit is made when nothing waits, at 1,024 attempts, or half a second after its first verdict, whichever is
    first: a slow policy's answers are safe at once, a fast policy shares the cost of fsync.

    Args:
        run: where to write.
        judge: who judges.
        committed: called, in this thread, with what has just been made durable.
        failed: called, in this thread, with the error that ended it; what waited is dropped.
    """

    def __init__(
        self,
        run: RunFolder,
        judge: Judge,
        committed: Callable[[Sequence[Graded]], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self._run, self._judge, self._committed, self._failed = run, judge, committed, failed
        self._queue: queue.SimpleQueue[Sequence[Item] | None] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="lydite-judge")
        self._thread = threading.Thread(target=self._work, name="lydite-committer", daemon=True)
        self._thread.start()

    def put(self, items: Sequence[Item]) -> None:
        """Hand over attempts. Never blocks; whoever calls keeps count of what is under way."""
        self._queue.put(items)

    def close(self) -> None:
        """Judge and write what was handed over, then end."""
        self._queue.put(None)
        self._thread.join()
        self._threads.shutdown()

    def _work(self) -> None:
        try:
            while self._commit():
                pass
        except BaseException as error:
            self._failed(error)

    def _commit(self) -> bool:
        """One group commit; false when there will be no more."""
        items = self._queue.get()
        graded: list[Graded] = []
        deadline = time.monotonic() + _COMMIT_SECONDS
        while items is not None:
            for _, _, state in items:
                if state is not None:
                    self._run.keep(state)
            graded.extend(self._graded(items))
            if len(graded) >= _COMMIT_SIZE or time.monotonic() >= deadline:
                break
            try:
                items = self._queue.get_nowait()
            except queue.Empty:
                break
        if graded:
            self._run.append(graded)
            self._committed(graded)
        return items is not None

    def _graded(self, items: Sequence[Item]) -> list[Graded]:
        graded: Iterator[Graded]
        if len(items) > 1 and any(self._judge.waits(task) for _, task, _ in items):
            graded = self._threads.map(lambda item: self._judge.judge(*item), items)
        else:
            graded = (self._judge.judge(*item) for item in items)
        return self._judge.regard(list(graded), [task for _, task, _ in items])
