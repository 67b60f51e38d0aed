"""The messages that cross the boundary, as both sides read them.

Requests come from the supervisor, which is trusted, and are decoded by the process that will run the job (never by the
zygote, whose memory every later job would inherit). Replies are fixed structs and descriptors: the supervisor never
decodes anything that a job could have shaped.
"""

from __future__ import annotations

import marshal
import os
import socket
import struct
from typing import Any, NamedTuple

INLINE = 60_000  # bytes of a request that travel in the datagram itself; more goes through a sealed memory file
F_ADD_SEALS, SEALED = 1033, 0xF  # linux/fcntl.h: no more seals, no shrinking, growing, writing

CODE, ARGV, BATCH = 1, 2, 3

# Why a job was stopped, as its zygote saw it.
NOT_STOPPED, WALL, CPU, MEMORY, DISK, ASKED = 0, 1, 2, 3, 4, 5

# The fixed part of a request, see Head.
HEAD = struct.Struct("<Bddqqqqqqqq")

# From the job's process to its zygote, just before the program starts: seconds of wall clock and of processor time,
# bytes of memory, processes, monotonic nanoseconds now. A note of another size is the text of what went wrong in the
# set-up.
NOTE = struct.Struct("<ddqqq")

# From the zygote to the supervisor: did the program start, wait status, why it was stopped, processes killed by the
# kernel for memory, forks denied, tree full, seconds of wall clock, seconds of processor time.
REPLY = struct.Struct("<BiBiiBdd")

BYTES, FILES = 1, 2  # what a tree that is full has no more of

# One run of a batch, in the file of results: wait status, why stopped, memory kills, forks denied, tree full, seconds
# of wall clock, of processor time, bytes of output and of error output that follow.
RUN = struct.Struct("<iBiiBddqq")

# The outcome of a file operation of a session: errno, 0 or NO_PATH, bytes that follow (in the message or in a memory
# file).
FILE = struct.Struct("<iq")
NO_PATH = -1  # the path is none that a workspace could have

STOP = b"\x00stop"


def sealed(data: bytes, name: str = "lydite") -> int:
    """A memory file with this content that nobody can change, at offset 0."""
    import fcntl

    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.lseek(fd, 0, 0)
        fcntl.fcntl(fd, F_ADD_SEALS, SEALED)
    except BaseException:
        os.close(fd)
        raise
    return fd


class Head(NamedTuple):
    """The fixed part of a request: what its process needs before it looks at the rest."""

    kind: int
    timeout: float  # seconds of wall clock, of one run
    cpu: float  # seconds of processor time, of one run
    memory: int  # bytes
    processes: int
    descriptors: int
    file_bytes: int
    output_bytes: int  # of each stream of one run of a batch; the rest is not passed on
    runs: int
    stdin_bytes: int
    has_files: int


class Request(NamedTuple):
    """A job as its process reads it. ``sizes``: of the inputs of a batch, which come in a file of their own."""

    head: Head
    stdin: bytes
    files: dict[str, bytes]
    env: dict[str, str]
    program: Any  # source text, or the words of a command
    sizes: tuple[int, ...] = ()


def send(sock: socket.socket, request: Request, fds: tuple[int, ...] = (), prefix: bytes = b"") -> None:
    """Send a request, with descriptors. ``prefix`` comes before it, for whoever passes it on.

    Raises:
        OSError: the other side is gone.
    """
    head = HEAD.pack(*request.head)
    rest = marshal.dumps((request.files, request.env, request.program, request.sizes), 2)
    _send(sock, prefix, head, (request.stdin, rest), fds)


def send_plain(sock: socket.socket, value: Any, prefix: bytes = b"") -> None:
    """Send a value that is no job."""
    _send(sock, prefix, b"", (marshal.dumps(value, 2),), ())


def _send(sock: socket.socket, prefix: bytes, head: bytes, body: tuple[bytes, ...], fds: tuple[int, ...]) -> None:
    if sum(map(len, body)) <= INLINE:
        message = b"".join((prefix, b"\x01", head, *body))
        if fds:
            socket.send_fds(sock, [message], fds)
        else:
            sock.send(message)
        return
    blob = sealed(b"".join(body))
    try:
        socket.send_fds(sock, [prefix, b"\x02", head], (blob, *fds))
    finally:
        os.close(blob)


def receive(message: bytes, fds: list[int]) -> Request:
    """The request in a message. Descriptors that belong to the job remain in ``fds``."""
    head = Head(*HEAD.unpack_from(message, 1))
    body = _body(message, fds, 1 + HEAD.size)
    return decode(head, body)


def decode(head: Head, body: bytes | memoryview) -> Request:
    """A request from its two parts."""
    stdin = bytes(body[: head.stdin_bytes])
    # From the supervisor, which made it; nothing that a model wrote is ever parsed by this.
    files, env, program, sizes = marshal.loads(body[head.stdin_bytes :])  # noqa: S302
    return Request(head, stdin, files, env, program, sizes)


def receive_plain(message: bytes, fds: list[int]) -> Any:
    """What :func:`send_plain` sent."""
    return marshal.loads(_body(message, fds, 1))  # noqa: S302


def _body(message: bytes, fds: list[int], start: int) -> bytes:
    if message[:1] == b"\x01":
        return message[start:]
    blob = fds.pop(0)
    try:
        return read_all(blob)
    finally:
        os.close(blob)


def read_all(fd: int, limit: int | None = None) -> bytes:
    """The content of a memory file from its start, up to ``limit`` bytes."""
    size = os.fstat(fd).st_size
    if limit is not None:
        size = min(size, limit)
    parts, offset = [], 0
    while offset < size:
        part = os.pread(fd, min(size - offset, 1 << 24), offset)
        if not part:
            break
        parts.append(part)
        offset += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def output_file(name: str) -> int:
    """A memory file for a program's output. Appending: a second descriptor of it cannot overwrite what is there."""
    import fcntl

    fd = os.memfd_create(name, os.MFD_CLOEXEC)
    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_APPEND)
    return fd
