"""After a kill: judge the samples that were written and have no record yet."""

from __future__ import annotations

from itertools import islice

from lydite.errors import InputError
from lydite.ledger import RunFolder
from lydite.rollout import Rollout
from lydite.sampling.judge import Judge
from lydite.task import Task

_BATCH = 1024


def settle(run: RunFolder, judge: Judge) -> int:
    """Judge and record what ``run.unrecorded()`` gives; their number. Call it before anything is appended.

    Raises:
        InputError: a sample's task is not in the run.
    """
    count = 0
    while batch := list(islice(run.unrecorded(), _BATCH)):
        tasks = _tasks_of(run, batch)
        graded = [judge.judge(rollout, tasks[rollout.task], run.state(rollout.workspace)) for rollout in batch]
        run.seal(judge.regard(graded, [tasks[rollout.task] for rollout in batch]))
        count += len(batch)
    return count


def _tasks_of(run: RunFolder, rollouts: list[Rollout]) -> dict[str, Task]:
    missing = {rollout.task for rollout in rollouts}
    found: dict[str, Task] = {}
    for task in run.tasks():
        if task.id in missing:
            missing.remove(task.id)
            found[task.id] = task
            if not missing:
                return found
    raise InputError(f"no task {min(missing)!r} in the run, though it was sampled", path=run.path / "tasks.jsonl")
