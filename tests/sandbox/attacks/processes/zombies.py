"""Leave dead children that nobody waited for, stopped ones and sleeping ones.

Shows: a process stays behind.
"""

import os
import signal
from contextlib import suppress

with suppress(OSError):
    for number in range(30):
        child = os.fork()
        if child == 0:
            if number % 3:
                os.execv("/bin/sleep", ["sleep", "60"])
            os._exit(0)
        if number % 3 == 1:
            os.kill(child, signal.SIGSTOP)
print("done")
