"""Crash with core dumps switched on.

Shows: PWNED on stdout, or a core file in the grader's folder.
"""

import glob
import os
import resource
import signal
from contextlib import suppress

with suppress(ValueError, OSError):
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
child = os.fork()
if child == 0:
    with suppress(OSError):
        os.chdir("@VICTIM@/grader")
    os.kill(os.getpid(), signal.SIGSEGV)
_, status = os.waitpid(child, 0)
if os.WCOREDUMP(status) or glob.glob("core*"):
    print("PWNED", os.WCOREDUMP(status), glob.glob("core*"))
