"""Change what a later job inherits from the worker: priority, processors, limits, mask, folder, signals.

Shows: honest jobs go wrong.
"""

import os
import resource
import signal
from contextlib import suppress

os.umask(0o777)
os.nice(10)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
for target in {0, os.getppid()}:
    with suppress(OSError):
        os.sched_setaffinity(target, {0})
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, target, 19)
    for name in ("NOFILE", "NPROC", "AS", "STACK", "FSIZE", "DATA"):
        with suppress(OSError, ValueError):
            resource.prlimit(target, getattr(resource, f"RLIMIT_{name}"), (1 << 16, 1 << 16))
