"""Sampling: groups of attempts, judged and kept in a run folder."""

from lydite.sampling.engine import Progress, sample
from lydite.sampling.judge import Judge
from lydite.sampling.rescoring import Rescore, rescore
from lydite.sampling.seeds import attempt_seed
from lydite.sampling.settle import settle
from lydite.sampling.totals import SampleTotals, Tally

__all__ = ["Judge", "Progress", "Rescore", "SampleTotals", "Tally", "attempt_seed", "rescore", "sample", "settle"]
