"""A run folder of what another trainer's policy said, and how it was judged.

The records are those that ``lydite sample`` writes: ``lydite ledger verify``, ``replay``, ``rescore``, ``show`` and the
exports read them.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from lydite.exports.schemes import reward_of
from lydite.ledger import Graded, RunFolder
from lydite.ledger.derive import derive, policy_fault
from lydite.reward import RewardScheme
from lydite.rollout import Message, Rollout
from lydite.task import Checker, Task
from lydite.verdict import Verdict
from lydite.verifiers import build


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """One judged attempt, on its way into a record.

    Attributes:
        prompt: what was asked.
        completion: what came back.
        checker: what judged it.
        verdict: what was said.
        reward: the scalar; ``None`` where there is nothing to learn from.
        source: hash of the verifier's source code; empty where no verifier was asked.
        seconds: time that verification took.
        error: why the attempt could not be judged at all.
    """

    prompt: tuple[Message, ...]
    completion: tuple[Message, ...]
    checker: Checker
    verdict: Verdict
    reward: float | None
    source: str
    seconds: float
    error: str | None = None


class Recorder:
    """Appends judged attempts to a run folder, from any thread. One process holds a folder at a time.

    Where several processes train together (``WORLD_SIZE`` above 1), each has a folder ``rank-N`` of its own inside.
    A process that begins anew goes on with the folder; steps that it repeats get names of their own.
    """

    def __init__(self, path: str | Path, scheme: RewardScheme, name: str, settings: dict[str, Any]) -> None:
        """Open or make the run.

        Raises:
            InputError: the folder holds something else, a run with other settings, or is in use.
            StorageError: it cannot be written.
        """
        folder = Path(path)
        if os.environ.get("WORLD_SIZE", "1") not in ("", "0", "1"):
            folder /= f"rank-{os.environ.get('RANK', '0')}"
        self._scheme, self._name = scheme, name
        self._lock = threading.Lock()
        self._run = RunFolder.create(folder, kind="reward", settings={"scheme": name, **settings})
        try:
            self._settle()
            self._tasks = {task.id for task in self._run.tasks()}
            self._taken = {row.rollout.phase for row in self._run.rows()} if self._run.resumed else set()
        except BaseException:
            self._run.close()
            raise
        self._phases: dict[int, str] = {}
        self._count: Counter[tuple[str, str]] = Counter()

    def append(self, attempts: Sequence[Judged], step: int) -> None:
        """Write attempts and verdicts; when it returns, they are on disk.

        Args:
            attempts: what was judged.
            step: the step in which the policy learns from them, from 1; part of the attempts' names.

        Raises:
            StorageError: they could not be written.
        """
        with self._lock:
            phase = self._phase(step)
            tasks: dict[str, Task] = {}
            graded = [self._graded(attempt, phase, step, tasks) for attempt in attempts]
            if tasks:
                self._run.add_tasks(tasks.values())
                self._tasks.update(tasks)
            self._run.append(graded)

    def close(self) -> None:
        """Note that the run is complete, and let go of its folder."""
        with self._lock:
            self._run.finish()
            self._run.close()

    def _graded(self, attempt: Judged, phase: str, step: int, tasks: dict[str, Task]) -> Graded:
        task = Task(id="", prompt=attempt.prompt, checker=attempt.checker)
        task = msgspec.structs.replace(task, id=f"t-{task.digest[:12]}")
        if task.id not in self._tasks:
            tasks[task.id] = task
        index = self._count[phase, task.id]
        self._count[phase, task.id] += 1
        return Graded(
            rollout=Rollout(
                id=f"{phase}/{task.id}/{index}",
                task=task.id,
                task_digest=task.digest,
                phase=phase,
                index=index,
                policy=f"trl@{step - 1}",
                prompt=attempt.prompt,
                completion=attempt.completion,
                error=attempt.error,
                step=step,
            ),
            verdict=attempt.verdict,
            reward=attempt.reward,
            scheme=self._name,
            verifier_source=attempt.source,
            seconds=round(attempt.seconds, 6),
        )

    def _phase(self, step: int) -> str:
        """The name of a step in this process: another one than an earlier process gave it."""
        phase = self._phases.get(step)
        if phase is None:
            name = phase = f"train-{step}"
            attempt = 1
            while phase in self._taken:
                attempt += 1
                phase = f"{name}.{attempt}"
            self._phases[step] = phase
        return phase

    def _settle(self) -> None:
        """Judge what an earlier process wrote and was killed before it could record."""
        waiting = list(self._run.unrecorded())
        if not waiting:
            return
        tasks = {task.id: task for task in self._run.tasks()}
        graded = []
        for rollout in waiting:
            if rollout.error is not None:
                verdict, source = policy_fault(rollout.error), ""
            else:
                check = build(tasks[rollout.task].checker)
                verdict, source = derive(rollout, check), check.source
            graded.append(
                Graded(
                    rollout=rollout,
                    verdict=verdict,
                    reward=reward_of(self._scheme, verdict),
                    scheme=self._name,
                    verifier_source=source,
                )
            )
        self._run.seal(graded)
