"""Processes of ours that end when whoever started them is gone."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import threading


def end_with_caller(pipe: int = 0) -> None:
    """End this process as soon as nobody can write to a pipe of its any more, whatever it is doing then.

    Reading the pipe tells the same, but only between two pieces of work. The caller may be killed: no code of its runs
    then, and the kernel closes its pipes. (``PR_SET_PDEATHSIG`` watches the thread that started us, not the process.)
    """

    def watch() -> None:
        poll = select.poll()
        poll.register(pipe, 0)  # asks for nothing: an end is told all the same
        poll.poll()
        os._exit(0)

    threading.Thread(target=watch, name="lydite-caller", daemon=True).start()


def end_with_silent_pipe(pipe: int) -> None:
    """As ``end_with_caller``, for a pipe on which nothing is written any more, and by the kernel alone: also where the
    interpreter's lock is held by a library that does not come back. To be called in the main thread."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)  # which ends the process
    with contextlib.suppress(OSError):
        fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    poll = select.poll()
    poll.register(pipe, 0)
    if poll.poll(0):  # gone already
        os._exit(0)
