"""A box that stands: the tool's process, process 1 inside (:mod:`.inner`) and our socket to it.

Covered: whatever the tool does, the box is ready or :class:`NotReadyError` says why with the tool's own words; when our
end of the socket closes, by :meth:`Live.close` or because we died, everything in the box ends. Not covered: a tool that
the kernel cannot kill.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator

from lydite.sandbox.external import warden
from lydite.sandbox.external.box import INIT, LINK, Box, Command
from lydite.sandbox.external.folders import Folders
from lydite.sandbox.result import Limits

GRACE_S = 10.0  # for a tool to end after its box has
_CREDENTIALS = struct.Struct("3i")


class NotReadyError(Exception):
    """The box did not come to stand, or was lost before a program was in it: nothing that a program did."""


class Live:
    """One box. :meth:`kill` may come from any thread."""

    def __init__(self, command: Command, box: Box, folders: Folders) -> None:
        self.command, self.box = command, box
        self._folders = folders
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd = -1  # of process 1 of the box
        self._closed = False
        self.busy = threading.Lock()  # held while a program runs, so that nobody closes the box under it
        self.killed = False
        self.tool = -1
        self.pid = 0
        self.link: socket.socket | None = None

    def start(self, stdio: tuple[int, ...] = ()) -> None:
        """Make the box and meet its process 1.

        Args: stdio: the program's own descriptors, for a tool through which no others can be passed.

        Raises:
            NotReadyError: with the tool's words.
        """
        if self.killed:
            raise NotReadyError("stopped before it began")
        place = self.box.place
        log = os.open(place.under("log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            with _listening(place.under("control")) as listener:
                self._spawn(stdio or (subprocess.DEVNULL, log, log))
                self._meet(listener)
        finally:
            os.close(log)

    def _spawn(self, stdio: tuple[int, ...]) -> None:
        """Without a preexec_fn and without a change of user, subprocess uses vfork: our memory is never copied."""
        self._tell(0)  # whoever kills us in between: it is undone
        try:
            process = subprocess.Popen(  # noqa: S603
                self.command.argv,
                stdin=stdio[0],
                stdout=stdio[1],
                stderr=stdio[2],
                env=self.command.env,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            self._folders.ended(self.box.place.key)
            raise NotReadyError(f"{self.command.argv[0]} does not start: {error}") from None
        self.tool = os.pidfd_open(process.pid)
        self._tell(process.pid)
        with self._lock:
            self._process = process
        if self.killed:
            self.kill()

    def _tell(self, group: int) -> None:
        self._folders.started(self.box.place.key, group, self.command.undo, self.command.env)

    def _meet(self, listener: socket.socket) -> None:
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        poll.register(self.tool, select.POLLIN)
        if listener.fileno() not in dict(poll.poll(int(self.command.setup_s * 1000))):
            raise NotReadyError(self._why("the tool ended" if self.ended else "the box did not stand in time"))
        link, _ = listener.accept()
        link.settimeout(GRACE_S)
        pid = _CREDENTIALS.unpack(link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))[0]
        with self._lock:
            self.link, self.pid = link, pid
            if pid and self.command.inside:
                with contextlib.suppress(OSError):
                    self._pidfd = os.pidfd_open(pid)
        if self.killed:
            self.kill()
        with contextlib.suppress(OSError):
            link.sendall(INIT)
            if link.recv(64) == b'{"ready": true}\n':
                return
        raise NotReadyError(self._why("the box ended"))

    def _why(self, what: str) -> str:
        words = ""
        with contextlib.suppress(OSError), open(self.box.place.under("log"), "rb") as file:
            words = file.read().decode(errors="replace").strip()[-1500:]
        return f"{what}: {words}" if words else f"{what} without a word"

    @property
    def ended(self) -> bool:
        """The tool's process has ended."""
        poll = select.poll()
        poll.register(self.tool, select.POLLIN)
        return bool(poll.poll(0))

    @property
    def idle(self) -> bool:
        """The box stands, and nothing has come from it."""
        if self.link is None or self.killed or self._closed:
            return False
        poll = select.poll()
        poll.register(self.link, select.POLLIN)
        return not poll.poll(0) and not self.ended

    def holds(self, limits: Limits) -> bool:
        """The box was made for at least these."""
        made = self.box.limits
        return limits.memory_mb <= made.memory_mb and limits.processes <= made.processes

    @property
    def root(self) -> int:
        """The process below which everything counts: process 1 of the box, or the tool."""
        assert self._process is not None
        return self.pid if self.command.inside and self.pid else self._process.pid

    def kill(self, hard: bool = False) -> None:
        """End everything in the box. Its tool then clears up and ends by itself; ``hard`` does not wait for that."""
        with self._lock:
            self.killed = True
            if self._pidfd >= 0 and not hard:
                with contextlib.suppress(OSError):
                    signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
                    return
            if self._process is not None and self._process.returncode is None:
                with contextlib.suppress(OSError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def forget(self) -> None:
        """In a fork: the box is the parent's, and must notice the parent's end."""
        self._closed = True
        if self.link is not None:
            self.link.close()
        for fd in (self.tool, self._pidfd):
            if fd >= 0:
                os.close(fd)
        if self._process is not None:
            self._process.returncode = 0  # no child of ours

    def close(self) -> None:
        """End the box and wait until nothing of it is left. Idempotent."""
        if self._closed:
            return
        self._closed = True
        if self.link is not None:
            self.link.close()
        if self._process is not None:
            clean = self.link is not None and (self.command.inside or not self.killed)
            try:
                self._process.wait(GRACE_S if clean else 0.0)
            except subprocess.TimeoutExpired:
                clean = False
            if not clean:
                self.kill(hard=True)
                warden.finish(warden.end(0, self.command.undo, self.command.env))
                self._process.wait()
            for folder in self.command.litter:
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            self._folders.ended(self.box.place.key)
            os.close(self.tool)
        with self._lock:
            if self._pidfd >= 0:
                os.close(self._pidfd)
                self._pidfd = -1


@contextlib.contextmanager
def _listening(folder: str) -> Iterator[socket.socket]:
    """A socket in this folder that others can find for as long as this lasts, however long the folder's own path is."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(f"/proc/self/fd/{held}/{LINK}")
        os.chmod(LINK, 0o666, dir_fd=held)  # noqa: S103  (its folder is closed to others)
        listener.listen(1)
        yield listener
    finally:
        listener.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(LINK, dir_fd=held)
        os.close(held)
