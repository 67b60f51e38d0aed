"""Lydite's verdicts as a reward function of TRL's trainers (GRPO, RLOO, asynchronous GRPO).

Written against TRL 1.16. A reward function is called with keywords, once per batch: ``prompts``, ``completions``,
``completion_ids``, every column of the data set as a list, and the hooks ``log_extra`` and ``log_metric``. ``None`` in
the list that it returns means that there is no reward: when it is the only reward function, the sample leaves its
group's mean and standard deviation and gets advantage 0, and a group of nothing but ``None`` teaches nothing. Beside a
second reward function TRL sums with ``nansum``, and ``None`` counts as 0 again: use one.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import PathLike, fspath
from typing import Any

from lydite.errors import InputError, LyditeError
from lydite.exports.chat import read_messages
from lydite.exports.checkers import CheckerLike, Checkers
from lydite.exports.recording import Judged, Recorder
from lydite.exports.schemes import read_scheme, reward_of, scheme_name
from lydite.ledger.derive import derive, policy_fault
from lydite.reward import RewardScheme
from lydite.rollout import Rollout
from lydite.task import Checker
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import CompiledChecker

GOLDS = ("answer", "gold")
"""Columns in which a gold is looked for, in this order, when none is named."""

SHOWN = 200
"""Characters of an extracted answer that go into TRL's table of completions."""

_log = logging.getLogger(__name__)


def trl_reward(
    checker: CheckerLike | None = None,
    *,
    column: str | None = None,
    scheme: str | RewardScheme = "asymmetric",
    workers: int = 1,
    ledger: str | PathLike[str] | None = None,
    max_invalid: float = 1.0,
    name: str = "lydite",
) -> TrlReward:
    """A reward function for ``GRPOTrainer(reward_funcs=...)``.

    Args:
        checker: how completions are judged. A verifier's name (``"math"``): each row's gold becomes its ``answer``. A
            whole checker, as an object: it judges every row, or is completed by each row's gold where ``column`` is
            given. ``None``: each row brings a checker of its own.
        column: the data set's column with the rows' golds (default: ``answer``, else ``gold``) or, when ``checker`` is
            ``None``, with their checkers (default: ``checker``), as JSON text or as objects.
        scheme: how a verdict becomes a number: ``asymmetric``, ``binary``, ``fractional``, or a ``RewardScheme``.
        workers: threads that judge. More than one pays for checks that wait for the sandbox (``code``); checks that
            compute in this process (``math``) gain nothing.
        ledger: a folder in which every attempt and verdict is recorded. Evaluation on a held-out set is recorded alike.
        max_invalid: the share of a batch that may be invalid (our own fault: no reward); above it, training stops.
        name: what TRL calls the reward, and the prefix of what is logged.

    Raises:
        InputError: an unknown scheme or verifier, a checker that cannot be used, an option out of range.
    """
    return TrlReward(
        Checkers(checker, fills=None if checker is None or isinstance(checker, str) else column is not None),
        column=column,
        scheme=read_scheme(scheme),
        workers=workers,
        ledger=None if ledger is None else fspath(ledger),
        max_invalid=max_invalid,
        name=name,
    )


