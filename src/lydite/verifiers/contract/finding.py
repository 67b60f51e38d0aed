"""What the contract suite says."""

from __future__ import annotations

import msgspec


class Finding(msgspec.Struct, frozen=True):
    """What one check found on one subject.

    Attributes:
        check: name of the check, a key of ``CHECKS``.
        subject: what was tried: the label of a completion, a field of the configuration, a kind of process.
        passed: whether the promise was kept.
        evidence: what was seen, where it was not kept; why nothing was tried, where it was ``skipped``.
        skipped: nothing was tried, and that is no fault.
    """

    check: str
    subject: str
    passed: bool
    evidence: str = ""
    skipped: bool = False


SKIPPED = "skipped: "
"""What evidence begins with where nothing could be tried."""


def finding(check: str, subject: str, evidence: str) -> Finding:
    """What a check said, as a record."""
    if evidence.startswith(SKIPPED):
        return Finding(check, subject, True, evidence.removeprefix(SKIPPED), skipped=True)
    return Finding(check, subject, not evidence, evidence)
