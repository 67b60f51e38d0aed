"""Where attacks on a workspace take place: a real one, from the state in which an attempt finds it."""

from __future__ import annotations

import threading

from lydite.environments.workspace import SETUP_TIMEOUT, WorkspaceEnvironment, open_sandbox
from lydite.errors import InputError, UnavailableError
from lydite.probes.protocol import Attack
from lydite.sandbox import Sandbox, Snapshot, Status
from lydite.task import Task

COMMAND_SECONDS = 10.0
"""Of one command of an attack."""


class WorkspaceGoneError(Exception):
    """The attack took its own workspace along: there is nothing to judge, and that is its own fault."""


class World:
    """One sandbox for all attacks. Thread-safe; nothing is started before the first workspace is needed."""

    def __init__(self) -> None:
        self._sandbox: Sandbox | None = None
        self._environment: WorkspaceEnvironment | None = None
        self._lock = threading.Lock()

    def _opened(self) -> tuple[Sandbox, WorkspaceEnvironment]:
        with self._lock:
            if self._sandbox is None or self._environment is None:
                self._sandbox = open_sandbox()
                self._environment = WorkspaceEnvironment(self._sandbox)
            return self._sandbox, self._environment

    def untouched(self, task: Task) -> Snapshot | None:
        """The workspace as an episode finds it; ``None`` for tasks without one.

        Raises:
            InputError: the set-up fails, or the environment is none in which attacks can be carried out.
            UnavailableError: there is no sandbox here.
        """
        if task.env == "none":
            return None
        if task.env != "workspace":
            remedy = "try it with a policy: lydite sample"
            raise InputError(f"nothing can be carried out by hand in {task.env!r:.60}", field="env", remedy=remedy)
        episode = self._opened()[1].start(task)
        try:
            return episode.freeze()
        finally:
            episode.close()

    def attacked(self, state: Snapshot, attack: Attack) -> Snapshot:
        """What an attack leaves. Its files may be refused and its commands may fail: it did what it could.

        Raises:
            WorkspaceGoneError: it filled the memory that its files lie in.
            UnavailableError: the sandbox failed by our fault.
        """
        with self._opened()[0].session(state) as workspace:
            for path, text in attack.files.items():
                try:
                    workspace.write(path, text, executable=text.startswith("#!"))
                except (OSError, InputError):
                    continue
            for command in attack.commands:
                result = workspace.exec(command, timeout=COMMAND_SECONDS)
                if result.status is Status.MEMORY and result.exit_code is None:
                    raise WorkspaceGoneError
                if result.status is Status.INVALID:
                    raise UnavailableError(f"the sandbox failed in a command: {result.detail}")
            try:
                workspace.freeze()
                return workspace.snapshot()
            except UnavailableError:
                if workspace.exec("true").status is Status.MEMORY:
                    raise WorkspaceGoneError from None
                raise

    def solved(self, task: Task, state: Snapshot) -> Snapshot:
        """The workspace after the reference solution: its files written, then its commands run.

        Raises:
            InputError: a file cannot be written, or a command fails; names the field.
            UnavailableError: the sandbox failed by our fault.
        """
        solution = task.solution if isinstance(task.solution, dict) else {}
        with self._opened()[0].session(state) as workspace:
            for path, text in (solution.get("files") or {}).items():
                try:
                    workspace.write(path, text, executable=text.startswith("#!"))
                except OSError as error:
                    told = error.strerror or str(error)
                    raise InputError(told, field=f"solution.files.{path}", remedy="name another path") from None
            for index, command in enumerate(solution.get("commands") or ()):
                result = workspace.exec(command, timeout=SETUP_TIMEOUT)
                if result.status is Status.INVALID:
                    raise UnavailableError(f"the sandbox failed in a command: {result.detail}")
                if result.status is not Status.OK:
                    said = (result.stderr or result.stdout).decode("utf-8", "replace").strip()[-300:]
                    message = f"fails ({result.status}, exit code {result.exit_code}): {said}"
                    raise InputError(message, field=f"solution.commands.{index}", remedy="mend the solution")
            workspace.freeze()
            return workspace.snapshot()

    def exec(self, state: Snapshot, command: str) -> str:
        """What a command prints in a workspace of this state."""
        with self._opened()[0].session(state) as workspace:
            return workspace.exec(command, timeout=COMMAND_SECONDS).stdout.decode("utf-8", "replace")

    def close(self) -> None:
        """End the sandbox."""
        with self._lock:
            environment, sandbox = self._environment, self._sandbox
            self._environment = self._sandbox = None
        if environment is not None:
            environment.close()
        if sandbox is not None:
            sandbox.close()

    def __enter__(self) -> World:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()
