"""The process that probes one task for the service: a task on a line of standard input, numbers of steps, then the
card on lines of standard output. It ends when the service does."""

from __future__ import annotations

import os
import sys
import threading
import time

import msgspec

from lydite.codec import canonical
from lydite.probes.card import Tally
from lydite.probes.run import probe
from lydite.task import Task
from lydite.verifiers.caller import end_with_caller, end_with_silent_pipe

EVERY = 0.2
"""Seconds between two numbers."""


def main() -> None:
    """Probe the task that is given."""
    line = sys.stdin.buffer.readline()
    end_with_caller()
    end_with_silent_pipe(0)
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a verifier prints is no answer of ours
    task = msgspec.json.decode(line, type=Task)
    tally, steps, due = Tally([task]), 0, 0.0

    def stopped() -> bool:
        nonlocal steps, due
        if threading.current_thread() is threading.main_thread():
            return False  # which only asks whether to wait on
        steps += 1
        if time.monotonic() >= due:
            due = time.monotonic() + EVERY
            sink.write(b"%d\n" % steps)
            sink.flush()
        return False

    for done in probe([task], stopped=stopped):
        tally.add(done)
    sink.write(canonical(tally.card()) + b"\n")
    sink.flush()


if __name__ == "__main__":
    main()
