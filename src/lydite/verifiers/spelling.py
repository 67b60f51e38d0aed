"""A verdict on one line of JSON, as ``lydite verify`` writes it and the service answers it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from lydite.codec import well_formed
from lydite.reward import RewardScheme
from lydite.verdict import Outcome, Part, Verdict
from lydite.verifiers.protocol import Step

_REWARDS = RewardScheme()


class _Out(msgspec.Struct, omit_defaults=True):
    id: msgspec.Raw
    outcome: Outcome
    score: float | None
    reward: float | None
    reason: str
    extracted: str | None
    flags: tuple[str, ...]
    verifier: str
    seconds: float
    parts: tuple[Part, ...] = ()
    detail: str | None = None
    line: int | None = None
    index: int | None = None
    explain: tuple[Step, ...] = ()


_OUT = msgspec.json.Encoder()


def spell(
    row_id: msgspec.Raw,
    verdict: Verdict,
    flags: Iterable[Any] = (),
    seconds: float = 0.0,
    *,
    line: int | None = None,
    index: int | None = None,
    explain: tuple[Step, ...] = (),
) -> bytes:
    """JSON of a verdict, without a line end.

    Args:
        row_id: the caller's id, as it came.
        verdict, flags: what was said; the reward is that of the default scheme.
        seconds: that judging took.
        line, index: of an item that could not be judged: which line of a file, or which of a list.
        explain: steps that led to the verdict.
    """
    out = _Out(
        id=row_id,
        outcome=verdict.outcome,
        score=verdict.score,
        reward=_REWARDS.reward(verdict, flags),
        reason=verdict.reason,
        extracted=None if verdict.extracted is None else well_formed(verdict.extracted),
        flags=tuple(flag.detector for flag in flags),
        verifier=verdict.verifier,
        seconds=round(seconds, 7),
        parts=verdict.parts,
        detail=verdict.detail,
        line=line,
        index=index,
        explain=explain,
    )
    try:
        return _OUT.encode(out)
    except (UnicodeError, TypeError, ValueError) as error:
        if verdict.reason == "unwritable_verdict":
            raise
        fault = Verdict.invalid(
            "unwritable_verdict", verdict.verifier, detail=f"{type(error).__name__}: {error!a:.300}"
        )
        return spell(row_id, fault, line=line, index=index)
