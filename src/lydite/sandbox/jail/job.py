"""What happens in the process of a job: the trusted steps before the program, and the program.

The process is forked before the job exists and receives it itself, so that the zygote (whose memory every later job
inherits) never holds a program or an input. Before the first untrusted byte is looked at: Landlock, limits, files, no
descriptor but the three standard ones, no capabilities. The note to the zygote right before it says that the set-up
succeeded; from there on everything that happens is the program's doing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import socket
import time
from typing import Any, NoReturn

from . import kernel, program, wire
from .confined import LandlockOnly
from .world import OWN, Namespaces

World = Namespaces | LandlockOnly


class Pipes:
    """The descriptors between a zygote and the job's process that it has forked ahead."""

    def __init__(self, requests: int, note: int, out: int, err: int) -> None:
        self.requests, self.note, self.out, self.err = requests, note, out, err


def fork() -> int:
    """fork(2) without Python's at-fork handlers, which cost 0.25 ms: there is one thread, and generators are reseeded
    in :func:`run`."""
    pid = kernel.libc.fork()
    if pid < 0:
        raise OSError(errno.EAGAIN, "no process can be started")
    return int(pid)


def limit(kind: int, value: int) -> None:
    """A limit for this process and its children, hard and soft; never above what is allowed already."""
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def limit_run(head: wire.Head) -> None:
    """The limits of one process. Processor time in whole seconds: SIGXCPU at the limit, SIGKILL a second later; the
    zygote counts the whole job exactly."""
    limit(resource.RLIMIT_FSIZE, head.file_bytes)
    limit(resource.RLIMIT_NOFILE, head.descriptors)
    whole = max(1, int(head.cpu + 0.999))
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))


def main(world: World, pipes: Pipes, group: Any, batch: Any) -> NoReturn:
    """The whole life of a job's process. Never returns."""
    received = False
    try:
        if world.plan["cgroup"]:
            # Before Landlock, which lets nobody write there, so that a job cannot take it back.
            kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # else our own proc is closed to us; nobody else is here yet
            with contextlib.suppress(OSError):  # without a proc: the kernel then picks the largest, which is the job
                fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
                os.write(fd, b"1000")
                os.close(fd)
            kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        world.confine()
        sock = socket.socket(fileno=pipes.requests)
        if not _pending(sock):
            world.plan["warm"]()  # idle anyway: touch the pages that a program is about to touch
        message, fds, _, _ = socket.recv_fds(sock, wire.INLINE + 4096, 8)
        sock.detach()  # its descriptor is closed below, and the program may get the same number again
        if len(message) <= wire.HEAD.size:
            os._exit(0)  # nobody asks any more, or a stop that came too late
        received = True
        request = wire.receive(message, fds)
        del message
        head = request.head
        if group is not None and head.memory != world.plan["memory"]:
            group.set_memory(head.memory + world.plan["overhead"])
        if head.kind != wire.BATCH:
            os.dup2(fds[0] if fds else stdin_file(request.stdin), 0)
            os.dup2(fds[1] if len(fds) > 1 else pipes.out, 1)
            os.dup2(fds[2] if len(fds) > 2 else pipes.err, 2)
        write_files(request.files)
        processes = head.processes + 2 * (head.kind == wire.BATCH)  # what forks the runs, and its pausing process
        if group is not None and processes != world.plan["processes"]:
            group.set_processes(processes + OWN)
        limit(resource.RLIMIT_NPROC, processes + world.extra_processes)
        if head.kind == wire.BATCH:
            world.strip_batch()
        else:
            world.strip()
            limit_run(head)
    except BaseException as error:
        if not received:
            os._exit(1)  # there is no request yet that could be answered
        fail(pipes.note, error)
    wall = 1.1 * head.timeout * head.runs if head.runs > 1 else head.timeout
    os.write(pipes.note, wire.NOTE.pack(wall, head.cpu * head.runs, head.memory, processes, time.monotonic_ns()))
    if head.kind == wire.BATCH:
        batch(world, pipes, request, fds[0])
        os._exit(0)
    kernel.close_from(3)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    program.start(head.kind, request.env, request.program)


def _pending(sock: socket.socket) -> bool:
    try:
        return bool(sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except BlockingIOError:
        return False


def stdin_file(data: bytes) -> int:
    """A program's standard input."""
    if not data:
        return os.open("/dev/null", os.O_RDONLY)
    fd = os.memfd_create("stdin", 0)
    os.write(fd, data)
    os.lseek(fd, 0, 0)
    return fd


def write_files(files: dict[str, bytes]) -> None:
    """The files of a job, in a tree that no program has touched yet. The supervisor has checked the paths."""
    for path, data in files.items():
        parent = os.path.dirname(path)
        if parent:
            os.makedirs(parent, exist_ok=True)
        fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o755 if data[:2] == b"#!" else 0o644)
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.close(fd)


def fail(note: int, error: BaseException) -> NoReturn:
    """The set-up failed: say so, and why, in place of the note."""
    code = error.errno if isinstance(error, OSError) else 0
    data = f"{code or 0} {type(error).__name__}: {error}".encode(errors="replace")[:400]
    os.write(note, data + b" " if len(data) == wire.NOTE.size else data)
    os._exit(1)
