"""Double at every step, all generations alive: no parent knows how many there are.

Shows: PWNED on stdout, or a process goes on running.
"""

import mmap
import os
import time
from contextlib import suppress

from kit import pwned

alive = mmap.mmap(-1, 4096)
for depth in range(8):
    with suppress(OSError):
        if os.fork() == 0:
            alive[os.getpid() % 4096] = 1
        elif depth == 7:
            time.sleep(0.1)
time.sleep(0.4)
if sum(alive[:]) > 100:
    pwned(sum(alive[:]))
    os._exit(0)
time.sleep(0.2)
