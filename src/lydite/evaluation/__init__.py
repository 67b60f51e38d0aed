"""Evaluation: what attempts say about a policy, and with how much certainty."""

from lydite.evaluation.collect import Collected, collect
from lydite.evaluation.intervals import Interval, bootstrap_mean, mean_interval, wilson
from lydite.evaluation.paired import Paired, paired, paired_tallies, sign_test
from lydite.evaluation.passk import pass_at_k, pass_hat_k
from lydite.evaluation.report import sentence, write_report
from lydite.evaluation.summary import Estimate, GroupCounts, PassAt, Summary, group_counts, plain, summarise
from lydite.evaluation.tally import Tally, tally

__all__ = [
    "Collected",
    "Estimate",
    "GroupCounts",
    "Interval",
    "Paired",
    "PassAt",
    "Summary",
    "Tally",
    "bootstrap_mean",
    "collect",
    "group_counts",
    "mean_interval",
    "paired",
    "paired_tallies",
    "pass_at_k",
    "pass_hat_k",
    "plain",
    "sentence",
    "sign_test",
    "summarise",
    "tally",
    "wilson",
    "write_report",
]
