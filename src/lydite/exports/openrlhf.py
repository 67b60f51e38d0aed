"""Lydite's verdicts as OpenRLHF's reward (written against OpenRLHF 0.11.2).

OpenRLHF loads a file (``--reward.remote_url lydite_reward.py``) and calls its ``reward_func`` from threads, a sample at
a time, with ``queries`` (prompt and response, decoded with all special tokens), ``prompts`` and ``labels``. What it
raises is a line in a log there, and the sample has no reward.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from lydite.errors import InputError, LyditeError
from lydite.exports.checkers import CheckerLike
from lydite.exports.scoring import Scored, Scorer
from lydite.ledger.derive import policy_fault
from lydite.reward import RewardScheme

ENDS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|end|>", "<|return|>", "</s>", "<eos>",
        "<pad>", "<end_of_turn>", "<｜end▁of▁sentence｜>")  # fmt: skip
"""Special tokens that end a response; they are no part of an answer."""

_log = logging.getLogger(__name__)


class OpenRLHFReward:
    """The function that OpenRLHF calls. Made by the file that ``lydite export shim openrlhf`` writes."""

    def __init__(
        self, checker: CheckerLike | None = None, *, scheme: str | RewardScheme = "asymmetric", on_fault: str = "zero"
    ) -> None:
        """Take the settings.

        Args:
            checker: a verifier's name, or a checker whose answer is open: labels are golds. ``None``: labels are
                checkers, as JSON text.
            scheme: how a verdict becomes a number.
            on_fault: the reward of a sample whose verdict is invalid: ``zero``, ``nan``, or ``raise`` (which OpenRLHF
                logs, and then stops for want of a reward).

        Raises:
            InputError: one of them means nothing.
        """
        self._scorer = Scorer(checker, scheme=scheme, on_fault=on_fault)

    def reward_func(
        self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_kwargs: Any
    ) -> dict[str, Any]:
        """Rewards of samples.

        Returns:
            ``rewards`` (float32 tensor, one per query), ``scores`` (in [0, 1], for dynamic filtering), and
            ``extra_logs`` with ``acc`` and ``fault``. A fault has 0.0, or NaN, as its reward and score, and 1.0 under
            ``fault``.

        Raises:
            InputError: a label cannot be used, or the lists have different lengths.
            LyditeError: a fault, where faults are to stop the run.
        """
        import torch

        try:
            if not len(queries) == len(prompts) == len(labels):
                raise InputError("lists of different lengths", field="queries")
            scored = [
                self._score(query, prompt, label, f"labels[{position}]")
                for position, (query, prompt, label) in enumerate(zip(queries, prompts, labels, strict=True))
            ]
        except LyditeError as error:
            _log.error("lydite: %s", error)
            raise
        return {
            "rewards": torch.tensor([item.reward for item in scored], dtype=torch.float32),
            "scores": torch.tensor(
                [item.reward if item.verdict.score is None else item.verdict.score for item in scored],
                dtype=torch.float32,
            ),
            "extra_logs": {
                "acc": torch.tensor([float(item.verdict.correct) for item in scored]),
                "fault": torch.tensor([float(item.fault) for item in scored]),
            },
        }

    def _score(self, query: str, prompt: str, label: Any, field: str) -> Scored:
        if self._scorer.checkers.per_row:
            check = self._scorer.find(label, None, (field, field))
        else:
            check = self._scorer.find(None, label, (field, field))
        response = response_of(query, prompt)
        if response is None:
            return self._scorer.fault(policy_fault("prompt_not_in_query"))
        return self._scorer.score(check, response, prompt)


def response_of(query: str, prompt: str) -> str | None:
    """What follows the prompt, without the special tokens at its end; ``None`` where the prompt is not there."""
    start = query.find(prompt.strip())
    if start < 0:
        return None
    begin, end = start + len(prompt.strip()), len(query)
    while True:
        while end > begin and query[end - 1].isspace():
            end -= 1
        token = next((token for token in ENDS if query.endswith(token, begin, end)), None)
        if token is None:
            return query[begin:end]
        end -= len(token)
