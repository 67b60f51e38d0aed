"""Keep every processor busy with forty processes, in sessions of their own where that is possible.

Shows: a process goes on running, or honest jobs suffer.
Lasts: to the time limit.
"""

import os
from contextlib import suppress

for _ in range(40):
    with suppress(OSError):
        if os.fork() == 0:
            with suppress(OSError):
                os.setsid()
            while True:
                pass
while True:
    pass
