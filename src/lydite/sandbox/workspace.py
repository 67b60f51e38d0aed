"""A private file tree in which commands run: what an agent's episode takes place in."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from lydite.errors import InputError, UnavailableError
from lydite.sandbox.arguments import content, environ, override, words
from lydite.sandbox.result import MIB, ExecResult, Limits, Tree
from lydite.sandbox.snapshot import Snapshot

if TYPE_CHECKING:
    from concurrent.futures import Executor

T = TypeVar("T")
Left = list[str]


class Workspace:
    """Made by :meth:`lydite.sandbox.Sandbox.session`. Thread-safe: operations take turns.

    Paths are relative to the workspace. No operation follows a symbolic link or leaves the workspace: such a path
    raises ``OSError`` (ELOOP, EXDEV) or, where it could name no file at all, :class:`~lydite.errors.InputError`. A
    workspace that was lost (of its programs' doing only where they filled its memory) raises
    :class:`~lydite.errors.UnavailableError`.
    """

    def __init__(self, tree: Tree, limits: Limits, backend: str, executor: Executor | None = None) -> None:
        self.backend = backend
        self._tree, self._limits, self._executor = tree, limits, executor
        self._lock = threading.Lock()
        self._frozen = False
        self._closed = False

    def exec(
        self,
        command: str | Sequence[str],
        *,
        stdin: bytes | str = b"",
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        **changes: Any,
    ) -> ExecResult:
        """Run a command: a text under ``sh -c``, a sequence as it is.

        What it leaves running goes on, until the workspace is frozen or closed, or a command runs into its limit on
        time or memory. Limits as in :meth:`lydite.sandbox.Sandbox.run`.

        Raises:
            InputError: an argument of a wrong kind.
            UnavailableError: the workspace is frozen or closed.
        """
        argv = ("/bin/sh", "-c", command) if isinstance(command, str) else words(command, "command")
        data, extra = content(stdin, "stdin"), environ(env)
        wanted = override(limits or self._limits, changes)
        with self._lock:
            self._open(frozen=True)
            return self._tree.exec(argv, stdin=data, env=extra, limits=wanted)

    async def aexec(self, command: str | Sequence[str], **options: Any) -> ExecResult:
        """:meth:`exec` without blocking the event loop."""
        import asyncio

        call = lambda: self.exec(command, **options)  # noqa: E731
        return await asyncio.get_running_loop().run_in_executor(self._executor, call)

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The content of a regular file. ``limit``: bytes, default all that a workspace can hold; beyond it, EFBIG."""
        with self._lock:
            self._open()
            return _checked(lambda: self._tree.read(path, self._limits.disk_mb * MIB if limit is None else limit))

    def write(self, path: str, data: bytes | str, *, executable: bool = False) -> None:
        """Make or replace a file, with the folders above it."""
        new = content(data, "data")
        with self._lock:
            self._open(frozen=True)
            _checked(lambda: self._tree.write(path, new, 0o755 if executable else 0o644))

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it."""
        with self._lock:
            self._open(frozen=True)
            _checked(lambda: self._tree.remove(path))

    def list(self, path: str = "") -> list[str]:
        """Names in a folder (default: the workspace itself), sorted; folders end in ``/``."""
        with self._lock:
            self._open()
            return _checked(lambda: self._tree.list("" if path == "." else path))

    def freeze(self) -> None:
        """Kill every process and refuse commands and changes: what is read from now on stays so. Idempotent."""
        with self._lock:
            self._open()
            if not self._frozen:
                self._tree.freeze()
                self._frozen = True

    def snapshot(self) -> Snapshot:
        """The tree as it is now: compare it, keep it, start another session from it. Freeze first where something may
        still be writing."""
        with self._lock:
            self._open()
            return Snapshot.from_pack(self._tree.pack())

    def digest(self) -> str:
        """A hash of names, contents, links and executable bits of the tree; times and owners do not count."""
        return self.snapshot().digest

    def export(self, directory: str | Path, overwrite: bool = False) -> Left:
        """Copy the tree to a folder of the host. Returns what was left out: links that lead out of the tree."""
        return self.snapshot().export(directory, overwrite)

    def close(self) -> None:
        """Kill every process and remove the tree. Idempotent."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._tree.close()

    def _open(self, frozen: bool = False) -> None:
        if self._closed:
            raise UnavailableError("the workspace is closed")
        if frozen and self._frozen:
            raise UnavailableError("the workspace is frozen: nothing changes in it any more")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _checked(action: Callable[[], T]) -> T:
    try:
        return action()
    except ValueError as error:
        raise InputError(
            str(error), field="path", remedy="give a path relative to the workspace, without '..'"
        ) from None
