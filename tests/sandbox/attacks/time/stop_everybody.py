"""Stop every process that can be reached: the parent, the group, all.

Shows: the job returns late, or a process outside is stopped, or honest jobs do not come back.
Lasts: to the time limit.
"""

import os
import signal
import time
from contextlib import suppress

from kit import host_root, pwned

if host_root():
    pwned("this is the root of the machine")
else:
    for target in (os.getppid(), -1, 1, 0):  # 0: our process group, which a pid namespace does not end
        with suppress(OSError):
            os.kill(target, signal.SIGSTOP)
    time.sleep(60)
