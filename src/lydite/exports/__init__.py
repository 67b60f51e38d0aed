"""Exports: what was verified, as rows that trainers read; and verdicts, as rewards of other trainers."""

from lydite.exports.examples import ExampleCounts, kto_rows, sft_rows
from lydite.exports.formats import Format
from lydite.exports.preferences import PairCounts, preference_pairs
from lydite.exports.rewards import TrlReward, trl_reward
from lydite.exports.writing import write_rows

__all__ = [
    "ExampleCounts",
    "Format",
    "PairCounts",
    "TrlReward",
    "kto_rows",
    "preference_pairs",
    "sft_rows",
    "trl_reward",
    "write_rows",
]
