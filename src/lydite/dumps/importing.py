"""A dump becomes a run folder: groups of attempts by step and prompt, each with its verdict, chained as any run's."""

from __future__ import annotations

import hashlib
import math
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from lydite.detectors import detect, detect_group
from lydite.dumps.attempts import Attempt, Dump, content
from lydite.dumps.judging import Judging
from lydite.dumps.recorded import Recorded, choose
from lydite.errors import InputError
from lydite.ledger import RunFolder, State
from lydite.ledger.record import Graded
from lydite.reward import frac_reward_zero_std, group_stats
from lydite.rollout import Rollout
from lydite.task import Task
from lydite.verdict import Outcome


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt of which the trainer's reward and Lydite's verdict say different things."""

    id: str
    recorded: float
    outcome: str
    reason: str
    extracted: str | None


class Imported(msgspec.Struct, kw_only=True):
    """What became of a dump.

    Attributes:
        steps, attempts, tasks: that the run holds from it.
        again: steps left out because they say word for word what the step before them said: TRL writes the same
            table again when it logs between two generations.
        outcomes: how often each verdict was given.
        compared: attempts of which both sides say something, where Lydite judged; ``agree`` of them agree whether the
            attempt is correct.
        disagreements: the others.
        resumed: whether all or some of it was there already; then the counts are of this session.
    """

    steps: int = 0
    attempts: int = 0
    tasks: int = 0
    again: int = 0
    outcomes: dict[str, int] = msgspec.field(default_factory=lambda: {str(outcome): 0 for outcome in Outcome})
    compared: int = 0
    agree: int = 0
    disagreements: list[Disagreement] = []
    resumed: bool = False


def import_dump(
    dump: Dump,
    out: Path,
    *,
    judging: Judging | None = None,
    rewards: Sequence[str] = (),
    low: float = 0.0,
    high: float = 1.0,
    policy: str = "",
    settings: dict[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Imported:
    """Make a run of kind ``import``, or go on with one that was stopped.

    Args:
        dump: the files.
        out: the run folder.
        judging: what judges; nobody where it is not given, then the recorded reward stands as the verdict.
        rewards, low, high: see ``recorded.choose``.
        policy: what to call the policy; the trainer's name where not given.
        settings: what else the result depends on, for ``run.json``.
        progress: called with the number of a step that is done and its attempts.

    Raises:
        InputError: a file cannot be used (names file, row and field), or ``out`` holds something else.
    """
    judging = judging if judging is not None else Judging()
    steps = dump.steps()
    first = next(steps, None)
    if first is None:
        raise InputError("the dump holds no attempts", path=dump.files()[0])
    recorded = choose(list(first[1][0].numbers), rewards, low, high, default="score" if dump.trainer == "verl" else "")
    given = {
        "trainer": dump.trainer,
        "files": [{"name": path.name, "sha256": _sha256(path)} for path in dump.files()],
        "reward": recorded.scheme,
        "range": [low, high],
        "judged": judging.judges,
        **(settings or {}),
    }
    metrics, steps = dump.metrics(), chain((first,), steps)
    with RunFolder.create(out, kind="import", settings=given) as run:
        try:
            writing = _Writing(run, judging, recorded, policy or dump.trainer)
            return _fill(run, steps, metrics, writing, progress, repeats=dump.repeats)
        except InputError:
            if not run.resumed:  # nobody waits for a part of files that cannot be used
                run.close()
                shutil.rmtree(out)
            raise


def _fill(
    run: RunFolder,
    steps: Iterator[tuple[int, list[Attempt]]],
    metrics: dict[int, dict[str, float]],
    writing: _Writing,
    progress: Callable[[int, int], None] | None,
    *,
    repeats: bool,
) -> Imported:
    result, before = writing.result, ""
    if run.resumed and run.info.state is State.COMPLETE:
        return result
    for step, attempts in steps:
        if repeats:
            said = content(attempts)
            if said == before:
                result.again += 1
                continue
            before = said
        graded = writing.step(step, attempts)
        if graded:
            run.metric({**metrics.get(step, {}), **_metrics(step, graded)})
        if progress is not None:
            progress(step, len(graded))
    if writing.judges:
        run.note(compared=result.compared, agree=result.agree)
    run.finish()
    return result


class _Writing:
    """Writes step after step; what an earlier session wrote is passed over."""

    def __init__(self, run: RunFolder, judging: Judging, recorded: Recorded, policy: str) -> None:
        self._run, self._judging, self._recorded, self._policy = run, judging, recorded, policy
        self.judges = judging.judges
        self.result = Imported(resumed=run.resumed)
        self._tasks = {task.id for task in run.tasks()}
        self._waiting = {rollout.id for rollout in run.unrecorded()} if run.resumed else set()

    def step(self, step: int, attempts: Sequence[Attempt]) -> list[Graded]:
        """Judge and write the attempts of a step, those of one prompt side by side; those that were new."""
        phase = f"train-0-{step}"
        groups: dict[str, list[tuple[Attempt, Task]]] = {}
        column = self._recorded.rewards[0][0]
        for attempt in attempts:
            task = self._judging.task(attempt, column)
            groups.setdefault(task.id, []).append((attempt, task))
        done = self._run.done(phase) if self._run.resumed else ()
        graded: list[Graded] = []
        fresh: dict[str, Task] = {}
        for members in groups.values():
            named = [
                (attempt, self._rollout(attempt, task, phase, index), task)
                for index, (attempt, task) in enumerate(members)
            ]
            left = [item for item in named if item[1].id not in done]
            if left:
                fresh[left[0][2].id] = left[0][2]
                graded += self._group(left)
        self._write(graded, fresh)
        return graded

    def _group(self, members: Sequence[tuple[Attempt, Rollout, Task]]) -> list[Graded]:
        attempts, rollouts, tasks = (list(column) for column in zip(*members, strict=True))
        graded = self._judging.graded(attempts, rollouts, tasks, self._recorded)
        verdicts = [one.verdict for one in graded]
        seen = detect_group(rollouts, verdicts, tasks[0]) if len(graded) > 1 else [()] * len(graded)
        flagged = [
            msgspec.structs.replace(one, flags=(*detect(one.rollout, one.verdict, task), *more))
            for one, task, more in zip(graded, tasks, seen, strict=True)
        ]
        for attempt, one in zip(attempts, flagged, strict=True):
            self._count(attempt, one)
        return flagged

    def _count(self, attempt: Attempt, graded: Graded) -> None:
        verdict, result = graded.verdict, self.result
        result.outcomes[verdict.outcome] += 1
        if not self.judges:
            return
        number = attempt.numbers.get(self._recorded.rewards[0][0])
        if number is None or verdict.outcome is Outcome.INVALID:
            return
        result.compared += 1
        if (self._recorded.score(number) == 1) == verdict.correct:
            result.agree += 1
            return
        result.disagreements.append(
            Disagreement(
                id=graded.rollout.id,
                recorded=number,
                outcome=verdict.outcome,
                reason=verdict.reason,
                extracted=verdict.extracted,
            )
        )

    def _rollout(self, attempt: Attempt, task: Task, phase: str, index: int) -> Rollout:
        return Rollout(
            id=f"{phase}/{task.id}/{index}",
            task=task.id,
            task_digest=task.digest,
            phase=phase,
            index=index,
            policy=self._policy,
            prompt=attempt.prompt,
            completion=attempt.completion,
            step=attempt.step,
        )

    def _write(self, graded: Sequence[Graded], tasks: dict[str, Task]) -> None:
        if not graded:
            return
        fresh = [task for name, task in tasks.items() if name not in self._tasks]
        if fresh:
            self._run.add_tasks(fresh)
            self._tasks.update(task.id for task in fresh)
        waiting = [one for one in graded if one.rollout.id in self._waiting]
        if waiting:  # samples that were written, and then the import was killed
            self._run.seal(waiting)
            self._waiting.difference_update(one.rollout.id for one in waiting)
        self._run.append(graded[len(waiting) :])
        self.result.steps += 1
        self.result.attempts += len(graded)
        self.result.tasks += len(fresh)


def _metrics(step: int, graded: Sequence[Graded]) -> dict[str, Any]:
    """What the attempts of a step say themselves, by the names of the trainers; a step of the run's first stage."""
    groups: dict[str, list[float | None]] = {}
    for one in graded:
        groups.setdefault(one.rollout.task, []).append(one.reward)
    known = [reward for rewards in groups.values() for reward in rewards if reward is not None]
    told: dict[str, Any] = {"kind": "import", "stage": 0, "step": step}
    told["frac_reward_zero_std"] = frac_reward_zero_std(list(groups.values()))
    if known:
        told |= {"reward": math.fsum(known) / len(known), "reward_std": group_stats(known).std}
    outcomes = Counter(one.verdict.outcome for one in graded)
    valid = len(graded) - outcomes[Outcome.INVALID]
    told["invalid_rate"] = outcomes[Outcome.INVALID] / len(graded)
    if valid:
        told["pass_rate"] = outcomes[Outcome.CORRECT] / valid
    suspected = sum(bool(one.flags) and one.verdict.correct for one in graded)
    told["suspected_hack_rate"] = suspected / len(graded)
    return told


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
