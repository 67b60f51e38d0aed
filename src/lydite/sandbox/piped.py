"""Commands, whose output goes through pipes: ``echo x > /dev/stderr`` would empty a file."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import time
from collections.abc import Callable

from lydite.sandbox.jail import wire

CHUNK = 1 << 16
Send = Callable[[wire.Request, tuple[int, ...], float], socket.socket]


class Output:
    """Collects a program's two streams while it runs. What lies beyond the cap is read no more."""

    def __init__(self, cap: int, uid: int) -> None:
        self.cap = cap
        self.data = {"out": bytearray(), "err": bytearray()}
        self._ends: dict[int, str] = {}
        self.write_ends: list[int] = []
        for name in ("out", "err"):
            read_end, write_end = os.pipe()
            os.set_blocking(read_end, False)
            if os.getuid() == 0:
                os.fchown(write_end, uid, uid)  # so that the program may open /dev/stdout
            self._ends[read_end] = name
            self.write_ends.append(write_end)

    def give(self) -> None:
        """Close our copies of the writing ends, which the program now has."""
        for fd in self.write_ends:
            os.close(fd)
        self.write_ends = []

    @property
    def full(self) -> bool:
        return any(len(data) > self.cap for data in self.data.values())

    def register(self, poll: select.poll) -> None:
        for fd in self._ends:
            poll.register(fd, select.POLLIN)

    def read(self, fd: int, poll: select.poll | None = None) -> bool:
        """Take what is there. False when there was nothing (more) to take."""
        try:
            part = os.read(fd, CHUNK)
        except BlockingIOError:
            return False
        if not part:
            if poll is not None:
                poll.unregister(fd)
            return False
        data = self.data[self._ends[fd]]
        data += part[: self.cap + 1 - len(data)]
        return True

    def drain(self) -> None:
        """Take what the program had written when it ended."""
        for fd in self._ends:
            while not self.full and self.read(fd):
                pass

    def close(self) -> None:
        self.give()
        for fd in self._ends:
            os.close(fd)
        self._ends = {}


def exchange(
    send: Send, uid: Callable[[], int], message: wire.Request, stdin: bytes, cap: int, patience: float
) -> tuple[bytes, list[int], bytes, bytes]:
    """Send a command and collect its output until its zygote says that it has ended.

    Returns: the reply with its descriptors, standard output, standard error; each up to one byte beyond ``cap``.

    Raises:
        OSError: the zygote is gone or does not answer.
    """
    output = Output(cap, uid())
    try:
        source = wire.sealed(stdin, "stdin") if stdin else os.open(os.devnull, os.O_RDONLY)
        try:
            sock = send(message, (source, *output.write_ends), patience)
        finally:
            os.close(source)
        output.give()
        end = time.monotonic() + patience
        poll = select.poll()
        output.register(poll)
        poll.register(sock, select.POLLIN)
        stopping = False
        while True:
            events = poll.poll(max(1, int(1000 * (end - time.monotonic()))))
            if not events:
                raise OSError("no answer")
            for fd, _ in events:
                if fd == sock.fileno():
                    reply, fds, _, _ = socket.recv_fds(sock, 8192, 4)
                    if not reply:
                        raise OSError("the zygote is gone")
                    output.drain()
                    return reply, fds, bytes(output.data["out"]), bytes(output.data["err"])
                output.read(fd, poll)
            if output.full and not stopping:
                stopping = True
                for fd in list(output._ends):
                    with contextlib.suppress(KeyError):
                        poll.unregister(fd)
                sock.send(wire.STOP)
    finally:
        output.close()
