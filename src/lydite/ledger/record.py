"""One line of the ledger: a verdict, what it was said of, and by what."""

from __future__ import annotations

import msgspec

from lydite.flag import Flag
from lydite.verdict import Verdict


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What a ledger line says, apart from its place in the chain (``seq``, ``prev``, ``hash``; see ``ledger.chain``).

    Attributes:
        kind: ``verdict`` (of one new sample, in the order of ``rollouts.jsonl``); other kinds point to an older record.
        sample: SHA-256 of the sample's line in ``rollouts.jsonl``.
        rollout: id of the rollout.
        task: id of the task.
        task_digest: digest of the task document.
        policy: identity of the policy that spoke.
        verdict: what was said.
        flags: suspicions at the time.
        reward: the scalar that training saw, or ``None``.
        scheme: the reward scheme in words, such as ``asymmetric+format=0+flagged=keep``.
        verifier_source: hash of the verifier's source code.
        seconds: time that verification took; beside the verdict, not in its identity.
        time: seconds since the epoch when the record was made.
    """

    kind: str = "verdict"
    sample: str
    rollout: str
    task: str
    task_digest: str
    policy: str
    verdict: Verdict
    flags: tuple[Flag, ...] = ()
    reward: float | None
    scheme: str
    verifier_source: str
    seconds: float
    time: float
    schema: int = 1
