"""Reference solutions, carried out and judged: what ``run-solution`` shows, and ``lint`` looks at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lydite.errors import InputError
from lydite.probes.world import World
from lydite.sandbox import Snapshot
from lydite.task import Task
from lydite.verdict import Verdict
from lydite.verifiers import verify


class Bench(World):
    """A sandbox in which tasks are set up, solved and judged."""

    def judged(self, task: Task, state: Snapshot | None) -> Verdict | None:
        """The verdict on a task's reference solution; ``None`` where it has none.

        Args:
            state: the untouched workspace.

        Raises:
            InputError: the solution fails, or the checker is unusable; names the field.
            UnavailableError: what judging needs is not on this machine.
        """
        if task.solution is None:
            return None
        if isinstance(task.solution, str):
            return verify(task, task.solution, state=state)
        if state is None:
            remedy = 'say "env": "workspace", or give the solution as a text'
            raise InputError("there is no workspace to solve it in", field="solution", remedy=remedy)
        return verify(task, "", state=self.solved(task, state))


@contextmanager
def bench() -> Iterator[Bench]:
    """A bench that is closed at the end."""
    made = Bench()
    try:
        yield made
    finally:
        made.close()
