"""Which verifiers had a say in a verdict."""

from __future__ import annotations

import re

from lydite.verdict import Verdict

COMPOSITES = frozenset(["all_of", "gate", "weighted"])

_NAME = re.compile(r"[^@(),]+(?=@)")


def kinds(verdict: Verdict) -> frozenset[str]:
    """Names of the verifiers in ``math@1`` or ``gate@1(math@1,steps@1)``; composites themselves left out."""
    return frozenset(_NAME.findall(verdict.verifier)) - COMPOSITES
