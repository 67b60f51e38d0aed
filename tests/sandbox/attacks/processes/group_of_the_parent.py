"""Move between process groups and sessions, to escape a kill by group or to hide behind the parent's.

Shows: a process goes on running.
"""

import os
import time
from contextlib import suppress

for _ in range(6):
    if os.fork() == 0:
        with suppress(OSError):
            os.setpgid(0, 0)
        with suppress(OSError):
            os.setpgid(0, os.getppid())
        with suppress(OSError):
            os.setsid()
        time.sleep(60)
        os._exit(0)
time.sleep(0.1)
print("done", flush=True)
os._exit(0)
