"""Slow the jobs of other workers: wake-ups, system calls and page faults as fast as sixteen processes can.

Shows: honest jobs beside this one go wrong.
Lasts: to the time limit.
Beside: another job.
"""

import mmap
import os
from contextlib import suppress

for _ in range(16):
    with suppress(OSError):
        if os.fork() == 0:
            while True:
                with mmap.mmap(-1, 1 << 20) as area:
                    area[::4096] = b"x" * 256
                os.sched_yield()
while True:
    os.sched_yield()
