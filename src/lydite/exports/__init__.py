"""Exports: what was verified, as rows that trainers read."""

from lydite.exports.examples import ExampleCounts, kto_rows, sft_rows
from lydite.exports.formats import Format
from lydite.exports.preferences import PairCounts, preference_pairs
from lydite.exports.writing import write_rows

__all__ = ["ExampleCounts", "Format", "PairCounts", "kto_rows", "preference_pairs", "sft_rows", "write_rows"]
