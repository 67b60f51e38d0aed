"""One line of the ledger: a verdict, what it was said of, and by what."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from lydite.flag import Flag
from lydite.rollout import Rollout
from lydite.verdict import Verdict

Count = Annotated[int, msgspec.Meta(ge=0)]


class Mark(msgspec.Struct, frozen=True):
    """How far a file went: lines, bytes, and the SHA-256 of those bytes."""

    count: Count
    size: Count
    sha256: str


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """A rollout with everything that was said of it, on its way into a run folder.

    Attributes:
        rollout: the attempt.
        verdict: what the verifier said.
        flags: suspicions.
        reward: the scalar for training; ``None`` where there is nothing to learn from.
        scheme: the reward scheme in words, such as ``asymmetric+format=0+flagged=keep``.
        verifier_source: hash of the verifier's source code; empty where no verifier was asked.
        seconds: time that verification took.
    """

    rollout: Rollout
    verdict: Verdict
    flags: tuple[Flag, ...] = ()
    reward: float | None = None
    scheme: str = ""
    verifier_source: str = ""
    seconds: float = 0.0


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What a ledger line says, apart from its place in the chain (``seq``, ``prev``, ``hash``; see ``ledger.chain``).

    ``sample``, ``task_digest`` and ``kind`` come first, so that verification finds them without parsing JSON.

    Attributes:
        sample: SHA-256 of the sample's line in ``rollouts.jsonl``.
        task_digest: digest of the task document.
        kind: ``verdict`` (of one new sample, in the order of ``rollouts.jsonl``).
        rollout: id of the rollout.
        task: id of the task.
        policy: identity of the policy that spoke.
        verdict: what was said.
        flags: suspicions at the time.
        reward: the scalar that training saw, or ``None``.
        scheme: the reward scheme in words, such as ``asymmetric+format=0+flagged=keep``.
        verifier_source: hash of the verifier's source code.
        seconds: time that verification took; beside the verdict, not in its identity.
        time: seconds since the epoch when the record was made.
    """

    sample: str
    task_digest: str
    kind: str = "verdict"
    rollout: str
    task: str
    policy: str
    verdict: Verdict
    flags: tuple[Flag, ...] = ()
    reward: float | None
    scheme: str
    verifier_source: str
    seconds: float
    time: float
    schema: int = 1


class Ref(msgspec.Struct, frozen=True):
    """Another record of the same ledger: its line number, and its hash."""

    seq: int
    hash: str


class Rescored(Record, frozen=True, kw_only=True):
    """Another verdict on a sample that has one (kind ``rescore``). ``task_digest`` is that of the task as it is judged
    now: with its checker of now, in ``tasks.jsonl`` or in the rescoring's file.

    Attributes:
        rescoring: name of the rescoring that it belongs to.
        of: the record of kind ``verdict`` that speaks of the same sample.
    """

    rescoring: str
    of: Ref


class Rescoring(msgspec.Struct, frozen=True, kw_only=True):
    """The beginning of a rescoring (kind ``rescoring``): other verdicts on the samples recorded before it.

    Attributes:
        kind: ``rescoring``; first, so that it is found without parsing JSON.
        name: unique in its run.
        settings: how the checkers were changed and what is judged again, as plain JSON.
        verifiers: source hash of each verifier that judges, by its id.
        tasks: the file ``rescorings/NAME.jsonl``: tasks of the run with their changed checkers.
        covers: how many records it judges again: it is complete when there are as many of its own.
        time: seconds since the epoch.
    """

    kind: str = "rescoring"
    name: str
    settings: dict[str, Any]
    verifiers: dict[str, str]
    tasks: Mark
    covers: Count
    time: float
    schema: int = 1


class Row(msgspec.Struct, frozen=True):
    """A sample and its record, as read back. ``seq`` is the record's place in the ledger, from 1: its line number."""

    rollout: Rollout
    record: Record
    seq: int


def record_of(graded: Graded, sample: str, time: float) -> Record:
    """The record of a graded rollout.

    Args:
        graded: the rollout and what was said of it.
        sample: SHA-256 of its line in ``rollouts.jsonl``, hex.
        time: seconds since the epoch.
    """
    rollout = graded.rollout
    return Record(
        sample=sample,
        task_digest=rollout.task_digest,
        rollout=rollout.id,
        task=rollout.task,
        policy=rollout.policy,
        verdict=graded.verdict,
        flags=graded.flags,
        reward=graded.reward,
        scheme=graded.scheme,
        verifier_source=graded.verifier_source,
        seconds=graded.seconds,
        time=time,
    )
