"""``workspace``: files and commands in a sandbox of the attempt's own.

Covered: each attempt has a file tree, processes and limits of its own, no network, no secrets (docs/sandbox.md); a path
that leads out is refused, also through links; output is cut with a mark that says how much; what is no UTF-8 is
replaced. Python, and pytest where it is installed for Lydite, come from the host.
Not covered: what a command that the task's author wrote does in it.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from lydite.codec import well_formed
from lydite.environments.protocol import Answer, WorldLostError
from lydite.environments.tools import ArgumentError, FunctionTool
from lydite.errors import InputError, LyditeError, UnavailableError
from lydite.rollout import Tool
from lydite.sandbox import ExecResult, Sandbox, Snapshot, Status, Workspace, overlay
from lydite.task import Task

TIMEOUT = 30.0
"""Seconds of one command, unless it asks for fewer."""
SETUP_TIMEOUT = 120.0
"""Seconds of one set-up command."""
SHOWN = 10_000
"""Characters of output that a policy is shown of one command or file."""
PROGRAMS = ("pytest",)
"""Distributions that an attempt finds, with their programs, where they are installed for Lydite."""
KEPT = 32
"""Prepared workspaces at hand, by task."""


def open_sandbox() -> Sandbox:
    """A sandbox with all that an attempt finds: ``PROGRAMS``, and the packages of the run.

    Raises:
        UnavailableError: no sandbox works here.
        StorageError: there is no place to keep the programs.
    """
    return Sandbox(overlays=(*overlay.shared(), *overlay.installed(PROGRAMS)))


class WorkspaceEnvironment:
    """Tools of a terminal. See the module."""

    name = "workspace"
    version = 2

    def __init__(
        self,
        sandbox: Sandbox | None = None,
        *,
        timeout: float = TIMEOUT,
        shown: int = SHOWN,
        extra: Sequence[Callable[..., str]] = (),
        name: str = "workspace",
    ) -> None:
        """Args:
            sandbox: where workspaces live; one of its own when not given, made when the first episode starts.
            timeout: seconds of one command.
            shown: characters of output that a policy is shown of one call.
            extra: further tools: functions that take a ``Workspace`` first, then what the policy gives, and return what
                it is shown. They run outside of the sandbox: what they run or read goes through the workspace.
            name: what rollouts are said to have taken place in; its own where there are extra tools.

        Raises:
            InputError: a function that can be no tool, or is called like another one; extra tools without a name.
        """
        more = [FunctionTool(function) for function in extra]
        if len({*TOOLS, *(tool.name for tool in more)}) < len(TOOLS) + len(more):
            raise InputError("two tools have one name", field="extra", remedy=f"there are {', '.join(TOOLS)} already")
        if more and name == self.name:
            raise InputError("needs a name of its own", field="name", remedy="give one: its episodes are others")
        self.name = name
        self._tools = dict(sorted({**TOOLS, **{tool.name: tool for tool in more}}.items()))
        self._extra = frozenset(tool.name for tool in more)
        self._own = sandbox is None
        self._sandbox, self._timeout, self._shown = sandbox, timeout, shown
        self._lock = threading.Lock()
        self._prepared: OrderedDict[str, Future[Snapshot]] = OrderedDict()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """``run_command``, ``read_file``, ``write_file``, ``list_dir`` and the extra ones, in order of their names."""
        return tuple(tool.tool for tool in self._tools.values())

    def start(self, task: Task) -> WorkspaceEpisode:
        """A workspace with the task's files, after its set-up commands.

        Raises:
            InputError: a path or a command of the set-up fails.
            UnavailableError: no sandbox here.
        """
        sandbox, digest = self._opened(), task.digest
        with self._lock:
            prepared = self._prepared.get(digest)
            first = prepared is None
            if prepared is None:  # attempts of a group start together: one of them prepares the task for all
                prepared = self._prepared[digest] = Future()
                if len(self._prepared) > KEPT:
                    self._prepared.popitem(last=False)
        if first:
            try:
                prepared.set_result(_prepare(sandbox, task))
            except BaseException as error:
                with self._lock:
                    self._prepared.pop(digest, None)
                prepared.set_exception(error)
                raise
        workspace = sandbox.session(prepared.result())
        return WorkspaceEpisode(workspace, self._timeout, self._shown, self._tools, self._extra)

    def _opened(self) -> Sandbox:
        with self._lock:
            if self._sandbox is None:
                self._sandbox = open_sandbox()
            return self._sandbox

    def close(self) -> None:
        """End the sandbox, where it is this environment's own."""
        with self._lock:
            if self._own and self._sandbox is not None:
                self._sandbox.close()
                self._sandbox = None


def _prepare(sandbox: Sandbox, task: Task) -> Snapshot:
    """The workspace as every attempt at a task finds it. What set-up commands leave running is ended."""
    start = Snapshot.from_files({path: text.encode() for path, text in task.setup_files.items()})
    if not task.setup_commands:
        return start
    with sandbox.session(start) as workspace:
        for index, command in enumerate(task.setup_commands):
            result = workspace.exec(command, timeout=SETUP_TIMEOUT)
            if result.status is Status.INVALID:
                raise UnavailableError(f"the sandbox failed in a set-up command: {result.detail}")
            if result.status is not Status.OK:
                said = _text(result.stderr or result.stdout).strip()[-300:]
                raise InputError(
                    f"fails ({result.status}, exit code {result.exit_code}): {said}",
                    field=f"setup_commands.{index}",
                    remedy="try it with: lydite sandbox exec DIR -- COMMAND",
                )
        workspace.freeze()
        return workspace.snapshot()


