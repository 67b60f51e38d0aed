"""Many inputs of one program: compiled once, forked per input, inside of one job.

The process that forks is the job's own first process. It is not dumpable, and every run has a pid namespace of its own
below its namespace, so that a run can neither read it nor name it. (Without namespaces, Landlock and the filter keep
signals and limits from it.) Runs share neither processes nor memory nor output; where one leaves files, the inputs
after it come again as another batch, and so find fresh folders.
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

MANY_BYTES = 16 << 20  # of results


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
        world.begin()
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
        world.kill(pid)
        _, status, usage = os.wait4(pid, 0)
        world.end(pid)
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
        # The rest come again, as another batch: they find the folders as this one did, and memory that is not filled
        # with the output of others.
        if not world.untouched() or os.lseek(pipes.out, 0, os.SEEK_CUR) > MANY_BYTES:
            break


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
