"""From a rollout to what is written about it: verdict, flags, reward."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from lydite.detectors import check_settings, detect, detect_group
from lydite.errors import InputError
from lydite.flag import Flag
from lydite.ledger.derive import derive, policy_fault
from lydite.ledger.record import Graded
from lydite.reward import RewardScheme
from lydite.rollout import Rollout
from lydite.task import Task
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import CompiledChecker, build, checker_of

if TYPE_CHECKING:
    from lydite.sandbox import Snapshot

_KEPT = 256
"""Compiled checkers at hand, by task; behind them stands the verifiers' own cache."""


class Judge:
    """Judges rollouts by their tasks' checkers, has the detectors look at them, and computes rewards. Thread-safe.

    Args:
        scheme: how verdicts and flags become a reward. Its format term pays for a parseable answer: 1 when an answer
            was extracted and the outcome is not ``unparseable``, else 0.

    Attributes:
        name: the scheme in words, as it goes into every record.
    """

    def __init__(self, scheme: RewardScheme | None = None) -> None:
        self.scheme = scheme if scheme is not None else RewardScheme()
        self.name = f"{self.scheme.preset}+format={self.scheme.format_weight:g}+flagged={self.scheme.flagged}"
        self._checks: dict[str, CompiledChecker] = {}

    def prepare(self, task: Task) -> None:
        """Find out what is wrong with a task before anything is spent on it.

        Raises:
            InputError: its checker or its detectors' thresholds cannot be used; names the task and the field.
        """
        try:
            self._check(task, task.digest)
            if task.metadata.get("flags"):
                check_settings(task)
        except InputError as error:
            raise error.at(prefix=f"task {task.id}") from None

    def prepared(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """The same tasks, each prepared when its turn comes."""
        for task in tasks:
            self.prepare(task)
            yield task

    def waits(self, task: Task) -> bool:
        """Whether judging an attempt waits for other processes, so that several at once gain time."""
        return self._check(task, task.digest).waits

    def judge(self, rollout: Rollout, task: Task, state: Snapshot | None = None) -> Graded:
        """Everything that is said of one attempt, and of what its episode left behind.

        An attempt that could not be asked for (``rollout.error``) is ``invalid`` with reason ``policy_error:<code>``.

        Raises:
            InputError: the checker or the thresholds cannot be used (see ``prepare``).
        """
        begin = time.perf_counter()
        source = ""
        if rollout.error is not None:
            verdict = policy_fault(rollout.error)
        else:
            check = self._check(task, rollout.task_digest)
            verdict, source = derive(rollout, check, state), check.source
        seconds = time.perf_counter() - begin
        flags = detect(rollout, verdict, task)
        return Graded(
            rollout=rollout,
            verdict=verdict,
            flags=flags,
            reward=self.scheme.reward(verdict, flags, _format_score(verdict)),
            scheme=self.name,
            verifier_source=source,
            seconds=round(seconds, 6),
        )

    def regard(self, graded: Sequence[Graded], tasks: Sequence[Task]) -> list[Graded]:
        """The same attempts with the flags that show when those of one task and phase stand side by side.

        Attempts of a group that were judged at another time (before an interruption) are not seen here.
        """
        regarded = list(graded)
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        for at, item in enumerate(regarded):
            groups[item.rollout.phase, item.rollout.task].append(at)
        for members in groups.values():
            if len(members) < 2:
                continue
            rollouts, verdicts = ([getattr(regarded[at], name) for at in members] for name in ("rollout", "verdict"))
            for at, flags in zip(members, detect_group(rollouts, verdicts, tasks[members[0]]), strict=True):
                if flags:
                    regarded[at] = self._flagged(regarded[at], flags)
        return regarded

    def _flagged(self, graded: Graded, flags: tuple[Flag, ...]) -> Graded:
        every = (*graded.flags, *flags)
        reward = self.scheme.reward(graded.verdict, every, _format_score(graded.verdict))
        return msgspec.structs.replace(graded, flags=every, reward=reward)

    def _check(self, task: Task, digest: str) -> CompiledChecker:
        check = self._checks.get(digest)
        if check is None:
            check = build(checker_of(task))
            if len(self._checks) >= _KEPT:
                self._checks.clear()
            self._checks[digest] = check
        return check


def _format_score(verdict: Verdict) -> float:
    return float(verdict.outcome is not Outcome.UNPARSEABLE and verdict.extracted is not None)
