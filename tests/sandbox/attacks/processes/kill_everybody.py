"""Kill all that can be killed: the parent, process 1, our group, everybody.

Shows: a result that is not the program's fault, an exception of the harness, or honest jobs that go wrong.
Beside: another job.
"""

import os
import signal
from contextlib import suppress

from kit import host_root, pwned

if host_root():
    pwned("this is the root of the machine")
else:
    for target in (os.getppid(), 1, -1):
        with suppress(OSError):
            if target:
                os.kill(target, signal.SIGKILL)
    print("still here", flush=True)
    os.kill(0, signal.SIGKILL)  # our process group, which a pid namespace does not end
