"""Run away from those who kill by number: a process that forks and ends as fast as it can, always under a new number.

Shows: a process goes on running.
"""

import os
import time
from contextlib import suppress

for _ in range(3):
    if os.fork() == 0:
        with suppress(OSError):
            os.setsid()
        end = time.monotonic() + 20
        while time.monotonic() < end:
            with suppress(OSError):
                if os.fork():
                    os._exit(0)
time.sleep(0.1)
os._exit(0)
