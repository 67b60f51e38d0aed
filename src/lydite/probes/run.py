"""Probing a task set: several tasks at a time, results as they come, and what was done is kept when it is stopped."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from lydite.probes import stability
from lydite.probes.attempt import Bout, Claims, Plan, Probed
from lydite.probes.protocol import Check, Family, Finding, Level
from lydite.probes.world import World
from lydite.task import Task

WAIT = 0.2
"""Seconds after which the main thread looks whether it is to stop."""
BATCH = 200
"""Submissions that another process judges at a time, at most; BATCH_BYTES: of their workspaces."""
BATCH_BYTES = 64 << 20
PATIENCE = 15.0
"""Seconds that attacks under way are waited for once the work is stopped. What has no result then is left behind."""


def probe(
    tasks: Sequence[Task],
    *,
    only: Sequence[str] = (),
    jobs: int | None = None,
    families: Sequence[Family] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[Probed]:
    """Attack the checker of every task.

    Args:
        tasks: with different ids.
        only: ids of checks (whole, or their last word) or kinds of attacks; none: everything.
        jobs: tasks under way at once; ``None``: as many as there are processors.
        families: of attacks; ``None``: the panel.
        stopped: asked between attacks: ``True`` ends the work, and tasks that were begun give what they have.

    Yields:
        One result per task, in the order in which they are finished; later, for each, what another process says
        (``Check.PORTABILITY``): then only ``findings`` holds anything new.
    """
    plan = Plan(only=tuple(only), families=None if families is None else tuple(families))
    samples: list[tuple[Task, stability.Sample]] = []
    with World() as world:
        for done in _in_threads(tasks, world, plan, jobs or processors(), stopped):
            yield msgspec.structs.replace(done, samples=())
            if plan.wants(Check.PORTABILITY):
                samples += [(done.task, sample) for sample in done.samples]
            if len(samples) >= BATCH or sum(len(sample.pack or b"") for _, sample in samples) > BATCH_BYTES:
                yield from _elsewhere(samples)
                samples = []
    if samples and not stopped():
        yield from _elsewhere(samples)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _elsewhere(samples: list[tuple[Task, stability.Sample]]) -> Iterator[Probed]:
    by_task: dict[str, list[Finding]] = {}
    for finding in stability.elsewhere([(task.id, sample) for task, sample in samples]):
        by_task.setdefault(finding.task, []).append(finding)
    for task in {task.id: task for task, _ in samples}.values():
        yield Probed(task=task, verifier="", findings=tuple(by_task[task.id]), seconds=0.0)


def _broken(task: Task, error: Exception) -> Probed:
    told = f"the probe itself failed: {type(error).__name__}: {error}"[:300]
    missing = Finding(task=task.id, check="all", kind="fault", level=Level.NOT_MADE, told=told)
    verifier = task.checker.type
    return Probed(task=task, verifier=verifier, findings=(missing,), seconds=0.0, complete=False, unusable=told)


def _in_threads(
    tasks: Sequence[Task], world: World, plan: Plan, jobs: int, stopped: Callable[[], bool]
) -> Iterator[Probed]:
    """Daemon threads, so that a checker of the user's own that never ends does not keep the process from ending."""
    left, results, claims, enough = iter(tasks), queue.SimpleQueue[Any](), Claims(), threading.Event()
    lock = threading.Lock()

    def stop() -> bool:
        return enough.is_set() or stopped()

    def work() -> None:
        while not stop():
            with lock:
                task = next(left, None)
            if task is None:
                break
            try:
                results.put(Bout(task, world, plan, claims, stop).run())
            except Exception as error:  # one task's trouble is not that of the others
                results.put(_broken(task, error))
            except BaseException as error:
                results.put(error)
        results.put(None)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(max(1, min(jobs, len(tasks))))]
    for thread in threads:
        thread.start()
    running, patience = len(threads), PATIENCE
    try:
        while running:
            try:
                result = results.get(timeout=WAIT)
            except queue.Empty:
                patience -= WAIT if stop() else 0.0
                if patience < 0:
                    break
                continue
            if result is None:
                running -= 1
            elif isinstance(result, BaseException):
                raise result
            else:
                yield result
    finally:
        enough.set()
        for thread in threads:
            thread.join(timeout=max(0.0, patience))
