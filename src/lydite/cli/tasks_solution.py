"""Reference solutions, carried out and judged: what ``run-solution`` shows, and ``lint`` looks at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lydite.environments.workspace import SETUP_TIMEOUT, WorkspaceEnvironment, open_sandbox
from lydite.errors import InputError, UnavailableError
from lydite.sandbox import Sandbox, Snapshot, Status
from lydite.task import Task
from lydite.verdict import Verdict
from lydite.verifiers import verify


class Bench:
    """A sandbox in which tasks are set up and solved. Nothing is started before the first workspace is needed."""

    def __init__(self) -> None:
        self._sandbox: Sandbox | None = None
        self._environment: WorkspaceEnvironment | None = None

    def untouched(self, task: Task) -> Snapshot | None:
        """The workspace as an episode finds it; ``None`` for tasks without one.

        Raises:
            InputError: the set-up fails; names the field.
            UnavailableError: there is no sandbox here.
        """
        if task.env == "none":
            return None
        if task.env != "workspace":
            remedy = "try it with a policy: lydite sample"
            raise InputError(f"a solution cannot be carried out in {task.env!r:.60}", field="env", remedy=remedy)
        if self._environment is None:
            self._sandbox = open_sandbox()
            self._environment = WorkspaceEnvironment(self._sandbox)
        episode = self._environment.start(task)
        try:
            return episode.freeze()
        finally:
            episode.close()

    def solved(self, task: Task, state: Snapshot) -> Snapshot:
        """The workspace after the reference solution: its files written, then its commands run.

        Raises:
            InputError: a file cannot be written, or a command fails; names the field.
        """
        assert self._sandbox is not None
        solution: dict[str, Any] = task.solution if isinstance(task.solution, dict) else {}
        with self._sandbox.session(state) as workspace:
            for path, text in solution.get("files", {}).items():
                try:
                    workspace.write(path, text, executable=text.startswith("#!"))
                except OSError as error:
                    told = error.strerror or str(error)
                    raise InputError(told, field=f"solution.files.{path}", remedy="name another path") from None
            for index, command in enumerate(solution.get("commands", ())):
                result = workspace.exec(command, timeout=SETUP_TIMEOUT)
                if result.status is Status.INVALID:
                    raise UnavailableError(f"the sandbox failed in a command: {result.detail}")
                if result.status is not Status.OK:
                    said = (result.stderr or result.stdout).decode("utf-8", "replace").strip()[-300:]
                    message = f"fails ({result.status}, exit code {result.exit_code}): {said}"
                    raise InputError(message, field=f"solution.commands.{index}", remedy="mend the solution")
            workspace.freeze()
            return workspace.snapshot()

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

    def close(self) -> None:
        """End the sandbox."""
        if self._environment is not None:
            self._environment.close()
        if self._sandbox is not None:
            self._sandbox.close()


@contextmanager
def bench() -> Iterator[Bench]:
    """A bench that is closed at the end."""
    made = Bench()
    try:
        yield made
    finally:
        made.close()
