"""Metrics of a step under the names that other services give them, beside their own."""

from __future__ import annotations

from collections.abc import Mapping

_SAME = {
    "train_loss": "loss",
    "train_mean_reward": "reward",
    "train_mean_token_accuracy": "mean_token_accuracy",
    "completion_tokens_mean": "completions/mean_length",
    "mean_unresponsive_rewards": "invalid_rate",
}
"""Name of OpenAI's API or of Foundry: name of ``metrics.jsonl``."""


def named(metrics: Mapping[str, float]) -> dict[str, float]:
    """The metrics, and those that have another name elsewhere a second time."""
    return {**metrics, **{other: metrics[own] for other, own in _SAME.items() if own in metrics}}
