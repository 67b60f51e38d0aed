"""Write to standard output from twenty processes, also after the first one has ended.

Shows: more output than its cap, or the harness's memory grows with it, or a process goes on running.
"""

import os
import signal
import time
from contextlib import suppress

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for _ in range(20):
    with suppress(OSError):
        if os.fork() == 0:
            while True:
                try:
                    os.write(1, b"x" * (1 << 16))
                except OSError:
                    time.sleep(0.001)
time.sleep(0.2)
os._exit(0)
