"""Where a run and the job that makes it stand, and what may be done about it now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from lydite.server.index.rows import RunRow
from lydite.server.jobs.status import JobRow, Status
from lydite.server.page import progress
from lydite.server.service import Service

Act = Literal["pause", "resume", "cancel"]

ACTS: dict[Status, tuple[Act, ...]] = {
    Status.VALIDATING: ("cancel",),
    Status.QUEUED: ("cancel",),
    Status.RUNNING: ("pause", "cancel"),
    Status.PAUSING: ("cancel",),
    Status.PAUSED: ("resume", "cancel"),
    Status.FAILED: ("resume",),
    Status.SUCCEEDED: (),
    Status.CANCELLED: (),
}
"""What ``Jobs`` does in a state, and so what is offered."""
DONE: dict[Act, str] = {"pause": "paused", "resume": "resumed", "cancel": "cancelled"}


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of it.

    Attributes:
        state: the job's own; the run's where no job makes it, or its job came to a good end.
        acts: what that state allows.
        place, queued: of a job that waits: which it is of how many; 0 else.
    """

    job: JobRow | None
    state: str
    acts: tuple[Act, ...] = ()
    place: int = 0
    queued: int = 0
    progress: progress.Progress | None = None


def of(service: Service, run: RunRow | None, job: JobRow | None, queue: Sequence[str] | None = None) -> Standing:
    """How a run (``None``: there is none yet) and its job (``None``: none makes it) stand. ``queue``: ids of the jobs
    that wait, for who knows them already."""
    done = progress.of(service, run, job)
    if job is None:
        return Standing(job=None, state=run.state if run else "", progress=done)
    ended_well = run is not None and job.status is Status.SUCCEEDED
    if job.status is not Status.QUEUED:
        queue = ()
    elif queue is None:
        queue = service.jobs.queue()
    return Standing(
        job=job,
        state=run.state if run and ended_well else job.status.value,
        acts=ACTS[job.status],
        place=queue.index(job.id) + 1 if job.id in queue else 0,
        queued=len(queue),
        progress=done,
    )
