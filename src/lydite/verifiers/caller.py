"""Processes of ours that end when whoever started them is gone."""

from __future__ import annotations

import os
import select
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
