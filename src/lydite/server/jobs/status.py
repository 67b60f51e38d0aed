"""What a job is, and where it stands."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Status(StrEnum):
    """As OpenAI's API names them."""

    VALIDATING = "validating_files"
    QUEUED = "queued"
    RUNNING = "running"
    PAUSING = "pausing"
    PAUSED = "paused"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        return self in (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A job that somebody asks for, all of it checked.

    Attributes:
        kind: ``reinforcement``, ``supervised``, ``dpo`` or ``platform``.
        model: the policy that is trained, as a spec.
        model_asked: how the request called it.
        recipe: a recipe document (``training.recipe``); its files are names of ``files``, beside it in its folder.
        files: name to content, such as ``tasks.jsonl``.
        name: a suffix or title.
        metadata: the caller's own.
        request: the request as it came, to be told again.
        notes: what the caller should know, such as settings that were clamped.
    """

    kind: str
    model: str
    model_asked: str
    recipe: dict[str, Any]
    files: dict[str, bytes]
    name: str = ""
    metadata: dict[str, str] = {}
    request: dict[str, Any] = {}
    notes: tuple[str, ...] = ()


class JobRow(msgspec.Struct, frozen=True, kw_only=True):
    """A job. Times in seconds since the epoch; ``run`` is the slug of its run folder; ``document`` is the plan without
    the content of files; ``estimated`` when it will end, where that can be told."""

    id: str
    created: float
    finished: float | None = None
    status: Status
    kind: str
    model: str
    name: str = ""
    run: str
    error: str | None = None
    heartbeat: float | None = None
    estimated: float | None = None
    document: dict[str, Any] = {}


class JobEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a job's ``events.jsonl``. ``kind`` is ``message`` or ``metrics``; ``level`` info, warn or error."""

    id: str
    time: float
    level: str = "info"
    kind: str = "message"
    message: str
    data: dict[str, Any] = {}


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint of a job that is on disk. ``model`` is what ``/v1/models`` and chat completions call it."""

    id: str
    time: float
    step: int
    model: str
    metrics: dict[str, Any] = {}
