"""The standard streams of a program: its input as a sealed file, its outputs as pipes that are read up to the limit."""

from __future__ import annotations

import os

from lydite.sandbox.jail import wire

_CHUNK = 1 << 16


class Stdio:
    """Three descriptors to hand to a program, and what it wrote. One thread; reading never blocks.

    Args:
        stdin: all of its input. cap: bytes of each output; one byte more is kept, to tell that there was more.
    """

    def __init__(self, stdin: bytes, cap: int) -> None:
        self._cap = cap
        self._out, out = os.pipe()
        self._err, err = os.pipe()
        self._theirs: tuple[int, ...] = (wire.sealed(stdin, "stdin"), out, err)
        self._data = {self._out: bytearray(), self._err: bytearray()}
        self._open = set(self._data)
        for fd in self._data:
            os.set_blocking(fd, False)

    @property
    def theirs(self) -> tuple[int, ...]:
        """Input, output, error output."""
        return self._theirs

    @property
    def open(self) -> frozenset[int]:
        """Our ends that have not come to their end."""
        return frozenset(self._open)

    def given(self) -> None:
        """The program has its descriptors: close ours of the same."""
        for fd in self._theirs:
            os.close(fd)
        self._theirs = ()

    def read(self, fd: int) -> bool:
        """Take what is there. False: more was written than is allowed."""
        data = self._data[fd]
        while True:
            try:
                part = os.read(fd, _CHUNK)
            except BlockingIOError:
                return True
            if not part:
                self._open.discard(fd)
                return True
            data += part
            if len(data) > self._cap:
                del data[self._cap + 1 :]
                self._open.discard(fd)
                return False

    def taken(self) -> tuple[bytes, bytes]:
        """Output and error output, with what is still in the pipes. Then everything is closed."""
        for fd in self.open:
            self.read(fd)
        out, err = bytes(self._data[self._out]), bytes(self._data[self._err])
        self.close()
        return out, err

    def close(self) -> None:
        """Idempotent."""
        self.given()
        for fd in self._data:
            os.close(fd)
        self._data, self._open = {}, set()