class TrlReward:
    """What ``trl_reward`` makes. Can be pickled and copied (asynchronous GRPO sends it to another process).

    Attributes:
        totals: how many completions had each outcome so far, in this process.
    """

    def __init__(
        self,
        checkers: Checkers,
        *,
        column: str | None,
        scheme: RewardScheme,
        workers: int,
        ledger: str | None,
        max_invalid: float,
        name: str,
    ) -> None:
        if workers < 1:
            raise InputError(f"must be at least 1, not {workers}", field="workers")
        if not 0 <= max_invalid <= 1:
            raise InputError(f"must be in [0, 1], not {max_invalid}", field="max_invalid")
        self.__name__ = name
        self._checkers, self._column, self._scheme = checkers, column, scheme
        self._workers, self._ledger, self._max_invalid = workers, ledger, max_invalid
        self._begin()

    def _begin(self) -> None:
        self.totals: Counter[Outcome] = Counter()
        self._lock = threading.Lock()
        self._recorder: Recorder | None = None
        self._told: set[str] = set()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key not in {"totals", "_lock", "_recorder", "_told"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    def __call__(
        self,
        completions: Sequence[Any],
        prompts: Sequence[Any] | None = None,
        completion_ids: Any = None,
        trainer_state: Any = None,
        environments: Any = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """The rewards: one for each completion, in their order; ``None`` where the verdict is ``invalid``.

        Args:
            completions: texts, or lists of messages, of which the last assistant message is judged. Nothing in a
                completion raises.
            prompts: as many prompts, texts or lists of messages.
            completion_ids: not used: texts are judged, as TRL decoded them.
            trainer_state: of which ``global_step`` is used, for the ledger.
            environments: not used.
            log_extra: gets ``NAME/outcome``, ``NAME/reason`` and ``NAME/extracted``, a value per completion.
            log_metric: gets ``NAME/OUTCOME`` (shares of all completions), ``NAME/pass_rate`` (correct among those that
                were judged), ``NAME/score`` (mean, likewise) and ``NAME/seconds`` (for the whole batch).
            columns: the data set's other columns.

        Raises:
            InputError: a row's checker or gold cannot be used, a column is missing or of another length; names them.
            UnavailableError: something that a verifier needs is not on this machine.
            LyditeError: more than ``max_invalid`` of the batch is invalid.
            StorageError: the ledger cannot be written.
        """
        count, begin = len(completions), time.perf_counter()
        if prompts is not None and len(prompts) != count:
            raise InputError(f"{len(prompts)} prompts, but {count} completions", field="prompts")
        checks = self._checks(columns, count)

        def judge(position: int) -> Judged:
            checker, check = checks[position]
            return self._judge(None if prompts is None else prompts[position], completions[position], checker, check)

        if self._workers > 1 and count > 1:
            with ThreadPoolExecutor(min(self._workers, count), thread_name_prefix="lydite-reward") as pool:
                judged = list(pool.map(judge, range(count)))
        else:
            judged = [judge(position) for position in range(count)]
        verdicts = [item.verdict for item in judged]
        if self._ledger is not None and judged:
            self._record(judged, 1 + int(getattr(trainer_state, "global_step", None) or 0))
        if log_extra is not None:
            for column, values in _extras(verdicts).items():
                log_extra(f"{self.__name__}/{column}", values)
        if log_metric is not None and verdicts:
            for metric, value in rates(verdicts).items():
                log_metric(f"{self.__name__}/{metric}", value)
            log_metric(f"{self.__name__}/seconds", time.perf_counter() - begin)
        self._count(verdicts)
        return [item.reward for item in judged]

    def check(self, rows: Iterable[Mapping[str, Any]]) -> int:
        """Try the checker of every row of a data set, before training meets a faulty one; their number.

        Each judges an empty completion, too: where even that has no verdict, no completion has (a gold that cannot be
        read; a checker of files, of which there are none here).

        Raises:
            InputError: the first row whose checker or gold cannot be used.
            UnavailableError: something that a verifier needs is not on this machine.
        """
        number = 0
        each = self._checkers.per_row or self._checkers.fills
        if not each:
            self._try(*self._checkers.of(None, "checker"), "checker")
        for number, row in enumerate(rows, 1):
            if each:
                column = self._column_in(row)
                field = f"{column}[{number - 1}]"
                self._try(*self._checkers.of(row[column], field), field)
        return number

    def _try(self, checker: Checker, check: CompiledChecker, field: str) -> None:
        verdict = self._judge("", "", checker, check).verdict
        if verdict.outcome is Outcome.INVALID:
            raise InputError(
                f"no completion would have a reward: {fault_of(verdict)}",
                field=field,
                remedy="no files are left by a completion: take a checker of answers"
                if verdict.reason == "no_workspace"
                else "mend what the checker expects, or leave the row out",
            )

    def close(self) -> None:
        """Note in the ledger that the run is complete. Without it the run counts as interrupted; nothing is lost."""
        with self._lock:
            recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.close()

    def _checks(self, columns: Mapping[str, Any], count: int) -> list[tuple[Checker, CompiledChecker]]:
        if not count:
            return []
        if not (self._checkers.per_row or self._checkers.fills):
            return [self._checkers.of(None, "checker")] * count
        column = self._column_in(columns)
        values = columns[column]
        if len(values) != count:
            raise InputError(f"{len(values)} values, but {count} completions", field=column)
        return [self._checkers.of(value, f"{column}[{position}]") for position, value in enumerate(values)]

    def _column_in(self, columns: Mapping[str, Any]) -> str:
        wanted = (self._column,) if self._column else ("checker",) if self._checkers.per_row else GOLDS
        for column in wanted:
            if column in columns:
                return column
        raise InputError(
            f"the data set has no column {' or '.join(map(repr, wanted))}",
            field="column",
            remedy=f"name one of its columns: {', '.join(sorted(columns)) or 'there are none but the prompt'}",
        )

    def _judge(self, prompt: Any, completion: Any, checker: Checker, check: CompiledChecker) -> Judged:
        begin = time.perf_counter()
        asked = read_messages(prompt, "user") if prompt is not None else ()
        said = read_messages(completion, "assistant")
        error = None
        if said is None:
            said, error = (), "bad_completion"  # a fault of the trainer's set-up: no policy says that
            verdict, source = policy_fault(error), ""
        else:
            rollout = Rollout(id="", task="", task_digest="", prompt=asked or (), completion=said)
            verdict, source = derive(rollout, check), check.source
        return Judged(
            prompt=asked or (),
            completion=said,
            checker=checker,
            verdict=verdict,
            reward=reward_of(self._scheme, verdict),
            source=source,
            seconds=time.perf_counter() - begin,
            error=error,
        )

    def _record(self, judged: list[Judged], step: int) -> None:
        assert self._ledger is not None
        with self._lock:
            if self._recorder is None:
                self._recorder = Recorder(self._ledger, self._scheme, scheme_name(self._scheme), {})
            recorder = self._recorder
        recorder.append(judged, step)

    def _count(self, verdicts: list[Verdict]) -> None:
        faults = [verdict for verdict in verdicts if verdict.outcome is Outcome.INVALID]
        with self._lock:
            self.totals.update(verdict.outcome for verdict in verdicts)
            fresh = {fault.reason: fault for fault in faults if fault.reason not in self._told}
            self._told.update(fresh)
        for fault in fresh.values():
            _log.warning(
                "%s: no reward where the verdict is invalid: %s (told once for each reason)",
                self.__name__,
                fault_of(fault),
            )
        if faults and len(faults) > self._max_invalid * len(verdicts):
            raise LyditeError(
                f"{len(faults)} of {len(verdicts)} verdicts are invalid, more than max_invalid={self._max_invalid:g}"
                f" allows: {fault_of(faults[0])}"
            )


def fault_of(verdict: Verdict) -> str:
    """An invalid verdict in words."""
    return f"{verdict.reason} of {verdict.verifier or 'no verifier'}" + (
        f": {verdict.detail}" if verdict.detail else ""
    )


def rates(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Shares of each outcome among all; pass rate and mean score among those that were judged, where any was."""
    counts = Counter(verdict.outcome for verdict in verdicts)
    shares = {str(outcome): counts[outcome] / len(verdicts) for outcome in Outcome}
    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    if scores:
        shares["pass_rate"] = counts[Outcome.CORRECT] / len(scores)
        shares["score"] = sum(scores) / len(scores)
    return shares


def _extras(verdicts: Sequence[Verdict]) -> dict[str, list[Any]]:
    return {
        "outcome": [str(verdict.outcome) for verdict in verdicts],
        "reason": [verdict.reason for verdict in verdicts],
        "extracted": [None if verdict.extracted is None else verdict.extracted[:SHOWN] for verdict in verdicts],
    }