class WorkspaceEpisode:
    """One workspace, for one attempt."""

    done = False

    def __init__(
        self,
        workspace: Workspace,
        timeout: float,
        shown: int,
        tools: Mapping[str, FunctionTool],
        extra: Collection[str] = (),
    ) -> None:
        self._workspace, self._timeout, self._shown = workspace, timeout, shown
        self._tools, self._extra = tools, extra
        self._state: Snapshot | None = None

    def call(self, name: str, arguments: dict[str, Any]) -> Answer:
        """Carry out one call."""
        begin = time.perf_counter()
        tool = self._tools.get(name)
        if tool is None:
            return Answer(text=f"error: there is no tool {name[:80]!r}; tools: {', '.join(self._tools)}", failed=True)
        try:
            given = tool.arguments(arguments)
            text, failed = self._theirs(tool, given) if name in self._extra else (tool.function(self, **given), False)
        except ArgumentError as error:
            text, failed = f"error: {error}", True
        except InputError as error:
            text, failed = f"error: {error.message}", True
        except OSError as error:
            text, failed = f"error: {(error.strerror or str(error)).partition(' [')[0]}", True
        return Answer(text=text, failed=failed, seconds=time.perf_counter() - begin)

    def _theirs(self, tool: FunctionTool, given: dict[str, Any]) -> tuple[str, bool]:
        """A tool of the user's own: what it raises is told to the policy, and counted."""
        try:
            return cut(well_formed(str(tool.function(self._workspace, **given))), self._shown), False
        except (LyditeError, OSError):
            raise
        except Exception as error:
            return f"error: {tool.name} failed: {type(error).__name__}: {str(error)[:200]}", True

    def list_dir(self, path: str = "") -> str:
        """List the names in a folder of the workspace. Folders end in a slash.

        Args:
            path: The folder, relative to the workspace. Leave it out for the workspace itself.
        """
        names = self._workspace.list(path)
        return cut("\n".join(names) if names else "(empty)", self._shown)

    def read_file(self, path: str) -> str:
        """Read a text file of the workspace.

        Args:
            path: The file, relative to the workspace.
        """
        return cut(_text(self._workspace.read(path)), self._shown)

    def run_command(self, command: str) -> str:
        """Run a shell command in the workspace and return what it prints, and its exit code if that is not 0.

        Args:
            command: The command, as one line of a shell.
        """
        result = self._workspace.exec(command, timeout=self._timeout)
        if result.status is Status.INVALID:
            raise UnavailableError(f"the workspace was lost: {result.detail}")
        if result.status is Status.MEMORY and result.exit_code is None:
            raise WorldLostError(result.detail)
        return self._said(result)

    def write_file(self, path: str, content: str) -> str:
        """Write a text file in the workspace. It is made, or replaced, with the folders above it.

        Args:
            path: The file, relative to the workspace.
            content: All of its text.
        """
        data = content.encode("utf-8", "replace")
        self._workspace.write(path, data)
        return f"wrote {len(data)} bytes to {path}"

    def _said(self, result: ExecResult) -> str:
        parts = [_text(result.stdout), _text(result.stderr)]
        text = "".join(part if part.endswith("\n") else part + "\n" for part in parts if part)
        text = cut(text, self._shown)
        if result.status is Status.OK:
            return text or "(no output)"
        if result.status is Status.ERROR:
            return f"{text}[exit code {result.exit_code}]"
        return f"{text}[ended: {_WHY.get(result.status, str(result.status))}]"

    def freeze(self) -> Snapshot:
        """End all processes and take the tree.

        Raises:
            WorldLostError: the attempt's own programs lost it.
            UnavailableError: we did.
        """
        if self._state is None:
            try:
                self._workspace.freeze()
                self._state = self._workspace.snapshot()
            except UnavailableError as error:
                if self._workspace.exec("true").status is Status.MEMORY:
                    raise WorldLostError(str(error)) from None
                raise
        return self._state

    def close(self) -> None:
        """Remove the workspace."""
        self._workspace.close()


_WHY = {
    Status.TIMEOUT: "it ran out of time",
    Status.MEMORY: "it ran out of memory",
    Status.PROCESSES: "it started too many processes",
    Status.DISK: "the disk is full",
    Status.OUTPUT: "it printed too much; the rest is cut off",
    Status.KILLED: "it was killed",
}
TOOLS = {
    function.__name__: FunctionTool(function)
    for function in (
        WorkspaceEpisode.list_dir,
        WorkspaceEpisode.read_file,
        WorkspaceEpisode.run_command,
        WorkspaceEpisode.write_file,
    )
}


def cut(text: str, limit: int) -> str:
    """A text of at most about ``limit`` characters: beginning and end, and between them how much was left out."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[len(text) - limit // 3 :]
    return f"{head}\n[… {len(text) - len(head) - len(tail)} of {len(text)} characters left out …]\n{tail}"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
