"""Leave locks on files that every job can open, held by a process that wants to live on.

Shows: PWNED on stdout, where a later job finds them locked.
Again: what was left is found.
"""

import fcntl
import os
import sys
import time
from contextlib import suppress

paths = [os.__file__, os.path.realpath(sys.executable), "/", "/tmp", "/usr", "/dev/null", "/etc/passwd"]
held = []
for path in paths:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("PWNED", path, flush=True)
        held.append(descriptor)
if os.fork() == 0:
    with suppress(OSError):
        os.setsid()
    time.sleep(60)
os._exit(0)
