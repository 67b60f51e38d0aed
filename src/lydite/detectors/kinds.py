"""Which verifiers had a say in a verdict."""

from __future__ import annotations

import re
from functools import lru_cache

from lydite.verdict import Verdict

COMPOSITES = frozenset(["all_of", "gate", "weighted"])

_NAME = re.compile(r"[^@(),]+(?=@)")


def kinds(verdict: Verdict) -> frozenset[str]:
    """Names of the verifiers in ``math@1`` or ``gate@1(math@1,steps@1)``; composites themselves left out."""
    return kinds_of(verdict.verifier)


@lru_cache(maxsize=256)
def kinds_of(verifier: str) -> frozenset[str]:
    """As ``kinds``, of a verdict's ``verifier``."""
    return frozenset(_NAME.findall(verifier)) - COMPOSITES
