"""Many inputs of one program: compiled once, forked per input, inside of one job.

The process that forks is the job's own first process, without capabilities and not dumpable, so that a run can neither
read it nor write into its results. A run that kills it harms only itself: the supervisor counts that run as killed and
submits the inputs after it again. Runs of one batch share the writable folders, since they are one program; they do
not share processes, memory or output.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import time
from types import CodeType
from typing import Any

from . import job, kernel, program, wire


def run_batch(world: job.World, pipes: job.Pipes, request: wire.Request, inputs: int, watch: Any) -> None:
    """Run every input; append one :data:`.wire.RUN` with its output per input to ``pipes.out``."""
    head = request.head
    os.environ.update(request.env)
    fcntl.fcntl(pipes.out, fcntl.F_SETFL, 0)  # sendfile refuses a file that only appends
    code = compiled(request.program)
    out, err = wire.output_file("stdout"), wire.output_file("stderr")
    offset = 0
    for size in request.sizes:
        stdin = _part(inputs, offset, size)
        offset += size
        start = time.monotonic()
        pid = job.fork()
        if pid == 0:
            for target, fd in enumerate((stdin, out, err)):
                os.dup2(fd, target)
            world.confine_run()
            kernel.close_from(3)
            job.limit_run(head)
            kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            program.run(request.program, code)
        os.close(stdin)
        pidfd = os.pidfd_open(pid)
        stopped, clock, before = watch.until_end(pid, pidfd, head.timeout, head.cpu, head.memory, start)
        watch.world.kill(pid)
        _, status, usage = os.wait4(pid, 0)
        watch.world.end(pid)
        os.close(pidfd)
        killed, denied = watch.counters()
        full = world.full() if status else 0
        sizes = [min(os.fstat(fd).st_size, head.output_bytes) for fd in (out, err)]
        record = wire.RUN.pack(
            status, stopped, killed, denied, full, clock(), watch.cpu_since(before, usage), sizes[0], sizes[1]
        )
        os.write(pipes.out, record)
        for fd, length in ((out, sizes[0]), (err, sizes[1])):
            sent = 0
            while sent < length and (part := os.sendfile(pipes.out, fd, sent, length - sent)):
                sent += part
            os.ftruncate(fd, 0)
        if not world.untouched():
            break  # the rest come again, as another batch, and find the folders as this one did


def _part(inputs: int, offset: int, size: int) -> int:
    """One input as a file of its own, copied by the kernel: every run has a copy of our memory, so it is not there."""
    fd = os.memfd_create("stdin", 0)
    while size and (sent := os.sendfile(fd, inputs, offset, size)):
        offset, size = offset + sent, size - sent
    os.lseek(fd, 0, 0)
    return fd


def compiled(source: str) -> CodeType | None:
    """The program's code; None where it does not compile: each run then tells so itself."""
    with contextlib.suppress(BaseException):
        return compile(source, program.NAME, "exec", dont_inherit=True)
    return None


class Inside:
    """How the process that forks the runs ends one: it cannot name its own pid namespace from outside."""

    def __init__(self, world: job.World) -> None:
        self._world = world

    def kill(self, pid: int) -> None:
        """Every other process of the job: kill(-1) spares the caller and pid 1, and no fork slips through it."""
        with contextlib.suppress(OSError):
            if self._world.group_only:
                os.killpg(pid, signal.SIGKILL)
            else:
                os.kill(-1, signal.SIGKILL)

    def end(self, pid: int) -> None:
        """Reap what came to us."""
        with contextlib.suppress(ChildProcessError):
            while True:
                self.kill(pid)
                os.waitpid(-1, 0)
