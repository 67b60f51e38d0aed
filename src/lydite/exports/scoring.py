"""One completion to what a trainer's reward plumbing can carry: numbers and texts, the same keys for every sample.

Trainers that cannot say "no reward" for a sample get a number all the same, and the word ``fault`` beside it.
"""

from __future__ import annotations

import logging
import math
import threading
from enum import StrEnum
from typing import Any

import msgspec

from lydite.errors import InputError, LyditeError
from lydite.exports.chat import read_messages
from lydite.exports.checkers import CheckerLike, Checkers
from lydite.exports.rewards import fault_of
from lydite.exports.schemes import read_scheme, reward_of
from lydite.ledger.derive import derive, policy_fault
from lydite.reward import RewardScheme
from lydite.rollout import Rollout
from lydite.verdict import Outcome, Verdict
from lydite.verifiers import CompiledChecker

_log = logging.getLogger(__name__)


class OnFault(StrEnum):
    """What a sample earns whose verdict is ``invalid``, where the trainer wants a number."""

    ZERO = "zero"  # 0.0, said under its own key; it enters the group's baseline, as the trainer knows nothing else
    NAN = "nan"  # for an advantage estimator that leaves NaN out
    RAISE = "raise"  # the run stops


class Scored(msgspec.Struct, frozen=True):
    """A verdict with its reward as a number.

    Attributes:
        verdict: what was said.
        reward: the scalar; 0.0 or NaN for a fault.
    """

    verdict: Verdict
    reward: float

    @property
    def fault(self) -> bool:
        """Whether there is no verdict on the attempt, by our own doing."""
        return self.verdict.outcome is Outcome.INVALID


class Scorer:
    """Judges one completion at a time. Safe from threads; can be pickled, as trainers send it to their workers.

    Attributes:
        checkers: where each sample's checker comes from.
    """

    def __init__(
        self, checker: CheckerLike | None = None, *, scheme: str | RewardScheme = "asymmetric", on_fault: str = "zero"
    ) -> None:
        """Take the settings.

        Args:
            checker: a verifier's name, or a checker that each sample's gold completes; ``None`` where every sample
                brings a checker.
            scheme: how a verdict becomes a number.
            on_fault: ``zero``, ``nan`` or ``raise``; see ``OnFault``.

        Raises:
            InputError: one of them means nothing.
        """
        self.checkers = Checkers(checker, fills=True if checker is not None else None)
        self._per_sample = Checkers(None)
        self._scheme = read_scheme(scheme)
        try:
            self._on_fault = OnFault(on_fault)
        except ValueError:
            remedy = f"one of {', '.join(OnFault)}"
            raise InputError(f"unknown policy {on_fault!r}", field="on_fault", remedy=remedy) from None
        self._begin()

    def _begin(self) -> None:
        self._told: set[str] = set()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in {"_told", "_lock"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    def find(self, checker: Any, gold: Any, fields: tuple[str, str]) -> CompiledChecker:
        """The check of a sample: its own checker where it brings one, else the default with the sample's gold.

        Args:
            checker: what the sample brings; ``None`` or empty when nothing.
            gold: its gold.
            fields: what these two are called, for errors.

        Raises:
            InputError: neither can be used.
        """
        if checker:
            return self._per_sample.of(checker, fields[0])[1]
        if self.checkers.per_row:
            raise InputError(
                "the sample brings no checker, and there is no default",
                field=fields[0],
                remedy='name a default verifier for its gold: checker="math"',
            )
        return self.checkers.of(gold, fields[1])[1]

    def score(self, check: CompiledChecker, completion: Any, prompt: Any = None) -> Scored:
        """The verdict on a completion, and its reward.

        Raises:
            LyditeError: the verdict is invalid, and faults are to stop the run.
        """
        said = read_messages(completion, "assistant")
        if said is None:
            return self.fault(policy_fault("bad_completion"))
        asked = read_messages(prompt, "user") or () if prompt is not None else ()
        verdict = derive(Rollout(id="", task="", task_digest="", prompt=asked, completion=said), check)
        reward = reward_of(self._scheme, verdict)
        return self.fault(verdict) if reward is None else Scored(verdict, reward)

    def fault(self, verdict: Verdict) -> Scored:
        """What a sample earns that was not judged. Told once for each reason on the log."""
        told = f"no verdict: {fault_of(verdict)}"
        if self._on_fault is OnFault.RAISE:
            raise LyditeError(told)
        with self._lock:
            fresh = verdict.reason not in self._told
            self._told.add(verdict.reason)
        if fresh:
            _log.warning("lydite: %s (told once for each reason; counted under 'fault')", told)
        return Scored(verdict, math.nan if self._on_fault is OnFault.NAN else 0.0)
