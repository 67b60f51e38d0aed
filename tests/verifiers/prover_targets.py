"""Stand-ins for the process that confirms, which the tests of ``lydite.verifiers.math.confirm`` start."""

from __future__ import annotations

import os
import signal


def die(data: bytes) -> bytes:
    """End without a reply, as when the machine runs out of memory."""
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def spin(data: bytes) -> bytes:
    """Never come to an end."""
    while True:
        pass


def fill(data: bytes) -> bytes:
    """Take all memory."""
    return bytes(len(bytearray(8 << 30)) % 2)


def fail(data: bytes) -> bytes:
    """A fault of our own."""
    raise KeyError("no such function")


def differ(data: bytes) -> bytes:
    """Contradict the sample points."""
    return b"different"
