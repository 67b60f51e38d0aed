"""What the index answers with, and what it can be asked."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run in one line. ``id`` is its slug; ``state`` also ``unreadable`` (then ``error`` says why); ``spark`` the
    mean rewards of its latest steps (training) or groups, at most 60; ``created`` ISO 8601; ``updated`` seconds since
    the epoch; ``steps`` lines of ``metrics.jsonl``; ``mean_reward`` over attempts that have a reward; ``job`` where one
    of this service makes it."""

    id: str
    kind: str
    created: str
    state: str
    policy: str = ""
    head: str = ""
    error: str | None = None
    updated: float = 0.0
    rollouts: int = 0
    correct: int = 0
    invalid: int = 0
    flagged: int = 0
    suspected: int = 0
    mean_reward: float | None = None
    tasks: int = 0
    steps: int = 0
    spark: tuple[float, ...] = ()
    settings: dict[str, Any] = {}
    notes: dict[str, Any] = {}
    job: str | None = None


class GroupRow(msgspec.Struct, frozen=True, kw_only=True):
    """All attempts at one task in one phase. ``number`` names it in URLs; ``mean`` and ``std`` are of rewards."""

    run: str
    number: int
    phase: str
    stage: int | None = None
    step: int | None = None
    task: str
    n: int
    correct: int = 0
    partial: int = 0
    incorrect: int = 0
    unparseable: int = 0
    invalid: int = 0
    mean: float | None = None
    std: float | None = None
    signal: str = ""
    flagged: int = 0


class RolloutRow(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt without its words. ``seq``, its line in the ledger, names it in URLs; ``extracted`` is cut at 200
    characters; ``flags`` are names of detectors; ``seconds`` went into judging; ``time`` is when it was recorded."""

    run: str
    seq: int
    id: str
    group: int
    task: str
    phase: str
    stage: int | None = None
    step: int | None = None
    index: int = 0
    outcome: str
    score: float | None = None
    reward: float | None = None
    reason: str = ""
    extracted: str | None = None
    verifier: str = ""
    policy: str = ""
    finish: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    time: float = 0.0
    flags: tuple[str, ...] = ()
    bars: bool = False


class OtherVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a rescoring said of an attempt; ``seq`` is its own line in the ledger."""

    name: str
    seq: int
    outcome: str
    score: float | None
    reason: str
    verifier: str


class FlagRow(msgspec.Struct, frozen=True, kw_only=True):
    """A flag, the attempt that it stands at, what was decided."""

    run: str
    seq: int
    detector: str
    version: int
    bars: bool
    rollout: RolloutRow
    evidence: dict[str, Any] = {}
    decision: str | None = None
    note: str | None = None
    decided: float | None = None


class TaskRow(msgspec.Struct, frozen=True, kw_only=True):
    """A task of a run, its prompt cut at 300 characters, and what came of it."""

    run: str
    line: int
    id: str
    digest: str
    prompt: str
    checker: str
    split: str = ""
    difficulty: str = ""
    attempts: int = 0
    correct: int = 0


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """Metrics of training steps by column: ``line`` (of ``metrics.jsonl``, from 1, never repeated), ``stage``,
    ``step``, and each key with ``None`` where a step does not have it. ``known`` lists every key of the run."""

    line: tuple[int, ...]
    stage: tuple[int, ...]
    step: tuple[int, ...]
    columns: dict[str, tuple[float | None, ...]]
    known: tuple[str, ...]


class PhaseRow(msgspec.Struct, frozen=True, kw_only=True):
    """Attempts of one phase together. Rates are of attempts that are not invalid; ``zero_std`` of groups."""

    phase: str
    stage: int | None
    step: int | None
    groups: int
    n: int
    correct: int
    invalid: int
    flagged: int
    mean: float | None
    zero_std: float


Sort = Literal["seq", "-seq", "reward", "-reward", "tokens", "-tokens", "seconds", "-seconds"]


class RolloutFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which attempts, all conditions together. ``steps`` and ``rewards`` are ranges with both ends, ``None`` is open;
    ``q`` is looked for, whatever its case, in the id, the task and the words of prompt and completion."""

    phase: str | None = None
    stage: int | None = None
    steps: tuple[int | None, int | None] = (None, None)
    task: str | None = None
    outcomes: tuple[str, ...] = ()
    flag: str | None = None  # a detector's name, or "any", or "none"
    rewards: tuple[float | None, float | None] = (None, None)
    reason: str | None = None
    finish: str | None = None
    q: str | None = None
    sort: Sort = "seq"


class GroupFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which groups. ``signals`` are of ``reward.Signal``."""

    phase: str | None = None
    stage: int | None = None
    steps: tuple[int | None, int | None] = (None, None)
    task: str | None = None
    signals: tuple[str, ...] = ()
    flagged: bool | None = None
    sort: Literal["number", "-number", "mean", "-mean", "std", "-std"] = "number"


class FlagFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which flags. ``decision``: confirmed, dismissed, or ``open``."""

    run: str | None = None
    detector: str | None = None
    decision: str | None = None
    correct: bool | None = None
