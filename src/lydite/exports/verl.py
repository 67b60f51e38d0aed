"""Lydite's verdicts as verl's reward (written against verl 0.9.1).

verl calls a function of a file (``reward.custom_reward_function.{path,name}``); its managers differ in how:

- ``naive``, ``dapo``, ``gdpo``, ``remote``, ``rate_limited``: one sample, by keywords; a number, or a mapping with
  ``score``. The keys of the first sample of a batch are those of all, and each becomes an array: so the keys are the
  same for every sample, and a key's values have one type.
- ``batch`` (``verl.workers``): all samples at once, by other keywords; a list.
- ``prime`` (``verl.workers``): one sample, by position, sent to a process by pickle. A mapping counts there as a
  failure, and a failure as 0 for the whole batch: so it gets a number, and NaN for a fault.

The functions are bound methods of an object that can be pickled: verl does not register the file as a module, and
plain functions of it cannot be sent to other processes by name.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

from lydite.errors import InputError
from lydite.exports.checkers import CheckerLike
from lydite.exports.scoring import Scored, Scorer
from lydite.reward import RewardScheme

KEYS = ("score", "acc", "fault", "outcome", "reason", "pred")
"""Keys of every sample's result."""

_OPTIONS = frozenset({"checker", "scheme", "on_fault"})


class VerlReward:
    """The functions that verl calls. Made by the file that ``lydite export shim verl`` writes.

    A sample's checker is ``extra_info["checker"]``, as JSON text or as an object; where there is none, the default
    checker takes ``ground_truth`` as its answer. ``extra_info["prompt"]`` (or ``"question"``), a text or messages, lets
    a verdict tell an answer from a restated question.
    """

    def __init__(
        self, checker: CheckerLike | None = None, *, scheme: str | RewardScheme = "asymmetric", on_fault: str = "zero"
    ) -> None:
        """Take the settings.

        Args:
            checker: the default: a verifier's name, or a checker whose answer is open; ``None`` when every sample
                brings its own.
            scheme: how a verdict becomes a number: ``asymmetric``, ``binary``, ``fractional``.
            on_fault: the ``score`` of a sample whose verdict is invalid: ``zero``, ``nan`` (for the advantage estimator
                of ``lydite.exports.verl_grpo``), or ``raise``.

        Raises:
            InputError: one of them means nothing.
        """
        self._scorer = Scorer(checker, scheme=scheme, on_fault=on_fault)

    def compute_score(
        self, data_source: Any, solution_str: str, ground_truth: Any, extra_info: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """One sample.

        Returns:
            ``score`` (the reward; 0.0 or NaN for a fault), ``acc`` (1.0 when correct, else 0.0; as ``score`` for a
            fault), ``fault`` (1.0 when the verdict is invalid, else 0.0), ``outcome``, ``reason``, and ``pred``, the
            answer that was graded (empty when there is none). No value depends on ``data_source``.

        Raises:
            InputError: the sample's checker or gold cannot be used.
            LyditeError: a fault, where faults are to stop the run.
        """
        return _result(self._score(data_source, solution_str, ground_truth, extra_info, kwargs))

    async def compute_score_async(
        self, data_source: Any, solution_str: str, ground_truth: Any, extra_info: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """``compute_score`` in a thread, awaited."""
        return await asyncio.to_thread(
            self.compute_score, data_source, solution_str, ground_truth, extra_info, **kwargs
        )

    def compute_score_batch(
        self,
        data_sources: Sequence[Any],
        solution_strs: Sequence[str],
        ground_truths: Sequence[Any],
        extra_infos: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> list[dict[str, Any]]:
        """All samples of a batch, in their order, for the manager ``batch``.

        Raises:
            InputError: columns of different lengths, or as ``compute_score``.
        """
        infos = [None] * len(solution_strs) if extra_infos is None else extra_infos
        if not len(data_sources) == len(solution_strs) == len(ground_truths) == len(infos):
            raise InputError("columns of different lengths", field="solution_strs")
        return [
            self.compute_score(source, text, gold, info, **kwargs)
            for source, text, gold, info in zip(data_sources, solution_strs, ground_truths, infos, strict=True)
        ]

    def compute_score_only(
        self, data_source: Any, solution_str: str, ground_truth: Any, extra_info: Any = None, **kwargs: Any
    ) -> float:
        """The reward alone, for the manager ``prime``. NaN for every fault, whatever ``on_fault`` says, and for a
        checker that cannot be used: that manager would turn an error into 0, and has no other key to say it under.
        """
        try:
            scored = self._score(data_source, solution_str, ground_truth, extra_info, kwargs)
        except Exception as error:
            print(f"[lydite] no verdict: {error}")  # prime's processes show what is printed, and nothing else
            return math.nan
        return math.nan if scored.fault else scored.reward

    def _score(self, source: Any, text: str, gold: Any, info: Any, kwargs: Mapping[str, Any]) -> Scored:
        silent = sorted(_OPTIONS & set(kwargs))
        if silent:
            raise InputError(
                "is not an option here", field=f"reward_kwargs.{silent[0]}", remedy="set it in the file of the shim"
            )
        extra: Mapping[str, Any] = info if isinstance(info, Mapping) else {}
        try:
            check = self._scorer.find(extra.get("checker"), gold, ("extra_info.checker", "ground_truth"))
        except InputError as error:
            at = f", index {extra['index']}" if extra.get("index") is not None else ""
            raise error.at(prefix=f"data source {str(source)[:80]!r}{at}") from None
        prompt = extra.get("prompt")
        return self._scorer.score(check, text, extra.get("question") if prompt is None else prompt)


def _result(scored: Scored) -> dict[str, Any]:
    verdict = scored.verdict
    return {
        "score": scored.reward,
        "acc": scored.reward if scored.fault else float(verdict.correct),
        "fault": float(scored.fault),
        "outcome": str(verdict.outcome),
        "reason": verdict.reason,
        "pred": verdict.extracted or "",
    }
