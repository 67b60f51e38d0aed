"""The back end ``unsafe``: programs as plain child processes. Only by name, and every result names it.

Covered: what :mod:`.bare` holds a process to; files of a session are reached without following links. Not covered:
isolation of any kind. It is for trusted programs, and for machines that have nothing better.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
import threading
import weakref
from collections.abc import Sequence

from lydite.errors import InputError, UnavailableError
from lydite.sandbox.external import warden
from lydite.sandbox.external.bare import NAME, Bare, unheld
from lydite.sandbox.external.base import Base
from lydite.sandbox.interpreter import Environment
from lydite.sandbox.jail.packing import Entry, Kind, check_path, encode, parse
from lydite.sandbox.result import MIB, ExecResult, Job, Limits

_KEPT = ("PATH", "SYSTEMROOT", "PATHEXT", "COMSPEC")  # without the last three nothing starts on Windows


class Unsafe:
    """See :class:`~lydite.sandbox.result.Backend`. Thread-safe.

    Raises:
        InputError: ``network="loopback"``; a program here has the whole network.
    """

    name = NAME

    def __init__(self, environment: Environment | None, workers: int, network: str = "none") -> None:
        if network == "loopback":
            remedy = "it cannot have one of its own here; leave network out, which isolates nothing either"
            raise InputError("unsafe programs have the network of this machine", field="network", remedy=remedy)
        self._python = environment.python if environment else getattr(sys, "_base_executable", sys.executable)
        self._packages = () if environment is None else environment.packages
        self._overlays = () if environment is None else environment.overlays
        self._workers, self.closed = workers, False
        self._begin()
        _ALL.add(self)

    def _begin(self) -> None:
        """Everything that belongs to this process."""
        self._turn = threading.BoundedSemaphore(self._workers)
        self._lock = threading.Lock()
        self._running: set[Bare] = set()
        self._pid = os.getpid()
        self.base = Base("lydite-unsafe-")

    def after_fork(self) -> None:
        """In a child of this process: what was started belongs to the parent; start afresh when asked."""
        self.base.forget()
        self._lock = threading.Lock()
        self._pid = 0

    def run(self, job: Job) -> list[ExecResult]:
        """Run the program once per input."""
        return [self._once(job, stdin) for stdin in job.stdins]

    def _once(self, job: Job, stdin: bytes) -> ExecResult:
        self._mine()
        tree = UnsafeTree(self, job.files, job.limits)
        try:
            argv, env = job.argv, job.env
            if job.code is not None:
                main = os.path.join(tree.folder, "main.py")
                with open(main, "wb") as file:
                    file.write(job.code.encode(errors="surrogatepass"))
                argv = (self._python, "-s", "-P", main)
                env = {"PYTHONPATH": self.path(tree.workspace), **env}
            return tree.exec(argv, stdin=stdin, env=env, limits=job.limits)
        finally:
            tree.close()

    def session(self, files: dict[str, bytes], limits: Limits) -> UnsafeTree:
        """A private folder, and commands in it."""
        self._mine()
        return UnsafeTree(self, files, limits)

    def path(self, *first: str) -> str:
        """PYTHONPATH: the folders in which the packages that were asked for lie, with all that lies beside them."""
        folders = dict.fromkeys(os.path.dirname(path) for path, _ in self._packages)
        return os.pathsep.join([*first, *folders, *self._overlays])

    def launch(
        self, tree: UnsafeTree, argv: Sequence[str], env: dict[str, str], stdin: bytes, limits: Limits
    ) -> ExecResult:
        """One program. Its group goes on living where it left something running: the caller ends it."""
        default = Limits()
        asked = sorted(name for name in unheld() if getattr(limits, name) != getattr(default, name))
        if asked:
            raise InputError(
                "cannot be held on this platform by the unsafe back end", field=asked[0], remedy="leave it out"
            )
        base = {name: os.environ[name] for name in _KEPT if name in os.environ}
        base |= {"HOME": tree.folder, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        if self._packages or self._overlays:
            base["PYTHONPATH"] = self.path()
        if self._overlays:
            base["PATH"] = os.pathsep.join([*(f"{one}/bin" for one in self._overlays), base.get("PATH", os.defpath)])
        bare = Bare(self._python, tree.folder, limits)
        with self._turn:
            with self._lock:
                self.refuse_closed()
                self._running.add(bare)
            try:
                return bare.go(
                    argv,
                    {**base, **env},
                    tree.workspace,
                    stdin,
                    lambda group: self.base.started(str(group), group, [], {}),
                )
            finally:
                if bare.left:
                    tree.groups.append(bare)
                elif bare.group:
                    self.base.ended(str(bare.group))
                with self._lock:
                    self._running.discard(bare)

    def _mine(self) -> None:
        with self._lock:
            self.refuse_closed()
            if self._pid != os.getpid():
                self._begin()

    def refuse_closed(self) -> None:
        if self.closed:
            raise UnavailableError("the sandbox is closed")

    def close(self) -> None:
        """End what runs and remove the folders. Idempotent."""
        with self._lock:
            self.closed = True
            if self._pid != os.getpid():
                return
            for bare in self._running:
                bare.kill()
                bare.end()
        self.base.close()


_ALL: weakref.WeakSet[Unsafe] = weakref.WeakSet()


def _after_fork() -> None:
    for backend in list(_ALL):
        backend.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class UnsafeTree:
    """See :class:`~lydite.sandbox.result.Tree`."""

    def __init__(self, backend: Unsafe, files: dict[str, bytes], limits: Limits) -> None:
        self._backend, self._limits = backend, limits
        self._frozen = self._closed = False
        self._pid = os.getpid()
        self.groups: list[Bare] = []
        self.folder = tempfile.mkdtemp(dir=backend.base.folder)
        self.workspace = os.path.join(self.folder, "workspace")
        os.mkdir(self.workspace)
        for path, data in files.items():
            self.write(path, data, 0o755 if data[:2] == b"#!" else 0o644)

    def exec(self, argv: Sequence[str], *, stdin: bytes, env: dict[str, str], limits: Limits) -> ExecResult:
        self._refuse()
        if self._frozen:
            raise UnavailableError("the workspace is frozen")
        return self._backend.launch(self, argv, env, stdin, limits)

    def read(self, path: str, limit: int) -> bytes:
        with open(self._place(path), "rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise OSError(errno.EFBIG, f"is longer than {limit} bytes", path)
        return data

    def write(self, path: str, data: bytes, mode: int) -> None:
        place = self._place(path, last=True)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        fd, new = tempfile.mkstemp(dir=os.path.dirname(place))
        try:
            with open(fd, "wb") as file:
                file.write(data)
            os.chmod(new, mode)
            os.replace(new, place)  # whatever had the name, a link too, is replaced and not written through
        except BaseException:
            os.unlink(new)
            raise

    def remove(self, path: str) -> None:
        place = self._place(path, last=True)
        if os.path.isdir(place) and not os.path.islink(place):
            for folder, folders, _ in os.walk(place):
                for name in folders:
                    _open_up(os.path.join(folder, name))
            shutil.rmtree(place)
        else:
            os.unlink(place)

    def list(self, path: str) -> list[str]:
        place = self._place(path) if path else self.workspace
        with os.scandir(place) as found:
            return sorted(entry.name + "/" * entry.is_dir(follow_symlinks=False) for entry in found)

    def _place(self, path: str, last: bool = False) -> str:
        """The path on this machine. No component is a link (``last``: the last one may be)."""
        self._refuse()
        place = self.workspace
        parts = check_path(path).split("/")
        for number, part in enumerate(parts, 1):
            place = os.path.join(place, part)
            if os.path.islink(place) and not (last and number == len(parts)):
                raise OSError(errno.ELOOP, "is a symbolic link", path)
            _open_up(place)
        return place

    def freeze(self) -> None:
        """End the process groups of all commands. No command comes after this."""
        self._refuse()
        self._end()
        self._frozen = True

    def unpack(self, data: bytes) -> None:
        for entry in parse(data)[0]:
            place = self._place(entry.path, last=True)
            if entry.kind is Kind.FOLDER:
                os.makedirs(place, exist_ok=True)
            elif entry.kind is Kind.LINK:
                os.makedirs(os.path.dirname(place), exist_ok=True)
                os.symlink(entry.data, os.fsencode(place))
            else:
                self.write(entry.path, entry.data, 0o755 if entry.kind is Kind.PROGRAM else 0o644)

    def pack(self) -> bytes:
        self._refuse()
        entries, skipped, size = [], 0, 0
        for folder, folders, names in os.walk(self.workspace):
            for name in (*folders, *names):
                place = os.path.join(folder, name)
                path = os.path.relpath(place, self.workspace).replace(os.sep, "/")
                try:
                    if os.path.islink(place):
                        entry = Entry(path, Kind.LINK, os.fsencode(os.readlink(place)))
                    elif os.path.isdir(place):
                        entry = Entry(path, Kind.FOLDER)
                    elif os.path.isfile(place):
                        with open(place, "rb") as file:
                            data = file.read()
                        entry = Entry(path, Kind.PROGRAM if os.stat(place).st_mode & 0o100 else Kind.FILE, data)
                    else:
                        raise OSError(errno.EINVAL, "is no file")
                except OSError:
                    skipped += 1
                    continue
                size += len(entry.data)
                if size > 2 * self._limits.disk_mb * MIB:
                    raise OSError(errno.EFBIG, "the workspace is too large")
                entries.append(entry)
        return encode(entries, skipped)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            if self._pid == os.getpid():
                self._end()
                warden.remove(self.folder)

    def _end(self) -> None:
        for bare in self.groups:
            if bare.left:
                bare.end()
            self._backend.base.ended(str(bare.group))
        self.groups.clear()

    def _refuse(self) -> None:
        if self._closed or self._backend.closed:
            raise UnavailableError("the session is closed")
        if self._pid != os.getpid():
            raise UnavailableError("the session belongs to the process that this one was forked from")


def _open_up(folder: str) -> None:
    """Take back the right to use a folder, where a program took it from itself."""
    if os.path.isdir(folder) and not os.path.islink(folder) and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        os.chmod(folder, 0o700)
