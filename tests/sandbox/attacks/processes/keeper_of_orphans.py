"""Collect orphans ourselves (PR_SET_CHILD_SUBREAPER) in a process that ignores everything.

Shows: a process goes on running.
"""

import os
import signal
import time
from contextlib import suppress

from kit import libc

if os.fork() == 0:
    with suppress(OSError):
        os.setsid()
    libc.prctl(36, 1, 0, 0, 0)
    libc.prctl(1, 0, 0, 0, 0)  # no signal when the parent dies
    for number in range(1, 32):
        with suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    for _ in range(5):
        if os.fork() == 0:
            if os.fork() == 0:
                time.sleep(60)
            os._exit(0)
    time.sleep(60)
time.sleep(0.1)
print("done", flush=True)
os._exit(0)
