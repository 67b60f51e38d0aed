"""The jobs of a service: made, watched, stopped, gone on with. Each is a process group of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Engine

from lydite.server.events import Bus
from lydite.server.home import Home
from lydite.server.jobs.status import Checkpoint, JobEvent, JobRow, Plan
from lydite.server.paging import Page
from lydite.server.settings import Settings


class Jobs:
    """Blocking; safe from threads. Unknown ids raise ``NotFoundError``, a state that does not allow it
    ``RefusedError``."""

    def __init__(self, home: Home, engine: Engine, bus: Bus, settings: Settings) -> None:
        self.home, self.engine, self.bus, self.settings = home, engine, bus, settings

    def start(self) -> None:
        """Find the jobs that there are, and begin to watch them."""
        raise NotImplementedError

    def stop(self) -> None:
        """End watching. Jobs go on without the service."""
        raise NotImplementedError

    def create(self, plan: Plan) -> JobRow:
        """Make a job; it runs when there is room.

        Raises:
            RefusedError: the recipe or its tasks are unusable; names the field, and the line of a file.
        """
        raise NotImplementedError

    def get(self, job: str) -> JobRow:
        raise NotImplementedError

    def of_run(self, run: str) -> JobRow | None:
        raise NotImplementedError

    def page(
        self,
        *,
        kinds: Sequence[str] = (),
        metadata: Mapping[str, str] | None = None,
        limit: int = 20,
        after: str | None = None,
    ) -> Page[JobRow]:
        """The newest first."""
        raise NotImplementedError

    def cancel(self, job: str) -> JobRow:
        raise NotImplementedError

    def pause(self, job: str) -> JobRow:
        """Write a checkpoint, then stop."""
        raise NotImplementedError

    def resume(self, job: str) -> JobRow:
        """Go on with a job that was paused, failed or killed, from its last checkpoint."""
        raise NotImplementedError

    def events(self, job: str, *, limit: int = 20, after: str | None = None) -> Page[JobEvent]:
        """The newest first."""
        raise NotImplementedError

    def checkpoints(self, job: str, *, limit: int = 10, after: str | None = None) -> Page[Checkpoint]:
        """The newest first."""
        raise NotImplementedError

    def log(self, job: str, *, lines: int = 40) -> str:
        """The last lines of what the job printed."""
        raise NotImplementedError

    def reload(self) -> int:
        """Fill the table from the jobs' folders; how many there are."""
        raise NotImplementedError
