"""Evaluation: what attempts say about a policy, and with how much certainty."""

from lydite.evaluation.intervals import Interval, bootstrap_mean, mean_interval, wilson
from lydite.evaluation.paired import Paired, paired, sign_test
from lydite.evaluation.passk import pass_at_k, pass_hat_k
from lydite.evaluation.report import write_report
from lydite.evaluation.summary import Estimate, GroupCounts, PassAt, Summary, group_counts, summarise
from lydite.evaluation.tally import Tally, tally

__all__ = [
    "Estimate",
    "GroupCounts",
    "Interval",
    "Paired",
    "PassAt",
    "Summary",
    "Tally",
    "bootstrap_mean",
    "group_counts",
    "mean_interval",
    "paired",
    "pass_at_k",
    "pass_hat_k",
    "sign_test",
    "summarise",
    "tally",
    "wilson",
    "write_report",
]
